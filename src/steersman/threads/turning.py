"""The turns of an open thread, from the first word to the last."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from steersman.coordination.floor import BUSY, HEARING, Floor, FloorState, Move
from steersman.coordination.inputs import Inputs, new_input
from steersman.coordination.recovery import Resumption, closing
from steersman.intelligence.context import Context
from steersman.intelligence.loop import error_body
from steersman.records.dialogue import Image
from steersman.records.errors import (
    BudgetSpent,
    Halted,
    LeaseLost,
    NeedsAnswer,
    SteersmanError,
    StorageProblem,
    UsageProblem,
)
from steersman.records.inbox import (
    LATER,
    Cancel,
    Confirm,
    GoOn,
    Hasten,
    Outcome,
    Queue,
    Reply,
    Send,
    SteerTurn,
    Withdraw,
)
from steersman.records.message import (
    Meanwhile,
    Message,
    RequestResult,
    Summary,
    TurnEnd,
    TurnStart,
    User,
)
from steersman.records.problem import Problem
from steersman.store.cause import NO_CAUSE, Cause
from steersman.store.log import Draft, Lane, ThreadLog, read_messages, unbroken
from steersman.systems import Left
from steersman.threads import recalling
from steersman.threads.pictures import Pictures
from steersman.threads.planned import left_by
from steersman.threads.systems import Setup, ThreadSystems
from steersman.threads.thinking import Mind

if TYPE_CHECKING:
    from steersman.operations.mcp.gateway import Gateway
    from steersman.operations.running.processes import Running

ROOT = "steersman"
ENGINE = "native"
UNSENT = "The message was not sent."
T = TypeVar("T")


class Turning:
    """What runs in a thread, and what is said to it."""

    def __init__(self, log: ThreadLog, setup: Setup, mind: Mind | None) -> None:
        self.log = log
        self.setup = setup
        self.settings = setup.settings
        self.last_end: TurnEnd | None = None
        self.title = ""
        self._mind = mind
        self._floor = Floor()
        self._inputs = Inputs(self._newly_printed)
        self._turn = 0
        self._turn_began = 0
        self._seen = 0  # the last message up to which the model knows what people did
        self._running: asyncio.Task[None] | None = None
        self._closing = False
        self._ended_said = self._followed = False  # a turn's end is logged; words came after it
        self._lost: LeaseLost | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._submitted: set[asyncio.Task[None]] = set()  # what hooks look at before it counts
        self._in_order = asyncio.Lock()  # it counts in the order in which it was said
        self._watching = ExitStack()
        self._pictures = Pictures(log.store)
        self._context = Context(ROOT, self._pictures.whole)
        self._systems: ThreadSystems

    def _lane(self, *names: str, turn: int = 0) -> Lane:
        return Lane(self.log, "/".join((ROOT, *names)), turn)

    @property
    def model(self) -> str:
        """The model's name; empty where nothing thinks."""
        return self._mind.driver.model if self._mind else ""

    @property
    def state(self) -> FloorState:
        """What the thread is doing."""
        return self._floor.state

    @property
    def busy(self) -> bool:
        """Whether a turn runs."""
        return self.state in BUSY

    @property
    def quiet(self) -> bool:
        """Whether nothing happens: no turn, no call of a person, no undo."""
        return self.state in (FloorState.IDLE, FloorState.TORN) and not self._tasks

    @property
    def pending(self) -> int:
        """How many messages wait to be delivered."""
        return len(self._inputs.pending())

    @property
    def jobs(self) -> dict[str, str]:
        """The commands that run in the background, by their names."""
        return self._systems.processes.jobs()

    @property
    def terminals(self) -> "dict[str, Running]":
        """The programs that have a terminal, by their names."""
        return self._systems.processes.terminals()

    @property
    def servers(self) -> "Gateway | None":
        """The MCP servers of the thread, if there are any."""
        return self._systems.external.gateway

    # What is asked of it

    async def refuse(self, cause: Cause, problem: SteersmanError) -> None:
        """Say in the log why a request was not carried out."""
        receipt = cause.refused(self._lane("coordination"), problem)
        await self.log.append(*receipt, settled=cause.settled_refused(problem))

    async def _begun(self, work: Coroutine[Any, Any, Any], cause: Cause) -> Any:
        """Do something that takes long: now, or for a request beside what else is asked."""
        if cause.request is None:
            return await work
        self._alongside(self._reported(work, cause.request.id))
        return LATER

    async def _reported(self, work: Coroutine[Any, Any, Any], request: str) -> None:
        try:
            said = RequestResult(await work)
        except StorageProblem:
            return  # nothing can be said any more
        except SteersmanError as problem:
            said = RequestResult(problem=Problem.of(problem))
        with suppress(StorageProblem):
            await self._lane("coordination").append(said, corr=request)

    def _alongside(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def note(self, cause: Cause, outcome: Outcome) -> None:
        """Say in the log what became of a request that causes nothing else here."""
        receipt = cause.receipt(self._lane("coordination"), outcome)
        await self.log.append(*receipt, settled=cause.outcome(outcome))

    # Turns

    async def _send(self, asked: Send, cause: Cause = NO_CAUSE) -> Any:
        if self._mind is None:
            raise UsageProblem("This thread was opened without a model.")
        if asked.images:
            self._mind.check_sight()
        await self._ended()
        self._floor.move(Move.START)
        looked = self._submit(asked.text, self._turn + 1, new_input())
        return await self._beside(self._sent(asked, looked, cause), cause)

    async def _sent(self, asked: Send, looked: asyncio.Task[None] | None, cause: Cause) -> int:
        try:
            await self._passed(looked)
            briefing = self._systems.briefing
            attached = await briefing.attached(asked.text) if briefing else ()
            images = await self._kept(asked.images)
        except BaseException:
            self._floor.move(Move.FAIL)
            raise
        begun = await self._start(User(asked.text, attached=attached, images=images), cause)
        await self._kept(asked.images)  # in case it was pruned before the log named it
        return begun

    async def _kept(self, images: tuple[Image, ...]) -> tuple[Image, ...]:
        return await asyncio.to_thread(self._pictures.keep, images) if images else ()

    async def _steer(self, asked: SteerTurn | Queue, cause: Cause = NO_CAUSE) -> Any:
        corr = new_input()
        looked = self._submit(asked.text, self._turn, corr)
        return await self._beside(self._said(asked, corr, looked, cause), cause)

    async def _said(
        self, asked: SteerTurn | Queue, corr: str, looked: asyncio.Task[None] | None, cause: Cause
    ) -> str:
        await self._passed(looked)
        if isinstance(asked, Queue) or self.state not in HEARING:
            return await self._queued(corr, asked.text, cause)
        lane = self._lane("coordination", turn=self._turn)
        return await self._inputs.admit(asked.text, "steer", lane, cause, corr)

    def _submit(self, text: str, turn: int, corr: str) -> asyncio.Task[None] | None:
        """Let hooks look at what the user says, from now on: so a cancel finds them.

        What they change belongs to the turn that gets it, and is undone with it. Where that is not
        known yet, it is found by `corr`.
        """
        hooks = self._systems.hooks
        if hooks is None or self._mind is None:
            return None
        place, resumed = self._lane(turn=turn), self._turn > 0
        looked = self._alongside(hooks.prompt(text, corr, place, resumed=resumed))
        self._submitted.add(looked)
        looked.add_done_callback(self._submitted.discard)
        return looked

    async def _passed(self, looked: asyncio.Task[None] | None) -> None:
        """Wait until hooks have looked at what the user says; raises when it is not to count."""
        if looked is None:
            return
        try:
            async with self._in_order:
                await asyncio.wait({looked})
        finally:
            looked.cancel()
        if looked.cancelled():
            raise UsageProblem(UNSENT, "It was cancelled while a hook ran.")
        looked.result()

    async def _beside(self, work: Coroutine[Any, Any, T], cause: Cause) -> T | asyncio.Task[T]:
        """Do what hooks may hold up: for a request beside what else is asked, else wait for it.

        Unlike with `_begun`, the request stays in the inbox until it is done. What was said here
        counts also when nobody waits for it any more, as when the terminal is left.
        """
        task = self._alongside(work)
        if cause.request is not None and self._systems.hooks is not None:
            return task
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait({task})
        if task.cancelled():
            raise UsageProblem(UNSENT, "The thread was closed.")
        return task.result()

    async def _queued(self, corr: str, text: str, cause: Cause) -> str:
        await self._inputs.admit(text, "queue", self._lane("coordination"), cause, corr)
        if self.state is FloorState.IDLE and self._mind is not None:
            await self.go_on()
        self._followed = self._followed or (self._ended_said and self.state is FloorState.ENDING)
        return corr

    async def _hasten(self, asked: Hasten, cause: Cause = NO_CAUSE) -> None:
        if self.state in HEARING:
            lane = self._lane("coordination", turn=self._turn)
            await self._inputs.hasten(asked.corr, lane, cause)
        else:
            await self._ended()
            if self.state is FloorState.IDLE:
                await self.go_on(cause)
            elif cause.request is not None:
                await self.note(cause, "taken")

    async def _withdraw(self, asked: Withdraw, cause: Cause = NO_CAUSE) -> None:
        await self._inputs.withdraw(asked.corr, self._lane("coordination"), cause)

    async def _answer(self, asked: Confirm | Reply, cause: Cause = NO_CAUSE) -> None:
        given = asked.response if isinstance(asked, Confirm) else asked.answer
        await self._systems.desk.answer(asked.corr, given, cause)

    async def _go_on(self, _: GoOn, cause: Cause = NO_CAUSE) -> bool:
        await self._ended()
        return await self.go_on(cause)

    async def go_on(self, cause: Cause = NO_CAUSE) -> bool:
        """Start a turn with the oldest queued message, if there is one."""
        if not any(entry.state == "queued" for entry in self._inputs.pending()):
            if cause.request is not None:
                await self.note(cause, "taken")
            return False
        self._floor.move(Move.START)
        await self._start(None, cause)
        return True

    async def _start(self, prompt: User | None, cause: Cause) -> int:
        """Log the beginning of a turn and let it run; without a prompt a queued one is taken.

        A turn that the log says began does begin, also when whoever asked for it is cancelled.
        """
        return await unbroken(self._begin_turn(prompt, cause))

    async def _begin_turn(self, prompt: User | None, cause: Cause) -> int:
        self._turn += 1
        lane = self._lane("coordination", turn=self._turn)
        begin = TurnStart(
            mode=self.settings.mode,
            model=self.model,
            engine=ENGINE,
            approvals=self.settings.approvals,
            title=self.title,
        )
        try:
            head = self.log.head
            told = await recalling.since(self.log, self._seen, self._systems.journal)
            said = [begin, *told, *([prompt] if prompt is not None else [])]
            drafts = [*cause.taken(lane), *map(lane.draft, said)]
            stored = await self.log.append(*drafts, settled=cause.settled(self._turn))
            self._turn_began, self._seen = stored[-len(said)].seq, head
            if prompt is None:
                await self._inputs.deliver_next(lane)
        except BaseException:
            self._floor.move(Move.FAIL)
            raise
        self._running = asyncio.create_task(self._run(self._turn), name=f"turn-{self._turn}")
        return self._turn

    async def _newly_printed(self) -> list[Meanwhile]:
        """What goes to the model with words that reach it in the middle of a turn."""
        return await recalling.newly_printed(self.log, self._seen)

    async def _ended(self) -> None:
        """Wait while the last words of a turn are written: who has read them may go on at once."""
        await self._floor.leaves(FloorState.ENDING)

    async def resume(self, kept: Resumption) -> None:
        """Continue with a turn that waited for an answer when its process died."""
        self._floor.move(Move.START)
        self._turn, self._turn_began = kept.turn, kept.began
        self._systems.desk.recall(kept.asked, self.log, kept.denied)
        since = await asyncio.to_thread(recalling.run_began, self.log)
        spent = await recalling.messages(
            self.log, {"turn_start", "usage", "tool_call", "tool_result", "agent_spawn"}, since
        )
        self._systems.budget.resume(spent)
        left = left_by(kept, self.log.activity.step)
        self._running = asyncio.create_task(self._run(kept.turn, left), name=f"turn-{kept.turn}")

    async def _run(self, turn: int, left: Left | None = None) -> None:
        """One turn from its first model call to its `turn_end`."""
        self._ended_said = self._followed = False
        self._floor.move(Move.BEGIN)
        try:
            try:
                end, problem = await self._outcome(turn, left)
            finally:
                self._systems.budget.end_turn()
            self._systems.desk.forget()
            self._floor.move(Move.FINISH)
            await self._last_words(turn, end, problem)
        except BaseException:
            self._systems.desk.forget()
            self._floor.move(Move.FAIL)
            raise
        self._floor.move(Move.END)
        if (end.ending == "done" or self._followed) and not self._closing:
            await self.go_on()

    async def _outcome(self, turn: int, left: Left | None) -> tuple[TurnEnd, SteersmanError | None]:
        assert self._systems.capsule is not None
        self._systems.budget.begin_turn()
        try:
            async with self._warmed(), asyncio.timeout(self._systems.budget.remaining_seconds()):
                lane = self._lane(turn=turn)
                return await self._systems.capsule.turn(lane, self._context, left), None
        except TimeoutError:
            return self._out_of_time()
        except asyncio.CancelledError:
            return TurnEnd("cancelled", self.log.activity.step), None
        except LeaseLost:
            raise
        except BudgetSpent as spent:
            return TurnEnd("limit", reason=spent.what), spent
        except Halted as halted:
            return TurnEnd("blocked", reason=halted.what), halted
        except NeedsAnswer as needs:
            return TurnEnd("needs_answer", reason=needs.what), needs
        except SteersmanError as error:
            return TurnEnd("failed", reason=error.what), error

    @asynccontextmanager
    async def _warmed(self) -> AsyncIterator[None]:
        """Make ready what commands will need beside the work, if the model is far away."""
        if self._mind is None or self._mind.scripted:
            yield
            return
        warming = asyncio.create_task(self._systems.warm_up(), name="warm-up")
        try:
            yield
        finally:
            await asyncio.wait({warming})  # what went wrong, the first command says
            if not warming.cancelled():
                warming.exception()

    def _out_of_time(self) -> tuple[TurnEnd, SteersmanError | None]:
        try:
            self._systems.budget.check()
        except BudgetSpent as spent:
            return TurnEnd("limit", reason=spent.what), spent
        return TurnEnd("failed", reason="something took too long"), None

    async def _last_words(self, turn: int, end: TurnEnd, problem: SteersmanError | None) -> None:
        drafts: list[Draft] = []
        unasked = self.settings.approvals == "never"
        story = await asyncio.to_thread(self._story) if unasked or end.ending != "done" else []
        if end.ending != "done":
            # A turn that was stopped between writing calls down and beginning them owes results.
            # One that continued after a restart began in an earlier session; this one is not over.
            drafts = closing(m for m in story if not m.kind.startswith("session_"))
        self.last_end = end
        place = self._lane("coordination", turn=turn)
        if problem is not None:
            drafts.append(place.draft(error_body(problem)))
        await self.log.append(*drafts)
        await self._inputs.requeue(place)
        await asyncio.to_thread(self._systems.gate.end_turn)
        done = await self._summed_up(story) if unasked else None
        await place.append(*([done] if done else []), end)
        self._ended_said = True

    def _story(self) -> list[Message]:
        """The messages of the turn so far."""
        return list(read_messages(self.log.store, self.log.thread, after=self._turn_began))

    async def _summed_up(self, story: Sequence[Message]) -> Summary | None:
        """What the turn came to."""
        from steersman.threads.summing_up import summary

        journal, thread = self._systems.journal, self.log.thread
        return await asyncio.to_thread(summary, story, journal, thread)

    async def wait(self) -> TurnEnd | None:
        """Wait until nothing runs; the answer is how the last turn ended."""
        while self._running is not None:
            running = self._running
            await asyncio.wait({running})
            if running is self._running:
                self._running = None
            if not running.cancelled() and (error := running.exception()) is not None:
                raise error
        if self._lost is not None:
            raise self._lost
        return self.last_end

    async def quieter(self) -> None:
        """Wait until something that is done beside turns is over, if anything is."""
        if self._tasks:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    async def _cancel(self, _: Cancel, cause: Cause = NO_CAUSE) -> None:
        """Stop the running turn, its tools and their processes, and wait until they are gone."""
        stopped = [looked.cancel() for looked in self._submitted]
        # A task that is cancelled before its first step never says that it was.
        await self._floor.leaves(FloorState.STARTING)
        if stopped and not self.busy:  # hooks were all that ran
            await self.note(cause, "taken")
            return
        self._floor.check(Move.CANCEL)
        await self.log.append(*cause.taken(self._lane("coordination")), settled=cause.settled())
        if self.busy:  # it may have ended while the receipt was written
            self._floor.move(Move.CANCEL)
        if self._running is not None and self.state is FloorState.STOPPING:
            self._running.cancel()
        if cause.request is None:
            await self.wait()
