"""Following threads: what is stored and what is broadcast, in one order, whoever runs them."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from itertools import islice
from weakref import WeakValueDictionary

from steersman.bus import Bus, Joined, Missed
from steersman.hands import Hands
from steersman.host.newsroom import Newsroom
from steersman.records.message import Message
from steersman.store.contract import Store
from steersman.store.log import read_messages

PAGE = 100  # messages read at a time
WHOLE = ("assistant", "tool_result")  # what streamed pieces lead to


class Page(list[Message]):
    """Messages that were read; all readers that are at the same place have the same."""


class Following:
    """All readers of one host."""

    def __init__(self, store: Store, bus: Bus, newsroom: Newsroom) -> None:
        self._store = store
        self._bus = bus
        self._newsroom = newsroom
        self._reading = Hands(1, "reading")
        self._pages: WeakValueDictionary[tuple[str, int], Page] = WeakValueDictionary()

    def close(self) -> None:
        """Nothing is read any more."""
        self._reading.shutdown()

    async def watch(
        self, thread_id: str, after: int = 0
    ) -> AsyncGenerator[Message | Joined | Missed, None]:
        """See `Host.watch`."""
        whole = datetime.min.replace(tzinfo=UTC)  # pieces before it led to what was shown
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
                            for piece in news.pieces(until=message.time):
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
