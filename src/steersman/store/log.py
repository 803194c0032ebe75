"""A thread's log as the running program sees it: append, broadcast, read.

One `ThreadLog` is the only writer of its thread. A message is redacted, chained, stored and only
then published; a `Lane` is the same log seen from one place in the tree of capsules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from steersman.bus import Bus
from steersman.records import validation
from steersman.records.clock import now
from steersman.records.errors import LeaseLost, StorageProblem
from steersman.records.inbox import Settled
from steersman.records.message import Body, Message, decode_body
from steersman.records.thread import Activity, Lease, Thread
from steersman.store.activity import after
from steersman.store.chain import link_row
from steersman.store.contract import Row, Store, moment, stamp

if TYPE_CHECKING:
    from steersman.store.redactor import Redactor

T = TypeVar("T")
Clock = Callable[[], datetime]
Watcher = Callable[[list[Message]], None]


async def unbroken(work: Coroutine[Any, Any, T]) -> T:
    """Do something to its end even if whoever waits for it is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise


class Draft(Struct, frozen=True):
    """A message that is about to happen."""

    body: Body
    path: str
    turn: int = 0
    corr: str | None = None


def to_message(thread_id: str, row: Row) -> Message:
    """A stored row as a message."""
    try:
        body = decode_body(row.kind, row.body)
        time = moment(row.time)
    except (msgspec.DecodeError, ValueError) as error:
        raise StorageProblem(
            f"Message {row.seq} of thread {thread_id} cannot be read.",
            validation.sentence(error),
            f"`steer ledger verify {thread_id}` shows which messages were altered.",
        ) from error
    return Message(thread_id, row.seq, time, row.turn, row.kind, row.path, row.corr, body)


def read_messages(
    store: Store,
    thread_id: str,
    *,
    after: int = 0,
    until: int | None = None,
    kinds: Collection[str] | None = None,
) -> Iterator[Message]:
    """Messages of a thread in order."""
    for row in store.read(thread_id, after=after, until=until, kinds=kinds):
        yield to_message(thread_id, row)


class Live(Protocol):
    """Where pieces go that are shown and not stored."""

    def show(self, message: Message) -> None:
        """Take a piece."""
        ...

    def flush(self) -> bytes:
        """The pieces that have not been handed on, which are now."""
        ...


class Tenure(Struct, frozen=True):
    """By what right a log is written, what its thread was doing, and who sees live pieces."""

    lease: Lease | None = None
    activity: Activity = Activity()
    live: Live | None = None


FREE = Tenure()


