"""Live pieces for readers in other processes: joined, at most ten times a second, never stored."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime

import msgspec
from msgspec import Struct

from steersman.records.message import (
    AssistantDelta,
    Body,
    Message,
    Progress,
    ReasoningDelta,
    ToolProgress,
    decode_body,
    encode_body,
)

EVERY = 0.1  # seconds
MOST = 64_000  # bytes a kind and lane may gather before the beginning is dropped
LIVE = frozenset({"assistant_delta", "reasoning_delta", "tool_progress", "progress"})
Texts = AssistantDelta | ReasoningDelta | ToolProgress


class Piece(Struct, frozen=True, omit_defaults=True):
    """A message that is not stored, as it travels."""

    time: datetime
    kind: str
    path: str
    body: msgspec.Raw
    turn: int = 0
    corr: str | None = None


class LivePieces:
    """Gathers what a thread shows and hands it on: at once, or with what comes within `EVERY`.

    `wanted` shows whether anyone would see it now.
    """

    def __init__(self, send: Callable[[bytes], None], wanted: Callable[[], bool]) -> None:
        self._send = send
        self._wanted = wanted
        self._gathered: dict[tuple[str, str, str | None], Message] = {}
        self._timer: asyncio.TimerHandle | None = None

    def show(self, message: Message) -> None:
        """Take a piece, if anyone wants it."""
        if self._timer is None and not self._wanted():
            return
        key = (message.kind, message.path, message.corr)
        before = self._gathered.get(key)
        self._gathered[key] = _joined(before, message) if before else message
        if self._timer is None:
            self._hand_on()

    def flush(self) -> bytes:
        """The pieces that have not been handed on, which are now."""
        gathered, self._gathered = self._gathered, {}
        return encode(gathered.values()) if gathered else b""

    def close(self) -> None:
        """Hand nothing on any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._gathered.clear()

    def _hand_on(self) -> None:
        self._timer = None
        if pieces := self.flush():
            self._send(pieces)
            self._timer = asyncio.get_running_loop().call_later(EVERY, self._hand_on)


def _joined(before: Message, after: Message) -> Message:
    body: Body = after.body
    if isinstance(body, Texts) and isinstance(before.body, Texts):
        body = msgspec.structs.replace(body, text=(before.body.text + body.text)[-MOST:])
    elif isinstance(body, Progress):
        body = after.body
    return msgspec.structs.replace(after, body=body)


def encode(messages: Iterable[Message]) -> bytes:
    """Pieces as bytes."""
    pieces = [
        Piece(m.time, m.kind, m.path, msgspec.Raw(encode_body(m.body)), m.turn, m.corr)
        for m in messages
    ]
    return msgspec.json.encode(pieces)


def decode(thread_id: str, data: bytes) -> list[Message]:
    """Pieces from bytes; what is none of ours is passed over."""
    try:
        pieces = msgspec.json.decode(data, type=list[Piece])
        return [
            Message(
                thread_id, 0, p.time, p.turn, p.kind, p.path, p.corr, decode_body(p.kind, p.body)
            )
            for p in pieces
            if p.kind in LIVE and p.time.tzinfo
        ]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return []
