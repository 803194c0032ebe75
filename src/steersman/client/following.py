"""Where a reader of events is, and how it continues when the connection breaks. Pure."""

import random
import time
from collections.abc import Callable, Iterator

from steersman.client.connecting import endless
from steersman.records.errors import SteersmanError
from steersman.records.message import Message, decode_message

SILENT = 25.0  # seconds without even a heartbeat after which a connection is given up
LARGEST = 16 << 20  # bytes of one event
FIRST, LONGEST = 0.25, 10.0  # seconds before connecting again
# What a thread says when it does something else, or asks for something.
TURNING = frozenset({"turn_end", "session_end", "confirm_request", "question"})


class Placed(Message, frozen=True):
    """A message of any thread, and its place among those of all; 0 if it is not stored."""

    position: int = 0


class Retries:
    """How long to wait before the next try; after `patience` seconds of failing it is over."""

    def __init__(self, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience = patience
        self._clock = clock
        self._since: float | None = None
        self._next = FIRST

    def worked(self) -> None:
        """It works again."""
        self._since, self._next = None, FIRST

    def pause(self, why: "str | SteersmanError") -> float:
        """Seconds to wait; when it is over, the server's own words are raised if there are any."""
        now = self._clock()
        self._since = now if self._since is None else self._since
        if now - self._since >= self._patience:
            if isinstance(why, SteersmanError):
                raise why
            raise SteersmanError(
                "The server does not answer.", why, "Look whether `steer serve` still runs."
            )
        wait, self._next = self._next, min(self._next * 2, LONGEST)
        return wait * random.uniform(0.5, 1.0)


class Following:
    """The messages in a stream of server-sent events, each stored one once and in order.

    `live` ones, which are broadcast and not stored, come as they do. Without a `thread` they are
    those of all threads.
    """

    def __init__(
        self, thread: str | None, after: int, retries: Retries, *, live: bool = False
    ) -> None:
        self.thread = thread
        self.after = after
        self._retries = retries
        self._live = live
        self._rest = b""

    def pause(self, why: str) -> float:
        """Seconds to wait before connecting again."""
        return self._retries.pause(why)

    def connected(self) -> None:
        """A new stream begins."""
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages in the next bytes; lines end with `\\n` alone, whatever is in them."""
        *frames, self._rest = (self._rest + data).split(b"\n\n")
        if len(self._rest) > LARGEST:
            raise endless()
        for frame in frames:
            self._retries.worked()
            fields = dict(_field(line) for line in frame.split(b"\n"))
            event, place = fields.get(b"event"), int(fields.get(b"id", 0))
            if event == b"delta" and self._live:
                yield self._message(fields[b"data"], 0)
            elif place > self.after:
                self.after = place
                if event == b"message":
                    yield self._message(fields[b"data"], place)

    def _message(self, data: bytes, place: int) -> Message:
        message = decode_message(data)
        if self.thread is not None:
            return message
        fields = {name: getattr(message, name) for name in message.__struct_fields__}
        return Placed(**fields, position=place)


def _field(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b":")
    return name, value.removeprefix(b" ")
