"""A handle on a thread of another machine: what is asked of it is done there, once, also when the
line is cut before the answer is here."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, suppress
from typing import Any, NoReturn

from steersman.client import AsyncClient
from steersman.client.following import TURNING
from steersman.host.remote_facts import apart, further, plain, understood
from steersman.records.change import Change
from steersman.records.dialogue import Image
from steersman.records.errors import Exit, UsageProblem
from steersman.records.message import (
    Answer,
    Assistant,
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

LOOK = 5.0  # seconds after which a thread is looked at again: who runs it may have died
PAGE = 500
CHANGED = frozenset({"mode", "model", "approvals", "title"})  # what a server lets change


class RemoteHandle:
    """One command's handle on one thread; fulfils `ThreadHandle` as far as a server can."""

    here = False

    def __init__(self, client: AsyncClient, thread: Thread) -> None:
        self._client = client
        self._thread = thread
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
    def busy(self) -> bool:
        """Whether a turn runs, as far as is known here without looking."""
        return self._known.activity.turn > 0

    async def state(self) -> ThreadState:
        """What the thread is doing, and which process runs it."""
        self._thread, self._known = apart(await self._client.thread(self.id))
        return self._known

    async def send(self, text: str, images: tuple[Image, ...] = ()) -> int:
        """Begin a turn; the answer is its number."""
        return await self._client.send(self.id, text, images)

    async def steer(self, text: str) -> str:
        """Say something to the running turn, or for the next one; the answer names the message."""
        return plain(await self._client.steer(self.id, text))

    async def queue(self, text: str) -> str:
        """Say something for the next turn; the answer names the message."""
        return plain(await self._client.queue(self.id, text))

    async def hasten(self, corr: str) -> None:
        """Give queued words to the turn that runs; begin one with the oldest where none runs."""
        await self._client.hasten(self.id, corr)

    async def withdraw(self, corr: str) -> None:
        """Withdraw words that were not delivered."""
        await self._client.withdraw(self.id, corr)

    async def compact(self, *, undo: bool = False) -> bool:
        """Show the model a digest of what is older, or undo that; False if there is nothing to."""
        return await self._client.compact(self.id, undo=undo)

    async def set(self, **values: Value) -> None:
        """Change mode, model, approvals or title, from the next call on."""
        if others := set(values) - CHANGED:
            _lacks(f"change {min(others)}")
        given: Any = values
        await self._client.change(self.id, **given)

    async def answer(self, corr: str, answer: ConfirmResponse | Answer) -> None:
        """Answer a request or a question; raises `TooLate` when someone else was first."""
        if isinstance(answer, Answer):
            if answer.by == "back":
                _lacks("go back to the question before")
            declined = answer.by == "declined"
            await self._client.reply(self.id, corr, answer.text, declined=declined)
            return
        await self._client.answer(
            self.id,
            corr,
            answer.decision,
            guidance=answer.guidance,
            scope=answer.scope,
            lasting=answer.lasting,
            arguments=answer.arguments,
            hunks=answer.hunks,
        )

    async def cancel(self) -> None:
        """Stop the running turn, its tools and their processes."""
        if not (await self.state()).activity.turn:
            raise UsageProblem("Cannot cancel now. No turn is running.")
        await self._client.cancel(self.id)

    # Following

    async def events(self, after: int = 0) -> AsyncIterator[Message]:
        """Every stored message after `after`, each once and in order, and live pieces."""
        async with aclosing(self._client.events(self.id, after, live=True)) as messages:
            async for message in understood(messages):
                yield message

    async def session_events(self, after: int = 0) -> AsyncIterator[Message]:
        """The same until no process runs the thread any more."""
        _lacks("follow a session")
        yield

    async def wait(self) -> TurnEnd | None:
        """Wait until no turn runs; the answer is how the last one ended."""
        while True:
            state = await self.state()
            doing = state.activity
            if doing.turn and state.owner is None and not doing.waiting:
                return TurnEnd("interrupted", reason="the process that ran it is gone")
            if state.state in ("idle", "queued"):
                end, continues = await self._last_end()
                coming = state.owner is not None and (continues or not doing.queued)
                if state.state == "idle" or not coming:
                    return end
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._turned(self._thread.head)

    async def _turned(self, after: int) -> None:
        """Wait until the thread says that it does something else."""
        async with aclosing(self._client.events(self.id, after)) as messages:
            async for message in understood(messages):
                if message.kind in TURNING:
                    return

    async def _last_end(self) -> tuple[TurnEnd | None, bool]:
        """How the last turn ended, and whether what is queued begins by itself.

        It does after a turn that ended well, and when it was said after the turn.
        """
        end, said = None, False
        async for body in self._bodies("turn_end", "steer"):
            if isinstance(body, TurnEnd):
                end, said = body, False
            elif isinstance(body, Steer):
                said = said or bool(body.text)
        return end, said or end is None or end.ending == "done"

    async def last_words(self) -> str:
        """What the model said last."""
        words = ""
        async for body in self._bodies("assistant"):
            words = body.text if isinstance(body, Assistant) else words
        return words

    async def _bodies(self, *kinds: str) -> AsyncIterator[Body]:
        """What was said in messages of some kinds, in order."""
        after, more = 0, True
        while more:
            page = await self._client.messages(self.id, after, limit=PAGE, kinds=kinds)
            for message in page.messages:
                after = further(after, message.seq)
                yield message.body
            more = len(page.messages) == PAGE

    # Leaving

    def leave(self) -> None:
        """Nobody here can answer any more; others still can."""

    async def detach(self) -> None:
        """Let go of the handle; a turn that runs, runs on."""

    async def close(self, exit_code: Exit = Exit.DONE, reason: str = "") -> None:
        """Leave the thread to the server."""

    def redact(self, value: Any) -> Any:
        """The same value: the server took out what is secret there."""
        return value

    # What a server does not offer

    async def go_on(self) -> bool:
        """Not over HTTP."""
        _lacks("continue with queued words")

    async def call(
        self, tool: str, arguments: dict[str, Any], name: str = "", *, typed: bool = False
    ) -> Message:
        """Not over HTTP."""
        _lacks("call a tool")

    async def plan_undo(
        self, *, turn: int | None = None, to: int | None = None, parts: Sequence[Part] = ()
    ) -> UndoPlan:
        """Not over HTTP."""
        _lacks("undo")

    async def plan_redo(self) -> UndoPlan:
        """Not over HTTP."""
        _lacks("redo")

    async def undo(self, plan: UndoPlan, *, force: bool = False, imported: bool = False) -> int:
        """Not over HTTP."""
        _lacks("undo")

    async def undo_told(self, checkpoint: int) -> None:
        """Not over HTTP."""
        _lacks("undo")

    async def rewound(self, rewind: Rewind, stays: Sequence[Change] = ()) -> None:
        """Not over HTTP."""
        _lacks("rewind")

    async def aside(self, system: str, text: str) -> str:
        """Not over HTTP."""
        _lacks("ask a model aside")


def _lacks(what: str) -> NoReturn:
    raise UsageProblem(
        f"Cannot {what} over a connection.",
        try_this="Use `steer` on the machine that has the thread.",
    )
