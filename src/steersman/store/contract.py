"""What a store keeps, as plain records, and the contract every store fulfils."""

import os
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Protocol

from msgspec import Struct

from steersman.records.clock import local
from steersman.records.errors import StorageProblem, UsageProblem
from steersman.records.inbox import Request, Settled
from steersman.records.thread import Activity, Lease, Process, Thread, ThreadState


class Row(Struct, frozen=True):
    """A stored message, undecoded: exactly the bytes that the hash covers."""

    seq: int
    time: str
    turn: int
    kind: str
    path: str
    corr: str | None
    body: bytes
    hash: bytes


class PlacedRow(Struct, frozen=True):
    """A message of any thread: its position among all, its thread, and that thread's workspace."""

    position: int
    thread: str
    workspace: str
    row: Row


class PlacedRows(Struct, frozen=True):
    """Messages of all threads in the order that all readers share.

    `more`: others may appear soon, without news of them.
    """

    messages: list[PlacedRow]
    more: bool


class RawRow(Struct, frozen=True):
    """A stored message with every text column as the bytes on disk, for proving it unaltered."""

    seq: int
    time: bytes
    turn: bytes
    kind: bytes
    path: bytes
    corr: bytes | None
    body: bytes
    hash: bytes


def _lease_seconds() -> float:
    try:
        return max(float(os.environ["STEERSMAN_LEASE_SECONDS"]), 0.1)
    except (KeyError, ValueError):
        return 15.0


LEASE = _lease_seconds()  # without a sign of life; after that another process may take over


class StoreStatus(Struct, frozen=True):
    """What a store is and how much it holds; `engine` names the database program."""

    kind: str
    where: str
    engine: str
    version: int
    threads: int
    messages: int
    requests: int
    size: int


class Heard(Struct, frozen=True):
    """What other processes did: threads in which something was stored or asked, and live pieces.

    `threads` is None when nobody knows which: look at all that matter to you.
    """

    threads: frozenset[str] | None = frozenset()
    live: tuple[tuple[str, bytes], ...] = ()


class News(Protocol):
    """One listener."""

    async def next(self) -> Heard:
        """Wait until something happened; a signal that was lost is made up for within seconds."""
        ...

    def heard(self) -> Heard:
        """What has arrived by now, perhaps nothing; it is not reported again."""
        ...


