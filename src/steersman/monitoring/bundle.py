"""A thread as a file: one header line, then every message with its hash, exactly as stored, then
the images that its messages name."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from steersman.records import validation
from steersman.records.counting import counted
from steersman.records.errors import UsageProblem
from steersman.records.message import User
from steersman.records.thread import IMPORTED, Thread
from steersman.store.chain import GENESIS, link_row
from steersman.store.contract import Row, Store, moment

Number = Annotated[int, Meta(ge=0, le=2**62)]
_IMAGE = re.compile(r'"digest":"([0-9a-f]{64})"')
_ID = re.compile(r"[0-9A-Za-z_]{1,64}")  # with a hyphen it could be a lock of the host


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file is about."""

    steersman_thread: Literal[1]
    thread: Thread


class Entry(Struct, frozen=True):
    """One message; `body` is kept byte for byte, since the hash covers it."""

    seq: Number
    time: str
    turn: Number
    kind: str
    path: str
    corr: str | None
    body: Raw
    hash: bytes


class Picture(Struct, frozen=True):
    """An image, after the messages."""

    image: bytes


_PICTURE = msgspec.json.encode(Picture(b""))[:9]  # how such a line begins


def export_lines(
    thread: Thread, rows: Iterable[Row], blob: Callable[[str], bytes | None]
) -> Iterator[bytes]:
    """The lines of the file."""
    yield msgspec.json.encode(Header(1, thread))
    named: dict[str, None] = {}
    for row in rows:
        if row.kind == User.kind:
            named |= dict.fromkeys(_IMAGE.findall(row.body.decode(errors="replace")))
        entry = Entry(
            row.seq, row.time, row.turn, row.kind, row.path, row.corr, Raw(row.body), row.hash
        )
        yield msgspec.json.encode(entry)
    for digest in named:
        if data := blob(digest):
            yield msgspec.json.encode(Picture(data))


def import_lines(store: Store, lines: Iterable[bytes]) -> Thread:
    """Put a thread from a file into the store, under its own id, if every hash is right."""
    stream = iter(lines)
    try:
        header = msgspec.json.decode(next(stream, b""), type=Header)
        images: list[bytes] = []
        rows = list(_checked(stream, images))
    except (msgspec.DecodeError, ValueError) as error:
        raise UsageProblem("This is not an exported thread.", validation.sentence(error)) from error
    _check_header(header.thread, rows)
    if store.thread(header.thread.id) is not None:
        raise UsageProblem(
            f"Thread {header.thread.id} is already here.",
            "Nothing was changed.",
            f"To replace it, remove it first: steer threads rm {header.thread.id}",
        )
    thread = msgspec.structs.replace(header.thread, origin=IMPORTED)
    _put(store, images)
    store.create_thread(thread)
    try:
        store.append(thread.id, rows, sync=True)
        _put(store, images)  # until a message named them, `steer store gc` could remove them
    except BaseException:
        store.delete_thread(thread.id)
        raise
    return thread


def _put(store: Store, images: Iterable[bytes]) -> None:
    for image in images:
        store.put_blob(image)


def _check_header(thread: Thread, rows: list[Row]) -> None:
    """The header must belong to the messages, and its id must be one that could be made here."""
    if not _ID.fullmatch(thread.id):
        raise UsageProblem("The thread id in the file is not valid.", thread.id)
    if len(rows) != thread.head or (rows[-1].hash if rows else GENESIS) != thread.head_hash:
        raise UsageProblem(
            "The file is incomplete.",
            f"It has {counted(len(rows), 'message')}; its first line says {thread.head}.",
            "Export the thread again.",
        )


def _checked(lines: Iterable[bytes], images: list[bytes]) -> Iterator[Row]:
    previous = GENESIS
    for number, line in enumerate(lines, 1):
        if line.startswith(_PICTURE):
            images.append(msgspec.json.decode(line, type=Picture).image)
            continue
        entry = msgspec.json.decode(line, type=Entry)
        if entry.seq != number:
            raise UsageProblem(f"Message {number} of the file is missing.", "Nothing was imported.")
        moment(entry.time)
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
