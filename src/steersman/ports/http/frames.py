"""What readers of the log get: a frame for each message, encoded once for all of them."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from steersman.host.following import Positioned
from steersman.records.message import Message, encode_message

SHARED = 64  # frames that are kept for readers that are not as far


class Frame(Struct, frozen=True, omit_defaults=True):
    """One frame: `id` is the place of a stored message in its thread, `position` among all.

    Events: `message` (stored), `delta` (broadcast, not stored), `partial` (the text so far of an
    answer, for who joins in the middle), `gap` (something that was broadcast was missed),
    `heartbeat`, `closing` (the server stops), `position` (nothing for this reader up to here).
    """

    event: str
    data: Raw
    thread: str = ""
    id: int = 0
    position: int = 0

    def sse(self) -> bytes:
        """The frame as server-sent event."""
        at = self.position or self.id
        place = b"id: %d\n" % at if at else b""
        return b"%sevent: %s\ndata: %s\n\n" % (place, self.event.encode(), bytes(self.data))


def plain(event: str, thread: str = "", position: int = 0, **data: Any) -> Frame:
    """A frame about the stream itself."""
    return Frame(event, Raw(msgspec.json.encode(data)), thread, 0, position)


class Encoder:
    """Frames of messages; one that goes to many readers is made once."""

    def __init__(self) -> None:
        self._last: tuple[Message, Frame] | None = None
        self._placed: dict[int, Frame] = {}

    def frame(self, message: Message) -> Frame:
        """A message as a frame."""
        if self._last is not None and self._last[0] is message:
            return self._last[1]
        event = "message" if message.seq else "delta"
        made = Frame(event, Raw(encode_message(message)), message.thread, message.seq)
        self._last = (message, made)
        return made

    def placed(self, one: Positioned) -> Frame:
        """A message of any thread as a frame."""
        made = self._placed.get(one.position)
        if made is None:
            if one.message is None:
                made = plain("problem", one.thread, one.position, what=one.problem)
            else:
                data = Raw(encode_message(one.message))
                made = Frame("message", data, one.thread, one.message.seq, one.position)
            if len(self._placed) >= SHARED:
                del self._placed[next(iter(self._placed))]
            self._placed[one.position] = made
        return made

    def partial(self, message: Message) -> Frame:
        """The text so far."""
        return Frame("partial", Raw(encode_message(message)), message.thread)
