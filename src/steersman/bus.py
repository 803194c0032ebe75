"""In-process publish and subscribe: ordered per thread, bounded, and never waiting for a reader.

A reader that falls behind learns which stored messages it missed; the log has them all.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Collection
from datetime import datetime
from types import TracebackType

import msgspec
from msgspec import Struct

from steersman.records.message import Message
from steersman.records.thread import EVERY

PARTIAL = frozenset({"assistant_delta", "reasoning_delta"})
WHOLE = frozenset({"assistant", "error", "turn_end", "session_end"})  # after these it is over


class Joined(Struct, frozen=True):
    """From here on a reader hears what is broadcast; `partial` is what they missed of it."""

    partial: list[Message]


class Missed(Struct, frozen=True):
    """The reader was too slow: these stored messages went by. `dropped` counts broadcasts too."""

    first: int
    last: int
    dropped: int


class _Piece(Struct):
    """A broadcast in a queue; `by`: it was there at this moment, though its own may be later."""

    number: int
    message: Message
    by: datetime


class Subscription:
    """One reader's bounded window on a thread; iterate it, leave the `with` block to end it."""

    def __init__(self, bus: Bus, thread: str, capacity: int) -> None:
        self._bus = bus
        self._thread = thread
        self._capacity = capacity
        self._queue: OrderedDict[int, Message | Missed] = OrderedDict()
        self._count = 0
        self._pieces: dict[str, deque[_Piece]] = {}  # the broadcasts among them
        self._gap: Missed | None = None
        self._wake = asyncio.Event()
        self._closed = False

    def offer(self, message: Message) -> None:
        """Take a message if there is room, else remember that it went by."""
        if self._gap is None and len(self._queue) < self._capacity:
            self._put(message)
        else:
            gap = self._gap or Missed(first=0, last=0, dropped=0)
            self._gap = Missed(
                first=gap.first or message.seq,
                last=message.seq or gap.last,
                dropped=gap.dropped + 1,
            )
        self._wake.set()

    def nudge(self) -> None:
        """Something was stored that was not published here: the log has it.

        It takes its place among the messages, so that broadcasts after it are not lost.
        """
        last = self._queue[next(reversed(self._queue))] if self._queue else None
        if self._gap is None and not isinstance(last, Missed):
            self._put(Missed(first=0, last=0, dropped=0))
        self._wake.set()

    def _put(self, item: Message | Missed) -> None:
        self._count += 1
        self._queue[self._count] = item
        if isinstance(item, Message) and not item.seq:
            waiting = self._pieces.setdefault(item.thread, deque())
            for earlier in reversed(waiting):
                if item.time >= earlier.by:
                    break
                earlier.by = item.time  # the clock was set back
            waiting.append(_Piece(self._count, item, item.time))

    def pieces(self, whole: Message) -> list[Message]:
        """Take out what was broadcast in a thread before a message of it."""
        taken = []
        waiting = self._pieces.get(whole.thread, ())
        while waiting and waiting[0].by <= whole.time:
            taken.append(waiting[0].message)
            self._take(waiting[0].number)
        return taken

    def _take(self, number: int) -> Message | Missed:
        item = self._queue.pop(number)
        if isinstance(item, Message) and not item.seq:
            waiting = self._pieces[item.thread]
            waiting.popleft()  # they are in the same order
            if not waiting:
                del self._pieces[item.thread]
        return item

    async def next(self) -> Message | Missed | None:
        """The next message, a notice of what was missed, or None when the thread was closed."""
        while not self._queue and self._gap is None:
            if self._closed:
                return None
            self._wake.clear()
            await self._wake.wait()
        if self._queue:
            return self._take(next(iter(self._queue)))
        gap, self._gap = self._gap, None
        return gap

    def close(self) -> None:
        """Stop receiving; what is already here can still be read."""
        self._closed = True
        self._bus.remove(self._thread, self)
        self._wake.set()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()


class Bus:
    """Hands each published message to every subscription of its thread, in order.

    Where it `keeps` the text of answers that are not whole yet, whoever joins gets it.
    """

    def __init__(self) -> None:
        self._readers: dict[str, list[Subscription]] = {}
        self._partial: dict[str, dict[tuple[str, str], list[Message]]] = {}
        self.keeps = False
        self.stored = 0  # grows whenever something was stored, here or elsewhere
        self.listeners: list[Callable[[Message], None]] = []  # hear all that is published

    def publish(self, message: Message) -> None:
        """Deliver now or mark as missed; never waits."""
        if self.keeps:
            self._keep(message)
        for hear in self.listeners:
            hear(message)
        self.stored += message.seq > 0
        for name in (message.thread, EVERY):
            for reader in self._readers.get(name, ()):
                reader.offer(message)

    def partial(self, thread: str) -> list[Message]:
        """What was broadcast of answers that are not whole yet: a message for each kind."""
        threads = list(self._partial) if thread == EVERY else [thread]
        found = (kept for one in threads for kept in self._partial.get(one, {}).values())
        return [_together(pieces) for pieces in found]

    def forget(self, runs: Callable[[str], bool], stored: Collection[str] | None) -> None:
        """Other processes have stored something, in these threads or in any: texts are whole."""
        over = [one for one in self._partial if stored is None or one in stored]
        for thread in over:
            if not runs(thread):
                del self._partial[thread]

    def _keep(self, message: Message) -> None:
        if message.kind in PARTIAL:
            kept = self._partial.setdefault(message.thread, {})
            kept.setdefault((message.kind, message.path), []).append(message)
        elif message.kind in WHOLE:
            self._partial.pop(message.thread, None)

    def subscribe(self, thread: str, capacity: int = 1024) -> Subscription:
        """Start receiving what is published for a thread from now on."""
        reader = Subscription(self, thread, capacity)
        self._readers.setdefault(thread, []).append(reader)
        return reader

    def remove(self, thread: str, reader: Subscription) -> None:
        """Forget a subscription."""
        readers = self._readers.get(thread, [])
        if reader in readers:
            readers.remove(reader)
        if not readers:
            self._readers.pop(thread, None)

    def nudge(self, thread: str) -> None:
        """Tell every reader of a thread to look into the log."""
        self.stored += 1
        for reader in self._readers.get(thread, ()):
            reader.nudge()

    def read(self) -> set[str]:
        """The threads that have readers."""
        return set(self._readers)

    def end(self, thread: str) -> None:
        """Tell every reader of a thread that nothing more will come."""
        for reader in list(self._readers.get(thread, ())):
            reader.close()


def _together(pieces: list[Message]) -> Message:
    """Pieces as one; they stay together."""
    last = pieces[-1]
    text = "".join(getattr(one.body, "text", "") for one in pieces)
    whole = msgspec.structs.replace(last, body=msgspec.structs.replace(last.body, text=text))
    pieces[:] = [whole]
    return whole
