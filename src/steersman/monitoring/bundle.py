"""A thread as a file: one header line, then every message with its hash, exactly as stored."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import Raw, Struct

from steersman.errors import UsageProblem
from steersman.store.chain import GENESIS, link_row
from steersman.store.records import Row, Store, Thread


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file is about."""

    steersman_thread: Literal[1]
    thread: Thread


class Entry(Struct, frozen=True):
    """One message; `body` is kept byte for byte, since the hash covers it."""

    seq: int
    time: str
    turn: int
    kind: str
    path: str
    corr: str | None
    body: Raw
    hash: bytes


def export_lines(thread: Thread, rows: Iterable[Row]) -> Iterator[bytes]:
    """The lines of the file."""
    yield msgspec.json.encode(Header(1, thread))
    for row in rows:
        entry = Entry(
            row.seq, row.time, row.turn, row.kind, row.path, row.corr, Raw(row.body), row.hash
        )
        yield msgspec.json.encode(entry)


def import_lines(store: Store, lines: Iterable[bytes]) -> Thread:
    """Put a thread from a file into the store, under its own id, if every hash is right."""
    stream = iter(lines)
    try:
        header = msgspec.json.decode(next(stream, b""), type=Header)
        rows = list(_checked(stream))
    except msgspec.DecodeError as error:
        raise UsageProblem("This is not an exported thread.", str(error)) from error
    if len(rows) != header.thread.head:
        raise UsageProblem(
            "The file is incomplete.",
            f"It has {len(rows)} of {header.thread.head} messages.",
            "Export the thread again.",
        )
    if store.thread(header.thread.id) is not None:
        raise UsageProblem(
            f"Thread {header.thread.id} is already here.",
            "Nothing was changed.",
            f"To replace it, remove it first: steer threads rm {header.thread.id}",
        )
    store.create_thread(header.thread)
    store.append(header.thread.id, rows, sync=True)
    return header.thread


def _checked(lines: Iterable[bytes]) -> Iterator[Row]:
    previous = GENESIS
    for line in lines:
        entry = msgspec.json.decode(line, type=Entry)
        row = Row(
            entry.seq, entry.time, entry.turn, entry.kind, entry.path, entry.corr,
            bytes(entry.body), entry.hash,
        )  # fmt: skip
        previous = link_row(previous, row)
        if previous != row.hash:
            raise UsageProblem(
                f"Message {row.seq} of the file was altered.", "Nothing was imported."
            )
        yield row
