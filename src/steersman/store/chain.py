"""The hash chain that makes a log tamper-evident: pure functions over rows."""

from collections.abc import Iterable, Iterator
from hashlib import sha256

from msgspec import Struct

from steersman.records.thread import Thread
from steersman.store.contract import RawRow, Row

GENESIS = bytes(32)
MOST_TRUSTED = 4  # so that a log altered all over does not cost the square of its length


def link(previous: bytes, fields: tuple[bytes, ...], body: bytes) -> bytes:
    """The hash of a message that follows one whose hash is `previous`."""
    parts = [previous]
    for field in fields:
        parts += (len(field).to_bytes(4, "big"), field)
    parts.append(body)
    return sha256(b"".join(parts)).digest()


def link_row(previous: bytes, row: Row) -> bytes:
    """The hash of a row as it is about to be stored."""
    corr = b"-" if row.corr is None else b"+" + row.corr.encode()
    fields = (
        str(row.seq).encode(), row.time.encode(), str(row.turn).encode(),
        row.kind.encode(), row.path.encode(), corr,
    )  # fmt: skip
    return link(previous, fields, row.body)


def link_raw(previous: bytes, row: RawRow) -> bytes:
    """The hash of a row as it is found on disk."""
    corr = b"-" if row.corr is None else b"+" + row.corr
    fields = (str(row.seq).encode(), row.time, row.turn, row.kind, row.path, corr)
    return link(previous, fields, row.body)


class Flaw(Struct, frozen=True):
    """One place where a log is not what was written."""

    seq: int
    what: str


def flaws(thread: Thread, rows: Iterable[RawRow]) -> Iterator[Flaw]:
    """Every place where the stored messages do not fit the chain, in order."""
    trusted: tuple[bytes, ...] = (GENESIS,)
    expected = 1
    last = GENESIS
    for row in rows:
        if not isinstance(row.seq, int) or row.seq < expected:
            where = row.seq if isinstance(row.seq, int) else expected
            yield Flaw(where, f"message {row.seq} does not belong here")
            continue
        if row.seq != expected:
            yield Flaw(expected, _missing(expected, row.seq - 1))
        computed = tuple(link_raw(previous, row) for previous in trusted)
        if row.hash in computed:
            trusted = (row.hash,)
        else:
            if row.seq == expected:
                kind = row.kind.decode(errors="replace")
                yield Flaw(row.seq, f"message {row.seq} ({kind}) was altered")
            # The next message was chained to this one's true hash: either the stored hash is true
            # (then the content was altered) or a recomputed one is (then the hash was).
            trusted = (row.hash, *computed)[:MOST_TRUSTED]
        expected = row.seq + 1
        last = row.hash
    if expected <= thread.head:
        yield Flaw(expected, _missing(expected, thread.head))
    elif last != thread.head_hash and expected == thread.head + 1:
        yield Flaw(thread.head, "the thread's record does not match its last message")
    elif expected > thread.head + 1:
        yield Flaw(thread.head + 1, f"messages after {thread.head} were added from outside")


def _missing(first: int, last: int) -> str:
    if first >= last:
        return f"message {first} is missing"
    return f"messages {first} to {last} are missing"
