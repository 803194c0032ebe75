"""What a store keeps, as plain records, and the contract every store fulfils."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol

from msgspec import Struct

from steersman.records.errors import UsageProblem


class Thread(Struct, frozen=True):
    """A conversation: found by its id, wherever its workspace moves to."""

    id: str
    title: str
    workspace: str
    origin: str
    created: datetime
    updated: datetime
    parent: str | None = None
    parent_seq: int | None = None
    head: int = 0
    head_hash: bytes = b""


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


class Store(Protocol):
    """Where threads, messages, blobs and settings last.

    Every method is synchronous and may be called from any thread. A method that fails raises
    `StorageProblem` and leaves what was stored before exactly as it was.
    """

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

    def append(self, thread_id: str, rows: Sequence[Row], *, sync: bool) -> None:
        """Add messages after the head, all or none; with `sync` they are flushed to the disk."""
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

    def read_raw(self, thread_id: str) -> Iterator[RawRow]:
        """Messages as the bytes on disk."""
        ...

    def put_blob(self, data: bytes) -> str:
        """Keep some bytes; the answer is their SHA-256."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """Bytes by their digest."""
        ...

    def setting(self, scope: str, name: str) -> str | None:
        """A remembered value."""
        ...

    def remember(self, scope: str, name: str, value: str | None) -> None:
        """Keep a value, or forget it when None."""
        ...

    def changes(self) -> int:
        """A number that differs after another process has written."""
        ...

    def own(self, thread_id: str) -> AbstractContextManager[None]:
        """Be the only writer of a thread while inside; raises `ThreadBusy` when another is."""
        ...

    def close(self) -> None:
        """Let go of the database."""
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
        raise UsageProblem(f"“{wanted}” begins several thread ids: {ids}.", try_this="Type more.")
    raise UsageProblem(
        f"There is no thread “{wanted}”.", try_this="`steer threads list` shows what there is."
    )


def stamp(time: datetime) -> str:
    """A time as it is stored: UTC, milliseconds."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds")


def moment(text: str) -> datetime:
    """A stored time."""
    return datetime.fromisoformat(text)