class Store(Protocol):
    """Where threads, messages, blobs and settings last, and where processes meet.

    Every method is synchronous and may be called from any thread; `news` alone belongs to the
    event loop. A method that fails raises `StorageProblem` and leaves what was stored before
    exactly as it was. Several processes, with Postgres on several machines, use one store; it is
    `shared` when other machines may use it, so that what they need must be in it.
    """

    process: Process
    shared: bool

    @property
    def unwritable(self) -> StorageProblem | None:
        """Why it can only be read, if so."""
        ...

    def create_thread(self, thread: Thread) -> None:
        """Add an empty thread."""
        ...

    def thread(self, thread_id: str) -> Thread | None:
        """One thread by its whole id."""
        ...

    def matching(self, prefix: str) -> list[Thread]:
        """The threads whose id begins with `prefix`, at most a handful."""
        ...

    def threads(self, *, workspace: str | None = None, limit: int | None = None) -> list[Thread]:
        """Threads, the most recently used first."""
        ...

    def describe(self, thread_id: str, *, title: str | None, workspace: str | None) -> None:
        """Change a thread's title or where its workspace is."""
        ...

    def delete_thread(self, thread_id: str) -> None:
        """Remove one thread and its messages, for ever."""
        ...

    def append(
        self,
        thread_id: str,
        rows: Sequence[Row],
        *,
        sync: bool,
        lease: Lease | None = None,
        activity: Activity | None = None,
        settled: Sequence[Settled] = (),
    ) -> None:
        """Add messages after the head, all or none; with `sync` they are flushed to the disk.

        In the same transaction: a `lease` that another process took over raises `LeaseLost`;
        `activity` is kept beside the head; every `settled` request must be one that nobody has
        settled (raises `RequestSettled`), and one that is `taken` must not have expired.
        """
        ...

    def read(
        self,
        thread_id: str,
        *,
        after: int = 0,
        until: int | None = None,
        kinds: Collection[str] | None = None,
    ) -> Iterator[Row]:
        """Messages in order of `seq`."""
        ...

    def recall(
        self, thread_id: str, kinds: Collection[str], most_bytes: int
    ) -> list[tuple[str, str, str | None, bytes]]:
        """Kind, path, corr and body of the newest messages of some kinds, in order.

        As many as their bodies fit in `most_bytes`; the oldest of them comes first.
        """
        ...

    def read_back(self, thread_id: str) -> Iterator[Row]:
        """Messages from the newest to the oldest."""
        ...

    def positions(self, after: int, limit: int) -> PlacedRows:
        """Messages of all threads after a position, in order, at most `limit`.

        A position is never given twice, and never appears below one that was read.
        """
        ...

    def read_raw(self, thread_id: str) -> Iterator[RawRow]:
        """Messages as the bytes on disk."""
        ...

    def put_blob(self, data: bytes) -> str:
        """Keep some bytes; the answer is their SHA-256."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """Bytes by their digest."""
        ...

    def digests(self) -> list[str]:
        """The digests of all blobs."""
        ...

    def forget_blobs(self, digests: Collection[str]) -> int:
        """Remove blobs; the answer is how many bytes they had."""
        ...

    def setting(self, scope: str, name: str) -> str | None:
        """A remembered value."""
        ...

    def remember(self, scope: str, name: str, value: str | None) -> None:
        """Keep a value, or forget it when None."""
        ...

    def claim(self, name: str, value: str) -> str:
        """Give a name to something unless it has been given; the answer is what has it.

        What is asked twice under one name is done once, whichever processes are asked. Names, and
        requests that were settled, are let go after a week.
        """
        ...

    def claimed(self, name: str) -> str | None:
        """What has a name."""
        ...

    def lease(self, name: str, ttl: float = LEASE) -> Lease:
        """Be the only one who may write under a name; raises `ThreadBusy` when another is.

        It holds until it is released, its process dies, or the process has not renewed its
        leases for `ttl` seconds and another asks for it.
        """
        ...

    def renew(self) -> set[str]:
        """Say that this process is alive: all its leases hold for another `ttl`."""
        ...

    def release(self, lease: Lease) -> None:
        """Give a lease back; one that was lost is nobody's business any more."""
        ...

    def states(self, thread_ids: Collection[str]) -> dict[str, ThreadState]:
        """What threads are doing, whichever process runs them."""
        ...

    def post(self, request: Request) -> None:
        """Put a request into a thread's inbox."""
        ...

    def requests(self, thread_id: str) -> list[Request]:
        """The oldest requests that the thread's log does not mention, in order, at most a page."""
        ...

    def asked(self, thread_ids: Collection[str]) -> set[str]:
        """Which of these threads have requests that their logs do not mention."""
        ...

    def settled(self, request_id: str) -> Settled | None:
        """What became of a request; None while it waits."""
        ...

    def expire(self, request_id: str) -> Settled:
        """The sender gives up: expired, unless it was settled before; the answer says which."""
        ...

    def show(self, thread_id: str, pieces: bytes) -> None:
        """Give live pieces to whoever listens now, in other processes; nothing is kept."""
        ...

    def listened(self) -> bool:
        """Whether someone may listen now in another process; quick enough to ask every time."""
        ...

    def news(self) -> AbstractAsyncContextManager["News"]:
        """Listen to what other processes write."""
        ...

    def mark(self) -> Hashable | None:
        """What differs after anything was written, by any process; None if it takes time to say.

        Quick enough for the event loop.
        """
        ...

    def status(self) -> StoreStatus:
        """What this store is and how much it holds."""
        ...

    def close(self) -> None:
        """Give all leases back and let go of the database."""
        ...


def find_thread(store: Store, wanted: str) -> Thread:
    """The thread a person means by a whole id or the beginning of one."""
    found = store.thread(wanted)
    if found is not None:
        return found
    matches = store.matching(wanted) if wanted else []
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = ", ".join(thread.id for thread in matches)
        raise UsageProblem(f"“{wanted}” matches several thread ids: {ids}.", try_this="Type more.")
    raise UsageProblem(
        f"There is no thread “{wanted}”.",
        _nearest(store, wanted),
        "`steer threads list` shows them.",
    )


def _nearest(store: Store, wanted: str) -> str:
    """The threads whose ids begin most like one that is not there, as a question."""
    from difflib import get_close_matches

    threads = store.threads() if wanted else []
    begun = {thread.id[: len(wanted)]: thread for thread in reversed(threads)}
    near = [begun[one] for one in get_close_matches(wanted.lower(), begun)]
    meant = " or ".join(f"{thread.id} ({thread.title[:40]})" for thread in near)
    return f"Did you mean {meant}?" if meant else ""


def stamp(time: datetime) -> str:
    """A time as it is stored: UTC, milliseconds."""
    return local(time, UTC).isoformat(timespec="milliseconds")


def moment(text: str) -> datetime:
    """A stored time."""
    return datetime.fromisoformat(text)
