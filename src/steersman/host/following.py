"""Following threads: what is stored and what is broadcast, in one order, whoever runs them."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from itertools import islice
from weakref import WeakValueDictionary

from msgspec import Struct

from steersman.bus import Bus, Joined, Missed
from steersman.hands import Hands
from steersman.host.newsroom import Newsroom
from steersman.records.errors import StorageProblem
from steersman.records.message import Message
from steersman.records.thread import EVERY
from steersman.store.contract import PlacedRow, Store
from steersman.store.log import read_messages, to_message

PAGE = 100  # messages read at a time
WHOLE = ("assistant", "tool_result")  # what streamed pieces lead to
AGAIN = 0.05  # seconds until messages that were about to be stored may be
NEVER = datetime.min.replace(tzinfo=UTC)


class Page(list[Message]):
    """Messages that were read; all readers that are at the same place have the same."""


class Positioned(Struct, frozen=True):
    """A message at its place among those of all threads, or why it cannot be read."""

    position: int
    thread: str
    workspace: str
    message: Message | None
    problem: str = ""


class PositionedPage(list[Positioned]):
    """The same for messages of all threads; `more` may be about to appear."""

    more = False


class Following:
    """All readers of one host."""

    def __init__(self, store: Store, bus: Bus, newsroom: Newsroom) -> None:
        self._store = store
        self._bus = bus
        self._newsroom = newsroom
        self._reading = Hands(1, "reading")
        self._pages: WeakValueDictionary[tuple[str, int], Page] = WeakValueDictionary()
        self._places: WeakValueDictionary[int, PositionedPage] = WeakValueDictionary()
        self._end = (-1, -1)  # the last position, and how much had been stored then

    def close(self) -> None:
        """Nothing is read any more."""
        self._reading.shutdown()

    async def watch(
        self, thread_id: str, after: int = 0
    ) -> AsyncGenerator[Message | Joined | Missed, None]:
        """See `Host.watch`."""
        whole = NEVER  # pieces before it led to what was shown
        with self._bus.subscribe(thread_id) as news:
            partial = self._bus.partial(thread_id) if self._bus.keeps else []
            joined = False
            item: Message | Missed | None = Missed(first=0, last=0, dropped=0)
            while item is not None:
                if isinstance(item, Missed) or item.seq > after + 1:
                    while page := await self._page(thread_id, after):
                        # Pieces set out before what they lead to was stored: they are here.
                        self._newsroom.catch_up()
                        for message in page:
                            for piece in news.pieces(message):
                                if not joined:  # what it continues comes first
                                    joined = True
                                    yield Joined([one for one in partial if one.time > whole])
                                yield piece
                            after = message.seq
                            whole = message.time if message.kind in WHOLE else whole
                            yield message
                    if isinstance(item, Missed) and item.dropped:
                        yield item
                elif item.seq > after or (item.seq == 0 and item.time > whole):
                    after = max(after, item.seq)
                    yield item
                if not joined:
                    joined = True
                    yield Joined([one for one in partial if one.time > whole])
                item = await news.next()

    async def watch_all(
        self, after: int = 0
    ) -> AsyncGenerator[Positioned | Message | Joined | Missed, None]:
        """See `Host.watch_all`."""
        whole: dict[str, datetime] = {}
        with self._bus.subscribe(EVERY) as news:
            partial = self._bus.partial(EVERY)
            joined = False
            item: Message | Missed | None = Missed(first=0, last=0, dropped=0)
            while item is not None:
                if isinstance(item, Missed) or item.seq:
                    while page := await self._positions(after):
                        self._newsroom.catch_up()
                        for one in page:
                            message = one.message
                            for piece in news.pieces(message) if message else ():
                                yield piece
                            if message and message.kind in WHOLE:
                                whole[one.thread] = message.time
                            after = one.position
                            yield one
                    if page.more:
                        asyncio.get_running_loop().call_later(AGAIN, news.nudge)
                    if isinstance(item, Missed) and item.dropped:
                        yield item
                elif item.time > whole.get(item.thread, NEVER):
                    yield item
                if not joined:
                    joined = True
                    yield Joined([p for p in partial if p.time > whole.get(p.thread, NEVER)])
                item = await news.next()

    async def _positions(self, after: int) -> PositionedPage:
        """The same for all threads; that nothing followed is found out once for all readers."""
        stored = self._bus.stored
        if self._end == (after, stored):
            return PositionedPage()

        def read() -> PositionedPage:
            page = self._places.get(after)
            if page is None:
                found = self._store.positions(after, PAGE)
                page = PositionedPage(map(_positioned, found.messages))
                page.more = found.more
                if page:
                    self._places[after] = page
            return page

        page = await asyncio.get_running_loop().run_in_executor(self._reading, read)
        if not (page or page.more):
            self._end = (after, stored)
        return page

    async def _page(self, thread_id: str, after: int) -> Page:
        """Messages after one, read beside the loop and for one reader at a time.

        What one of them still has is not read again for another: more may follow it by now, but
        nothing in it can have changed. Only that nothing followed is always found out again.
        """

        def read() -> Page:
            if (page := self._pages.get((thread_id, after))) is None:
                page = Page(islice(read_messages(self._store, thread_id, after=after), PAGE))
                if page:
                    self._pages[thread_id, after] = page
            return page

        return await asyncio.get_running_loop().run_in_executor(self._reading, read)


def _positioned(one: PlacedRow) -> Positioned:
    try:
        message = to_message(one.thread, one.row)
    except StorageProblem as problem:  # all other threads go on
        return Positioned(one.position, one.thread, one.workspace, None, problem.what)
    return Positioned(one.position, one.thread, one.workspace, message)
