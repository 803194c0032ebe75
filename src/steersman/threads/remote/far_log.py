"""The log of a thread as its agent has it: what is appended is stored by the host, and only there.

What is to be stored is masked here first. The host masks it again and so gets the secrets that are
known here, when a thread is opened; what it judges and contents that it wants come as they are.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from steersman.records.inbox import Settled
from steersman.records.message import Checkpoint, Message
from steersman.records.thread import Activity, Thread
from steersman.store.contract import Row, stamp
from steersman.store.log import Draft, ThreadLog, unbroken
from steersman.store.redactor import Redactor
from steersman.threads.remote.line import Line
from steersman.threads.remote.waiting import Waiting
from steersman.threads.remote.words import (
    Drafted,
    Reading,
    Stored,
    drafted,
    heard,
    message_of,
    spoken,
)

PAGE = 500


class FarStore:
    """Reads of the host's store what tools read of it; not on the event loop."""

    shared = False

    def __init__(self, line: Line, root: str, allowed: Callable[[Any], Any]) -> None:
        self._line = line
        self._root = root
        self._allowed = allowed
        self._waiting = Waiting()

    def leave(self) -> None:
        """Nobody wants what is read any more: a thread that waits for it is let go."""
        self._waiting.end()

    def read(
        self,
        thread_id: str,
        *,
        after: int = 0,
        until: int | None = None,
        kinds: Collection[str] | None = None,
    ) -> Iterator[Row]:
        """Messages in order."""
        wanted = tuple(sorted(kinds)) if kinds is not None else None
        while True:
            page = self._read(Reading(thread_id, after, until, wanted))
            yield from map(_row, page)
            if len(page) < PAGE:
                return
            after = page[-1].seq

    def read_back(self, thread_id: str) -> Iterator[Row]:
        """Messages from the newest to the oldest."""
        until: int | None = None
        while page := self._read(Reading(thread_id, 0, until, None, back=True)):
            yield from map(_row, page)
            until = page[-1].seq

    def thread(self, thread_id: str) -> Thread | None:
        """A thread of this workspace, which is here."""
        found = self._waiting.wait(self._line.ask_for("thread", thread_id, Thread))
        return replace(found, workspace=self._root) if found is not None else None

    def matching(self, _: str) -> list[Thread]:
        """None: threads are named in full here."""
        return []

    def _read(self, reading: Reading) -> list[Stored]:
        found = self._waiting.wait(self._line.ask("read", reading, list[Stored]))
        return [self._within(one) if one.said.kind == Checkpoint.kind else one for one in found]

    def _within(self, one: Stored) -> Stored:
        body = heard(one.said)
        kept = self._allowed(body)
        return one if kept is body else replace(one, said=spoken(kept))


def _row(one: Stored) -> Row:
    return Row(
        one.seq, stamp(one.time), one.turn, one.said.kind, one.path, one.corr, one.said.data, b""
    )


class FarLog(ThreadLog):
    """Hands everything to the host, which stores it and says what it became."""

    def __init__(
        self, thread: str, head: int, line: Line, redactor: Redactor, store: FarStore
    ) -> None:
        self.thread = thread
        self.store: Any = store
        self.redactor = redactor
        self.activity = Activity()
        self.lost = None
        self.line = line
        self._head = head
        self._watchers = []
        self._owed = []
        self._order = asyncio.Lock()

    def reached(self, head: int) -> None:
        """The host's log is so long by now."""
        self._head = max(self._head, head)

    async def append(self, *drafts: Draft, settled: Sequence[Settled] = ()) -> list[Message]:
        """Have messages stored, all or none, with those that were to be stored with the next."""
        if not drafts and not self._owed:
            return []
        return await unbroken(self._hand_over(drafts))

    async def _hand_over(self, drafts: tuple[Draft, ...]) -> list[Message]:
        async with self._order:
            owed = len(self._owed)
            every = (*self._owed, *drafts)
            masked = await asyncio.to_thread(self._masked, every)
            kept = await self.line.ask("append", masked, list[Stored])
            del self._owed[:owed]
            messages = [message_of(self.thread, one) for one in kept]
            if messages:
                self.reached(messages[-1].seq)
            for watcher in self._watchers:
                watcher(messages)
            return messages[owed:]

    def _masked(self, drafts: Sequence[Draft]) -> list[Drafted]:
        self.redactor.refresh()
        return drafted(
            Draft(self.redactor.body(one.body)[0], one.path, one.turn, one.corr) for one in drafts
        )

    def broadcast(self, draft: Draft) -> None:
        """Have something shown and not stored; while too much waits, it is left out."""
        self.line.tell("broadcast", self._masked([draft])[0])


class FarBlobs:
    """Contents that the other side of a line keeps; not on the event loop."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._waiting = Waiting()

    def put_blob(self, data: bytes) -> str:
        """Have some bytes kept; the answer is their digest."""
        return self._waiting.wait(self._line.ask("keep", data, str))

    def blob(self, digest: str) -> bytes | None:
        """Bytes by their digest."""
        return self._waiting.wait(self._line.ask_for("blob", digest, bytes))
