"""Which items were sent and received on a line, whatever connections come and go. Pure.

Each side numbers what it sends from 1, keeps it until the other has it, and sends it again on the
next connection; what comes twice is dropped. So every item arrives exactly once and in order.
"""

from collections import deque
from collections.abc import Iterator

from steersman.threads.remote.frames import Garbled


class Sent:
    """What the other side does not have for certain, in order."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, bytes]] = deque()
        self._last = 0
        self._next = 1  # to be sent on the present connection
        self.size = 0  # bytes that are kept

    def add(self, payload: bytes) -> None:
        """Keep something that is to be sent."""
        self._last += 1
        self._kept.append((self._last, payload))
        self.size += len(payload)

    def acknowledged(self, received: int) -> None:
        """The other side has everything up to a number."""
        if received > self._last:
            raise Garbled("The other side has received what was never sent.")
        while self._kept and self._kept[0][0] <= received:
            self.size -= len(self._kept.popleft()[1])
        self._next = max(self._next, received + 1)

    def again(self, received: int) -> None:
        """A new connection to a side that has everything up to a number."""
        first = self._kept[0][0] if self._kept else self._last + 1
        if received < first - 1:
            raise Garbled("The other side has forgotten what it had received.")
        self.acknowledged(received)
        self._next = received + 1

    def pending(self) -> Iterator[tuple[int, bytes]]:
        """What has not been sent on this connection; as it is taken, it counts as sent."""
        while self._next <= self._last:
            number, payload = self._kept[self._next - self._kept[0][0]]
            self._next = number + 1
            yield number, payload


class Received:
    """How much came from the other side."""

    def __init__(self) -> None:
        self.count = 0

    def take(self, number: int) -> bool:
        """Whether an item is new; one that came before is not."""
        if number > self.count + 1:
            raise Garbled("Something was lost on the line.")
        if number <= self.count:
            return False
        self.count = number
        return True
