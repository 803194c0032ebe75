"""From one store into another: threads with exactly their bytes, and all that belongs to them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice

from msgspec import Struct

from steersman.records.errors import SteersmanError, StorageProblem, ThreadBusy
from steersman.records.thread import Lease, Thread
from steersman.store.chain import GENESIS, flaws
from steersman.store.contract import Row, StoreStatus
from steersman.store.sql_store import SqlStore

_PAGE = 500
Progress = Callable[[Thread, int, int], None]


class Copied(Struct, frozen=True):
    """What a copy came to: how much is in the target now, and which threads were refused and why.

    `messages` counts those that were not there before.
    """

    threads: int
    messages: int
    blobs: int
    settings: int
    requests: int
    refused: tuple[tuple[str, str], ...] = ()


def status(store: SqlStore) -> StoreStatus:
    """What a store is and how much it holds."""
    return store.status()


def copy(
    source: SqlStore, target: SqlStore, progress: Progress = lambda thread, done, all_: None
) -> Copied:
    """Copy everything; what was copied before is not copied again, and the source never changes.

    `progress` gets each thread, how many threads are done with it, and how many there are.
    """
    threads = source.threads()
    refused: list[tuple[str, str]] = []
    messages = 0
    for number, thread in enumerate(reversed(threads), 1):
        try:
            messages += _copy_thread(source, target, thread)
        except SteersmanError as problem:
            refused.append((thread.id, " ".join((problem.what, problem.why)).strip()))
        progress(thread, number, len(threads))
    blobs = [digest for digest in source.digests() if target.blob(digest) is None]
    for digest in blobs:
        target.put_blob(source.blob(digest) or b"")
    # What a store says of itself stays with it.
    known = (one for one in source.settings() if one[0] != "store")
    settings = [one for one in known if target.setting(*one[:2]) is None]
    for setting in settings:
        target.remember(*setting)
    left_out = {thread_id for thread_id, _ in refused}
    requests = [one for one in source.waiting() if one.thread not in left_out]
    for request in requests:
        target.post(request)
    return Copied(
        len(threads) - len(refused), messages, len(blobs), len(settings), len(requests),
        tuple(refused),
    )  # fmt: skip


def _copy_thread(source: SqlStore, target: SqlStore, thread: Thread) -> int:
    """Bring one thread to the source's head; the answer is how many messages were added."""
    state = source.states([thread.id]).get(thread.id)
    if state is not None and state.owner is not None:
        raise ThreadBusy(
            f"Thread {thread.id} is open in a process (pid {state.owner.pid}).",
            "Only a thread that is not in use can be copied.",
        )
    if target.thread(thread.id) is None:
        target.create_thread(thread)
    with _leased(target, thread.id) as lease:
        there = target.thread(thread.id)
        assert there is not None
        if _is_ahead(source, target, thread, there):
            return 0
        rows = source.read(thread.id, after=there.head, until=thread.head)
        while page := list(islice(rows, _PAGE)):
            target.append(thread.id, page, sync=False, lease=lease)
        activity = state.activity if state is not None else None
        target.append(thread.id, [], sync=True, lease=lease, activity=activity)
        _verify(source, target, thread)
    return thread.head - there.head


def _is_ahead(source: SqlStore, target: SqlStore, thread: Thread, there: Thread) -> bool:
    """Whether the target has all of a thread; raises when the two tell different stories."""
    seq = min(thread.head, there.head)
    if _hash_at(source, thread.id, seq) != _hash_at(target, thread.id, seq):
        raise StorageProblem(
            f"Thread {thread.id} is already in the target, with other messages.",
            f"The two differ at or before message {seq}.",
            f"Delete one of them with `steer threads delete {thread.id}`.",
        )
    return there.head >= thread.head > 0


def _hash_at(store: SqlStore, thread_id: str, seq: int) -> bytes:
    found: Row | None = next(store.read(thread_id, after=seq - 1, until=seq), None)
    return GENESIS if found is None else found.hash


def _verify(source: SqlStore, target: SqlStore, thread: Thread) -> None:
    """Prove that the copy is whole and the source is as it was when copying began."""
    arrived = target.thread(thread.id)
    flaw = next(iter(flaws(thread, target.read_raw(thread.id))), None)
    if flaw is not None or arrived is None or arrived.head_hash != thread.head_hash:
        raise StorageProblem(
            f"The copy of thread {thread.id} does not verify.",
            f"In it, {flaw.what}." if flaw else "It does not end as it should.",
            f"`steer ledger verify {thread.id}` shows whether the source is intact.",
        )
    if source.thread(thread.id) != thread:
        raise StorageProblem(
            f"Thread {thread.id} was written to while it was copied.",
            "The copy ends where copying began.",
            "Copy it again when it is not in use.",
        )


@contextmanager
def _leased(target: SqlStore, thread_id: str) -> Iterator[Lease]:
    lease = target.lease(thread_id)
    try:
        yield lease
    finally:
        target.release(lease)
