"""What goes over a line between a host and the agent beside the code, as bytes.

A frame is its length and a record. `Item` is numbered and kept until the other side has it;
everything else is said once.
"""

import struct
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from steersman.records.errors import SteersmanError

PROTOCOL = 2
LARGEST = 64 * 1024 * 1024  # bytes of what is asked, answered or told
PIECE = 256 * 1024  # bytes of it in one item: of a slow line that is cut, little is sent again
_LENGTH = struct.Struct(">I")


class Hello(Struct, frozen=True, tag="hello", array_like=True):
    """The first frame of a connection, both ways: which line it continues, what was received.

    `line` is empty where an agent does not know the line that it was asked to continue.
    """

    line: str
    received: int = 0
    protocol: int = PROTOCOL
    version: str = ""
    can: tuple[str, ...] = ()
    problem: str = ""


class Item(Struct, frozen=True, tag="item", array_like=True):
    """Something that is delivered exactly once, in order; with how much was received."""

    number: int
    received: int
    payload: Raw


class Ack(Struct, frozen=True, tag="ack", array_like=True):
    """How much was received, said by itself; also the heartbeat of an idle line."""

    received: int


class Bye(Struct, frozen=True, tag="bye", array_like=True):
    """The line is over and is not taken up again."""

    what: str = ""
    why: str = ""
    try_this: str = ""


class Request(Struct, frozen=True, tag="request", array_like=True):
    """Something to be done and answered."""

    id: int
    method: str
    body: Raw


class Reply(Struct, frozen=True, tag="reply", array_like=True):
    """The answer to a request."""

    id: int
    body: Raw


class Failed(Struct, frozen=True, tag="failed", array_like=True):
    """Why a request was not done."""

    id: int
    kind: str
    what: str
    why: str = ""
    try_this: str = ""


class Stop(Struct, frozen=True, tag="stop", array_like=True):
    """A request is not wanted any more; it is answered anyway."""

    id: int


class Note(Struct, frozen=True, tag="note", array_like=True):
    """Something to know, without an answer."""

    method: str
    body: Raw


class Part(Struct, frozen=True, tag="part", array_like=True):
    """A part of one of the others, which is too large for one item; the others follow it."""

    data: bytes
    last: bool


Frame = Hello | Item | Ack | Bye
Payload = Request | Reply | Failed | Stop | Note | Part
encode = msgspec.msgpack.Encoder().encode
_frames: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)
_payloads: msgspec.msgpack.Decoder[Payload] = msgspec.msgpack.Decoder(Payload)


class Garbled(SteersmanError):
    """What came over a line is not what an agent or a host says."""


class TooLarge(SteersmanError):
    """What was to be said is more than a line carries."""


def packed(value: Any) -> Raw:
    """A record as a part of another."""
    return Raw(encode(value))


def fitting(value: Any, name: str) -> Raw:
    """A record as a part of another, where it can be sent; `name` begins the sentence if not."""
    data = encode(value)
    if len(data) > LARGEST:
        raise TooLarge(
            f"{name} is too large for the line to the workspace.",
            f"It is {len(data) >> 20} MiB, and {LARGEST >> 20} MiB is the most.",
        )
    return Raw(data)


def pieces(payload: Payload) -> Iterator[bytes]:
    """A payload as the items that carry it: mostly one."""
    data = encode(payload)
    if len(data) <= PIECE:
        yield data
        return
    for at in range(0, len(data), PIECE):
        yield encode(Part(data[at : at + PIECE], last=at + PIECE >= len(data)))


def framed(frame: Frame) -> bytes:
    """A frame as it is sent."""
    data = encode(frame)
    return _LENGTH.pack(len(data)) + data


def frame_of(data: bytes) -> Frame:
    """A frame from its bytes, without the length."""
    try:
        return _frames.decode(data)
    except msgspec.DecodeError as error:
        raise Garbled("The other side said something that is no frame.", str(error)) from error


def payload_of(data: Raw | bytes) -> Payload:
    """What an item carries, or several together."""
    try:
        return _payloads.decode(data)
    except msgspec.DecodeError as error:
        raise Garbled("The other side said something unknown.", str(error)) from error


def length_of(head: bytes) -> int:
    """How long the frame is that begins with these four bytes."""
    (length,) = _LENGTH.unpack(head)
    if length > 2 * PIECE:
        raise Garbled("The other side does not speak as a workspace agent does.")
    return int(length)
