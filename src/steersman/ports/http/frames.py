"""What readers of the log get: a frame for each message, encoded once for all of them."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from steersman.records.message import Message, encode_message


class Frame(Struct, frozen=True, omit_defaults=True):
    """One frame: `id` is the place of a stored message in its thread.

    Events: `message` (stored), `delta` (broadcast, not stored), `partial` (the text so far of an
    answer, for who joins in the middle), `gap` (something that was broadcast was missed),
    `heartbeat`, `closing` (the server stops).
    """

    event: str
    data: Raw
    thread: str = ""
    id: int = 0

    def sse(self) -> bytes:
        """The frame as server-sent event."""
        place = b"id: %d\n" % self.id if self.id else b""
        return b"%sevent: %s\ndata: %s\n\n" % (place, self.event.encode(), bytes(self.data))


def plain(event: str, thread: str = "", **data: Any) -> Frame:
    """A frame about the stream itself."""
    return Frame(event, Raw(msgspec.json.encode(data)), thread)


class Encoder:
    """Frames of messages; one that goes to many readers is made once."""

    def __init__(self) -> None:
        self._last: tuple[Message, Frame] | None = None

    def frame(self, message: Message) -> Frame:
        """A message as a frame."""
        if self._last is not None and self._last[0] is message:
            return self._last[1]
        event = "message" if message.seq else "delta"
        made = Frame(event, Raw(encode_message(message)), message.thread, message.seq)
        self._last = (message, made)
        return made

    def partial(self, message: Message) -> Frame:
        """The text so far."""
        return Frame("partial", Raw(encode_message(message)), message.thread)
