"""A handle on a thread: what is asked of it is done here, or by the process that runs it.

Where no process does, this one takes the thread up if the handle says how, or starts one in the
background that does.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from steersman.host.opening import Opening
from steersman.host.posting import TICK, By, Inbox
from steersman.records.call_ids import COMMIT, LOOK, fresh
from steersman.records.change import Change
from steersman.records.dialogue import Image
from steersman.records.errors import (
    Exit,
    SteersmanError,
    ThreadBusy,
    UsageProblem,
)
from steersman.records.inbox import (
    Aside,
    Asked,
    CallTool,
    Cancel,
    Close,
    Compact,
    Confirm,
    GoOn,
    Hasten,
    Queue,
    Reply,
    Request,
    Rewound,
    Send,
    Set,
    SteerTurn,
    Undo,
    UndoTold,
    Withdraw,
)
from steersman.records.message import (
    Answer,
    Body,
    ConfirmResponse,
    Message,
    Rewind,
    Steer,
    TurnEnd,
)
from steersman.records.settings import Value
from steersman.records.thread import Thread, ThreadState
from steersman.records.undo import Part, UndoPlan
from steersman.store.log import to_message

if TYPE_CHECKING:
    from steersman.host.application import Host
    from steersman.threads.session import Session

RUN = "workspace_run_command"
OWN_WAIT = 120  # seconds


class Attached:
    """One port's handle on one thread; fulfils `ThreadHandle`."""

    def __init__(
        self, host: "Host", thread: Thread, opening: Opening | None, by: By | None = None
    ) -> None:
        self._host = host
        self._thread = thread
        self._opening = opening
        self._by = by
        self._known = ThreadState("idle")

    @property
    def id(self) -> str:
        """The thread's id."""
        return self._thread.id

    @property
    def thread(self) -> Thread:
        """The thread's record, as it was last read."""
        return self._thread

    @property
    def here(self) -> bool:
        """Whether this process runs the thread."""
        return self._session is not None

    @property
    def busy(self) -> bool:
        """Whether a turn runs, as far as is known here without looking."""
        if self._session is not None:
            return self._session.busy
        return self._known.activity.turn > 0

    @property
    def _session(self) -> "Session | None":
        return self._host.session(self.id)

    async def state(self) -> ThreadState:
        """What the thread is doing, and which process runs it."""
        states = await asyncio.to_thread(self._host.store.states, [self.id])
        self._known = states.get(self.id, ThreadState("idle"))
        return self._known

    # What can be asked

    async def send(self, text: str, images: tuple[Image, ...] = ()) -> int:
        """Begin a turn; the answer is its number."""
        return cast(int, await self._ask(Send(text, images)))

    async def steer(self, text: str) -> str:
        """Say something to the running turn, or for the next one; the answer names the message."""
        return cast(str, await self._ask(SteerTurn(text)))

    async def queue(self, text: str) -> str:
        """Say something for the next turn; the answer names the message."""
        return cast(str, await self._ask(Queue(text)))

    async def hasten(self, corr: str) -> None:
        """Give queued words to the turn that runs; begin one with the oldest where none runs."""
        await self._ask(Hasten(corr))

    async def withdraw(self, corr: str) -> None:
        """Withdraw words that were not delivered."""
        await self._ask(Withdraw(corr))

    async def answer(self, corr: str, answer: ConfirmResponse | Answer) -> None:
        """Answer a request or a question; raises `TooLate` when someone else was first."""
        if isinstance(answer, ConfirmResponse):
            await self._ask(Confirm(corr, answer))
        else:
            await self._ask(Reply(corr, answer))

    async def cancel(self) -> None:
        """Stop the running turn, its tools and their processes."""
        if not self.here and not (await self.state()).activity.turn:
            raise UsageProblem("Cannot cancel now. No turn is running.")
        await self._ask(Cancel())
        await self.wait()

    async def go_on(self) -> bool:
        """Begin a turn with the oldest queued message, if there is one."""
        return bool(await self._ask(GoOn()))

    async def call(
        self, tool: str, arguments: dict[str, Any], name: str = "", *, typed: bool = False
    ) -> Message:
        """Carry out one tool call for a person, through the same gate; gives its result.

        `name` is what a program calls the call in the log; without one it is the user's own.
        A command that a person waits for themselves has two minutes, unless they say how long.
        `typed` when it is a command that they typed themselves.
        """
        waits = not name or name.startswith((LOOK, COMMIT))
        if waits and tool == RUN and not arguments.get("background"):
            arguments = {"wait_timeout": OWN_WAIT, **arguments}
        id = name or fresh()
        asked = CallTool(id, tool, arguments, own=not name, typed=typed and not name)
        after = (await self._record()).head
        result = await self._ask(asked)
        if isinstance(result, Message):
            return result
        async for message in self.events(after):
            if message.kind == "tool_result" and message.corr == asked.id:
                return message
        raise SteersmanError("The thread was closed before the call ended.")

    async def plan_undo(
        self, *, turn: int | None = None, to: int | None = None, parts: Sequence[Part] = ()
    ) -> UndoPlan:
        """What undoing the last turn would do, or a certain turn, or all after a message.

        With `parts` only those of a turn are undone, and the rest of it stays.
        """
        await self._host.tidy(self.id)
        way = self._host.way_back
        return await asyncio.to_thread(way.plan_undo, self.id, turn=turn, to=to, parts=parts)

    async def plan_redo(self) -> UndoPlan:
        """What undoing the last undo would do."""
        await self._host.tidy(self.id)
        return await asyncio.to_thread(self._host.way_back.plan_redo, self.id)

    async def undo(self, plan: UndoPlan, *, force: bool = False, imported: bool = False) -> int:
        """Carry out a plan; with `force` also over changes that someone else made since.

        The answer is its place in the log, for `undo_told`.
        That of an imported thread only if a person agreed to this very plan: `imported`.
        """
        return cast(int, await self._ask(Undo(plan, force, imported)))

    async def undo_told(self, checkpoint: int) -> None:
        """Note that the user heard what became of an undo: it is not open any more."""
        with suppress(SteersmanError):  # then they hear it once more
            await self._ask(UndoTold(checkpoint))

    async def rewound(self, rewind: Rewind, stays: Sequence[Change] = ()) -> None:
        """Note that a rewind made this thread; `stays` are later changes of files, still there."""
        await self._ask(Rewound(rewind, tuple(stays)))

    async def compact(self, *, undo: bool = False) -> bool:
        """Show the model a digest of what is older, or undo that; False if there is nothing to."""
        return bool(await self._ask(Compact(undo)))

    async def aside(self, system: str, text: str) -> str:
        """An answer of the thread's model that is no part of the conversation."""
        return str(await self._ask(Aside(system, text)))

    async def set(self, **values: Value) -> None:
        """Change mode, model, approvals, trust, title or added folders, from the next call on."""
        await self._ask(Set(values))
        if "title" in values:
            await self._record()

    async def last_words(self) -> str:
        """What the model said last."""
        if self._session is not None:
            return self._session.last_words()
        body = await asyncio.to_thread(self._newest, "assistant")
        return str(getattr(body, "text", ""))

    def redact(self, value: Any) -> Any:
        """Whatever JSON can say, without the secrets of a thread that runs here."""
        return self._host.redactor(self.id).json(value)

    # Following

    async def events(self, after: int = 0) -> AsyncIterator[Message]:
        """Every stored message after `after`, each once and in order, and live pieces.

        Meanwhile a turn whose process has died is taken over, if the handle says how.
        """
        await self._host.newsroom.open()
        stands_by = self._opening is not None and self._opening.attended
        standing_by = asyncio.create_task(self._stand_by()) if stands_by else None
        try:
            async for message in self._host.follow(self.id, after):
                yield message
        finally:
            if standing_by is not None:
                standing_by.cancel()
                await asyncio.wait({standing_by})

    async def _stand_by(self) -> None:
        """Take the thread over when the process that ran its turn is gone."""
        while True:
            await self._host.newsroom.change(self.id, TICK)
            with suppress(SteersmanError):  # another may take it over, or nobody can
                if not self.here:
                    state = await self.state()
                    if state.activity.turn and state.owner is None:
                        await self.run_here()

    async def session_events(self, after: int = 0) -> AsyncIterator[Message]:
        """The same until no process runs the thread any more."""
        if await self._over(after):
            return
        async for message in self.events(after):
            yield message
            if message.kind == "session_end" and await self._over(message.seq):
                return

    async def _over(self, seq: int) -> bool:
        """Whether nothing came after a message and nobody runs the thread.

        A process that has written its last word is waited for: it lets go a moment later.
        """
        await self._host.newsroom.open()
        while True:
            changed = asyncio.ensure_future(self._host.newsroom.change(self.id, TICK))
            try:
                last = await asyncio.to_thread(
                    lambda: next(self._host.store.read_back(self.id), None)
                )
                alone = (await self.state()).owner is None
                if last is None or last.seq > seq or last.kind != "session_end":
                    return last is None and alone
                if alone:
                    return True
                await changed
            finally:
                changed.cancel()

    async def wait(self) -> TurnEnd | None:
        """Wait until no turn runs; the answer is how the last one ended."""
        while True:
            if (session := self._session) is not None:
                return await session.wait()
            await self._host.newsroom.open()
            changed = asyncio.ensure_future(self._host.newsroom.change(self.id, TICK))
            try:
                state = await self.state()
                alive = state.owner is not None
                end, continues = await asyncio.to_thread(self._last_end)
                coming = alive and (state.requests or (state.activity.queued and continues))
                if not (state.activity.turn or coming):
                    return end
                if not alive and not state.activity.waiting:
                    return TurnEnd("interrupted", reason="the process that ran it is gone")
                await changed
            finally:
                changed.cancel()

    def _last_end(self) -> tuple[TurnEnd | None, bool]:
        """How the last turn ended, and whether what is queued begins by itself.

        It does after a turn that ended well, and when it was said after the turn.
        """
        said = False
        for row in self._host.store.read_back(self.id):
            if row.kind in ("steer", "turn_end"):
                body = to_message(self.id, row).body
                if isinstance(body, TurnEnd):
                    return body, said or body.ending == "done"
                said = said or (isinstance(body, Steer) and bool(body.text))
        return None, True

    def _newest(self, kind: str) -> Body | None:
        """The newest message of a kind."""
        rows = self._host.store.read_back(self.id)
        row = next((row for row in rows if row.kind == kind), None)
        return to_message(self.id, row).body if row else None

    # Leaving

    def leave(self) -> None:
        """Nobody here can answer any more."""
        if self._session is not None:
            self._session.leave()

    async def detach(self) -> None:
        """Let go of the handle; a turn that runs, runs on, here or elsewhere."""

    async def close(self, exit_code: Exit = Exit.DONE, reason: str = "") -> None:
        """Stop what runs and leave the thread; nothing is lost."""
        if self.here:
            await self._host.close(self.id, exit_code, reason)
        elif (await self.state()).owner is not None:
            await self._ask(Close())

    # How it gets there

    async def run_here(self) -> bool:
        """Take the thread up in this process, unless another runs it."""
        if self._session is None and self._opening is not None:
            try:
                await self._host.runner.take_up(self._thread, self._opening)
            except ThreadBusy:
                return False
        return self._session is not None

    async def _record(self) -> Thread:
        self._thread = await asyncio.to_thread(self._host.find, self.id)
        return self._thread

    async def _ask(self, asked: Asked) -> Any:
        if self._session is None and self._opening is not None:
            await self.run_here()
        if self._by is None and (session := self._session) is not None:
            return await session.take(asked)
        await self._host.newsroom.open()
        head = (await self._record()).head
        request = await self.post(asked)
        return await self._inbox.outcome(request, head, self._someone)

    @property
    def _inbox(self) -> Inbox:
        return Inbox(self._host, self.id, self._by)

    async def post(self, asked: Asked) -> Request:
        """Put something into the thread's inbox, for whoever runs it."""
        return await self._inbox.post(asked)

    async def _someone(self) -> None:
        """See to it that a process runs the thread, now that none does."""
        if self._opening is None:
            await self._host.carry(self.id)
        else:
            await self.run_here()