class ThreadLog:
    """The one writer of a thread, as long as its lease holds; `lost` learns when it does not."""

    def __init__(
        self,
        store: Store,
        bus: Bus,
        thread: Thread,
        *,
        redactor: Redactor,
        executor: Executor,
        clock: Clock = now,
        tenure: Tenure = FREE,
    ) -> None:
        self.thread = thread.id
        self.store = store
        self.redactor = redactor
        self._bus = bus
        self._executor = executor
        self._clock = clock
        self._head = thread.head
        self._hash = thread.head_hash
        self._order = asyncio.Lock()
        self._lease = tenure.lease
        self._live = tenure.live
        self.activity = tenure.activity
        self.lost: Callable[[LeaseLost], None] | None = None
        self._watchers: list[Watcher] = []
        self._owed: list[Draft] = []
        self.calls: set[str] = set()  # the ids that calls have, as far as anyone here remembers

    @property
    def head(self) -> int:
        """The newest `seq`."""
        return self._head

    @contextmanager
    def watched_by(self, watcher: Watcher) -> Iterator[None]:
        """Show every message to someone the moment it is stored, whoever was cancelled."""
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)

    async def append(self, *drafts: Draft, settled: Sequence[Settled] = ()) -> list[Message]:
        """Store messages, all or none, flushed if any of them must be, then publish them.

        In the same transaction the requests that caused them are `settled`. A cancelled caller is
        kept waiting until they are stored: the log never forks from what the program believes.
        """
        if not drafts and not self._owed:
            return []
        return await unbroken(self._append(drafts, settled))

    def later(self, *drafts: Draft) -> None:
        """Store messages with the next one, in one transaction; till then nothing follows of them.

        What is to follow must begin with a message of its own.
        """
        self._owed += drafts

    async def owe(self, draft: Draft) -> None:
        """Store a message that corrects another, or if it cannot be now, before the next one."""
        self._owed.append(draft)
        await self.append()

    async def _append(self, drafts: tuple[Draft, ...], settled: Sequence[Settled]) -> list[Message]:
        async with self._order:
            owed = len(self._owed)
            drafts = (*self._owed, *drafts)
            if not drafts:
                return []
            time = self._clock()
            sync = any(draft.body.flushed for draft in drafts)
            pieces = self._live.flush() if self._live else b""

            def write() -> tuple[list[Row], list[Message], Activity]:
                # Also built here: to look for secrets in a long text takes a while.
                rows, messages = self._build(drafts, time)
                doing = self.activity
                for message in messages:
                    doing = after(doing, message)
                if pieces:
                    self.store.show(self.thread, pieces)
                self.store.append(
                    self.thread,
                    rows,
                    sync=sync,
                    lease=self._lease,
                    activity=doing if doing is not self.activity else None,
                    settled=settled,
                )
                return rows, messages, doing

            loop = asyncio.get_running_loop()
            try:
                rows, messages, doing = await loop.run_in_executor(self._executor, write)
            except LeaseLost as lost:
                if self.lost is not None:
                    self.lost(lost)
                raise
            del self._owed[:owed]
            self._head, self._hash, self.activity = rows[-1].seq, rows[-1].hash, doing
            self.calls |= {one.corr for one in messages if one.kind == "tool_call" and one.corr}
            for watcher in self._watchers:
                watcher(messages)
            for message in messages:
                self._bus.publish(message)
            return messages[owed:]

    def _build(self, drafts: tuple[Draft, ...], time: datetime) -> tuple[list[Row], list[Message]]:
        written = stamp(time)
        seq, previous = self._head, self._hash
        rows, messages = [], []
        self.redactor.refresh()
        for draft in drafts:
            seq += 1
            body, data = self.redactor.body(draft.body)
            bare = Row(seq, written, draft.turn, body.kind, draft.path, draft.corr, data, b"")
            previous = link_row(previous, bare)
            rows.append(msgspec.structs.replace(bare, hash=previous))
            messages.append(
                Message(self.thread, seq, time, draft.turn, body.kind, draft.path, draft.corr, body)
            )
        return rows, messages

    def broadcast(self, draft: Draft) -> None:
        """Publish without storing."""
        body, _ = self.redactor.body(draft.body)
        piece = Message(
            self.thread, 0, self._clock(), draft.turn, body.kind, draft.path, draft.corr, body
        )
        self._bus.publish(piece)
        if self._live is not None:
            self._live.show(piece)


class Lane:
    """The log seen from one place: every message gets this place's path and turn."""

    def __init__(self, log: ThreadLog, path: str, turn: int = 0) -> None:
        self.log = log
        self.path = path
        self.turn = turn

    def at(self, *names: str) -> Lane:
        """The lane below this one."""
        return Lane(self.log, "/".join((self.path, *names)), self.turn)

    def draft(self, body: Body, corr: str | None = None) -> Draft:
        """A message of this lane, not yet written."""
        return Draft(body, self.path, self.turn, corr)

    async def append(self, *bodies: Body, corr: str | None = None) -> list[Message]:
        """Store messages of this lane."""
        return await self.log.append(*(self.draft(body, corr) for body in bodies))

    def later(self, *bodies: Body, corr: str | None = None) -> None:
        """Store messages of this lane with the next one that is stored."""
        self.log.later(*(self.draft(body, corr) for body in bodies))

    def broadcast(self, body: Body, corr: str | None = None) -> None:
        """Publish a message of this lane without storing it."""
        self.log.broadcast(self.draft(body, corr))
