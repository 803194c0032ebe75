"""An open thread: its log, its floor, the capsule that works in it, and the turn that runs."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Literal

from steersman import __version__
from steersman.coordination.floor import Floor, FloorState, Move
from steersman.coordination.inputs import Inputs
from steersman.coordination.recovery import closing
from steersman.governance.gate import Leave
from steersman.intelligence.context import KINDS, Context
from steersman.intelligence.loop import error_body
from steersman.operations.mcp.gateway import Gateway
from steersman.records.action import Verdict
from steersman.records.dialogue import Call, Image
from steersman.records.errors import BudgetSpent, Denied, Exit, Halted, NeedsAnswer, SteersmanError
from steersman.records.message import (
    Answer,
    Checkpoint,
    ConfirmResponse,
    Error,
    Message,
    SessionEnd,
    SessionStart,
    TurnEnd,
    TurnStart,
    User,
)
from steersman.records.undo import UndoPlan
from steersman.store.log import Lane, ThreadLog, read_messages, to_message
from steersman.threads.capsule import last_words
from steersman.threads.systems import Setup, ThreadSystems
from steersman.threads.thinking import Mind

ROOT = "steersman"
RECALLED_BYTES = 4_000_000  # about a million tokens
LEFT_OUT = (
    "[Steersman: this thread is longer than can be shown. What lies between the request above and "
    "what follows is left out here; the log has all of it.]"
)


async def recover(log: ThreadLog) -> None:
    """Close what a session that was cut off left open."""
    left: list[Message] = []
    for row in log.store.read_back(log.thread):
        if row.kind == "session_end":
            break
        left.append(to_message(log.thread, row))
        if row.kind == "session_start":
            break
    drafts = closing(reversed(left))
    if drafts:
        await log.append(*drafts)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Many records at once, none of them garbage: looking for some would double the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Session:
    """One process's work on one thread."""

    def __init__(self, log: ThreadLog, setup: Setup, mind: Mind | None) -> None:
        self.log = log
        self.setup = setup
        self.last_end: TurnEnd | None = None
        self._mind = mind
        self._floor = Floor()
        self._inputs = Inputs()
        self._turn = 0
        self._turn_began = 0
        self._running: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()  # set when a turn that was started can be cancelled
        self._working = False  # while the agent works, apart from the turn's first and last words
        self._watching = ExitStack()
        self._torn = False  # a turn stopped without its last word
        self._context = Context(ROOT)
        self._systems = ThreadSystems(log, setup, mind, self._inputs)

    async def begin(self) -> None:
        """Take up the thread where it was left."""
        await recover(self.log)
        store, thread = self.log.store, self.log.thread
        for row in store.read_back(thread):
            self._turn = row.turn
            if row.turn:
                break
        if self._systems.capsule is not None:
            self._recall()
            self._systems.external.recall(read_messages(store, thread, kinds={"tool_call"}))
        if self._systems.budget.counts_thread:
            spent = read_messages(store, thread, kinds={"usage", "tool_call", "agent_spawn"})
            self._systems.budget.recall(spent)
        self._watching.enter_context(self.log.watched_by(self._systems.budget.observe))
        self._inputs.observe(read_messages(store, thread, kinds={"steer"}))
        await self._inputs.requeue(self._lane("coordination"))
        settings = self.setup.settings
        start = SessionStart(
            version=__version__,
            workspace=self.setup.workspace.root,
            model=self._mind.driver.model if self._mind else "",
            mode=settings.mode,
            trust=settings.trust,
            approvals=settings.approvals,
        )
        await self._lane().append(start, *self.setup.audits, *self._systems.external.audits())
        for told in await self._systems.runs.tidy():
            await self._lane("operations").append(Error(told))

    def _recall(self) -> None:
        """Give the model what was said before: all of it, or as much as any model could take."""
        store, thread = self.log.store, self.log.thread
        with _no_collection():
            rows = store.recall(thread, KINDS, RECALLED_BYTES)
            goal = next(store.read(thread, until=50, kinds={"user"}), None)
            if goal is not None and rows and (goal.kind, goal.body) != (rows[0][0], rows[0][3]):
                self._context.recall([(goal.kind, goal.path, goal.corr, goal.body)])
                self._context.remark(LEFT_OUT)
            self._context.recall(rows)
        self._watching.enter_context(self.log.watched_by(self._context.observe))

    def _lane(self, *names: str, turn: int = 0) -> Lane:
        return Lane(self.log, "/".join((ROOT, *names)), turn)

    @property
    def state(self) -> FloorState:
        """What the thread is doing."""
        return self._floor.state

    @property
    def pending(self) -> int:
        """How many messages wait to be delivered."""
        return len(self._inputs.pending())

    async def send(self, text: str, images: tuple[Image, ...] = ()) -> int:
        """Start a turn with a prompt; the answer is the turn's number."""
        if images and self._mind is not None:
            self._mind.check_sight()
        self._floor.move(Move.START)
        attached = self._systems.briefing.attached(text) if self._systems.briefing else ()
        return await self._start(User(text, attached=attached, images=images))

    async def go_on(self) -> bool:
        """Start a turn with the oldest queued message, if there is one."""
        if not any(entry.state == "queued" for entry in self._inputs.pending()):
            return False
        self._floor.move(Move.START)
        await self._start(None)
        return True

    async def _start(self, prompt: User | None) -> int:
        """Log the beginning of a turn and let it run; without a prompt a queued one is taken."""
        self._turn += 1
        self._begun.clear()
        lane = self._lane("coordination", turn=self._turn)
        try:
            self._turn_began = (await lane.append(TurnStart()))[0].seq
            if prompt is not None:
                await lane.append(prompt)
            else:
                await self._inputs.deliver_next(lane)
        except BaseException:
            self._floor.move(Move.END)
            self._begun.set()
            raise
        self._running = asyncio.create_task(self._run(self._turn), name=f"turn-{self._turn}")
        return self._turn

    async def _run(self, turn: int) -> None:
        """One turn from its first model call to its `turn_end`."""
        self._torn = self._working = True
        self._begun.set()
        try:
            end, problem = await self._outcome(turn)
            self._working = False
            await self._last_words(turn, end, problem)
        finally:
            self._working = False
            self._floor.move(Move.END)
        if end.ending == "done":
            await self.go_on()

    async def _outcome(self, turn: int) -> tuple[TurnEnd, SteersmanError | None]:
        assert self._systems.capsule is not None
        self._systems.budget.begin_turn()
        if self._mind is not None and not self._mind.scripted:
            self._warm_up()
        try:
            async with asyncio.timeout(self._systems.budget.remaining_seconds()):
                return await self._systems.capsule.turn(self._lane(turn=turn), self._context), None
        except TimeoutError:
            return self._out_of_time()
        except asyncio.CancelledError:
            return TurnEnd("cancelled"), None
        except BudgetSpent as spent:
            return TurnEnd("limit", reason=spent.what), spent
        except Halted as halted:
            return TurnEnd("blocked", reason=halted.what), halted
        except NeedsAnswer as needs:
            return TurnEnd("needs_answer", reason=needs.what), needs
        except SteersmanError as error:
            return TurnEnd("failed", reason=error.what), error

    def _warm_up(self) -> None:
        """While a model far away begins to think, make ready what its first command will need."""
        if self.setup.settings.mode in ("code", "debug", "plan"):
            self._systems.processes.warm()
            self._systems.runs.prepare()
            self._systems.external.prepare(self._systems.gate.secret_files.lines)

    def _out_of_time(self) -> tuple[TurnEnd, SteersmanError | None]:
        try:
            self._systems.budget.check()
        except BudgetSpent as spent:
            return TurnEnd("limit", reason=spent.what), spent
        return TurnEnd("failed", reason="something took too long"), None

    async def _last_words(self, turn: int, end: TurnEnd, problem: SteersmanError | None) -> None:
        if end.ending != "done":
            # A turn that was stopped between writing calls down and beginning them owes results.
            story = read_messages(self.log.store, self.log.thread, after=self._turn_began)
            await self.log.append(*closing(story))
        self.last_end = end
        place = self._lane("coordination", turn=turn)
        if problem is not None:
            await place.append(error_body(problem))
        await self._inputs.requeue(place)
        await place.append(end)
        self._torn = False

    async def wait(self) -> TurnEnd | None:
        """Wait until nothing runs; the answer is how the last turn ended."""
        while self._running is not None:
            running = self._running
            await asyncio.wait({running})
            if running is self._running:
                self._running = None
            if not running.cancelled() and (error := running.exception()) is not None:
                raise error
        return self.last_end

    async def steer(self, text: str) -> str:
        """Say something to the running turn; it is heard at the next model call."""
        return await self._inputs.admit(text, "steer", self._lane("coordination", turn=self._turn))

    async def queue(self, text: str) -> str:
        """Say something for the next turn."""
        corr = await self._inputs.admit(text, "queue", self._lane("coordination"))
        if self.state is FloorState.IDLE:
            await self.go_on()
        return corr

    async def withdraw(self, corr: str) -> None:
        """Take back a message that has not been delivered."""
        await self._inputs.withdraw(corr, self._lane("coordination"))

    async def cancel(self) -> None:
        """Stop the running turn, its tools and their processes, and wait until they are gone."""
        self._floor.move(Move.CANCEL)
        # A task that is cancelled before its first step never says that it was.
        await self._begun.wait()
        if self._running is not None and self._working:
            self._running.cancel()
        await self.wait()

    @property
    def servers(self) -> Gateway | None:
        """The MCP servers of the thread, if there are any."""
        return self._systems.external.gateway

    def answer(self, corr: str, answer: ConfirmResponse | Answer) -> None:
        """Answer a request or a question."""
        self._systems.desk.answer(corr, answer)

    def leave(self) -> None:
        """Nobody can answer any more."""
        self._systems.desk.leave()

    async def call(self, call: Call) -> Message:
        """Carry out one tool call a person asked for, through the same gate."""
        lane = self._lane()
        await self.log.append(self._systems.toolbox.announce(call, lane))
        return (await self._systems.toolbox.execute([call], lane, lambda _: ""))[0]

    async def take_back(self, plan: UndoPlan, *, force: bool) -> None:
        """Undo or redo changes of files, through the same gate and into the same log."""
        lane = self._lane("operations", plan.cause)
        actions = self._systems.journal.actions(plan.changes, "person")
        verdict = await self._systems.gate.admit(
            f"{plan.cause}_{self.log.head}", plan.cause, actions, lane
        )
        if not isinstance(verdict, Leave):
            verdict = verdict if isinstance(verdict, Verdict) else Verdict("deny", "person", "no")
            raise Denied(f"Denied: {verdict.reason}.", f"Rule: {verdict.rule}.")
        body = Checkpoint(plan.cause, plan.changes, undoes=plan.undoes)
        await self._systems.journal.make(body, lane, None, check=not force)

    async def compact(self) -> bool:
        """Show the model a digest of what is older; False when there is nothing to gain."""
        assert self._systems.capsule is not None
        assert self._mind is not None
        self._floor.move(Move.START)  # nothing else is said meanwhile
        try:
            return await self._mind.compactor.fit(
                self._context,
                self._lane("intelligence"),
                system=self._systems.capsule.identity.instructions(),
                tools=self._systems.toolbox.specs(),
                cause="user",
            )
        finally:
            self._floor.move(Move.END)

    async def uncompact(self) -> bool:
        """Take the last compaction back; False when there is none."""
        assert self._mind is not None
        return await self._mind.compactor.undo(self._context, self._lane("intelligence"))

    def last_words(self) -> str:
        """What the model said last."""
        return last_words(self._context)

    async def close(self, exit_code: Exit, reason: str = "") -> None:
        """Leave the thread; a running turn is cancelled first."""
        if self.state in (FloorState.RUNNING, FloorState.ENDING):
            await self.cancel()
        self._floor.move(Move.CLOSE)
        await self._systems.close()
        if self._mind is not None:
            await self._mind.close()
        self._watching.close()
        if self._torn:
            await recover(self.log)
        else:
            await self._lane().append(SessionEnd(STATUS[exit_code], int(exit_code), reason))

    async def report(self, problem: SteersmanError) -> None:
        """Write a problem into the log."""
        await self._lane().append(error_body(problem))


Status = Literal["done", "failed", "denied", "needs_answer", "budget", "interrupted"]

STATUS: dict[Exit, Status] = {
    Exit.DONE: "done",
    Exit.FAILED: "failed",
    Exit.USAGE: "failed",
    Exit.DENIED: "denied",
    Exit.NEEDS_ANSWER: "needs_answer",
    Exit.BUDGET_SPENT: "budget",
    Exit.INTERRUPTED: "interrupted",
}

ENDINGS: dict[str, Exit] = {
    "done": Exit.DONE,
    "failed": Exit.FAILED,
    "cancelled": Exit.INTERRUPTED,
    "interrupted": Exit.INTERRUPTED,
    "needs_answer": Exit.NEEDS_ANSWER,
    "limit": Exit.BUDGET_SPENT,
    "blocked": Exit.DENIED,
}
