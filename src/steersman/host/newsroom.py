"""What other processes do, heard once for the whole host and passed on to whom it concerns."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from steersman.bus import Bus
from steersman.records.errors import StorageProblem
from steersman.records.thread import EVERY
from steersman.store.contract import LEASE, Heard, News, Store
from steersman.threads.live import decode

PAUSE = 1.0  # seconds before listening again where the store cannot be reached


class Newsroom:
    """Listens to the store, and says that this process is alive as long as it holds threads.

    `runs` shows whether this process runs a thread.
    """

    def __init__(self, store: Store, bus: Bus, runs: Callable[[str], bool]) -> None:
        self._lost: dict[str, Callable[[], None]] = {}
        self._store = store
        self._bus = bus
        self._runs = runs
        self._mail: dict[str, Callable[[], None]] = {}
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._listening = asyncio.Event()
        self._news: News | None = None

    async def open(self) -> None:
        """Begin to listen, if that has not begun."""
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._listen(), name="news"),
                asyncio.create_task(self._stay_alive(), name="leases"),
            ]
        await self._listening.wait()

    async def close(self) -> None:
        """Stop listening."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []

    def deliver(self, thread_id: str, wake: Callable[[], None], lost: Callable[[], None]) -> None:
        """Call `wake` when something may have come for a thread that runs here.

        `lost` is called when another process has taken it over.
        """
        self._mail[thread_id] = wake
        self._lost[thread_id] = lost

    def wake(self, thread_id: str) -> None:
        """Something was asked of a thread by this process itself."""
        if (wake := self._mail.get(thread_id)) is not None:
            wake()

    def happened(self, thread_id: str) -> None:
        """This process did something in a thread: the store says so only to others."""
        for event in self._waiting.get(thread_id, ()):
            event.set()
        self._bus.nudge(EVERY)

    def stop_delivery(self, thread_id: str) -> None:
        """The thread is not run here any more."""
        self._mail.pop(thread_id, None)
        self._lost.pop(thread_id, None)

    def catch_up(self) -> None:
        """Pass on at once what has arrived."""
        if self._news is not None:
            self._pass_on(self._news.heard())

    async def change(self, thread_id: str, seconds: float | None = None) -> None:
        """Wait until something happened to a thread, or may have; at most so many seconds."""
        event = asyncio.Event()
        self._waiting.setdefault(thread_id, set()).add(event)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()
        finally:
            self._waiting[thread_id].discard(event)

    async def _listen(self) -> None:
        while True:
            try:
                async with self._store.news() as news:
                    self._news = news
                    self._listening.set()
                    while True:
                        self._pass_on(await news.next())
            except StorageProblem:
                self._listening.set()
                await asyncio.sleep(PAUSE)
            finally:
                self._news = None

    async def _stay_alive(self) -> None:
        while True:
            await asyncio.sleep(LEASE / 3)
            with suppress(StorageProblem):  # append says what a lost store or lease means
                for name in await asyncio.to_thread(self._store.renew):
                    if (lost := self._lost.pop(name, None)) is not None:
                        lost()

    def _pass_on(self, heard: Heard) -> None:
        known = {*self._mail, *self._waiting, *self._bus.read()}
        self._bus.forget(self._runs, heard.threads)
        # Pieces are shown before what they became is stored.
        for thread_id, pieces in heard.live:
            if (thread_id in known or self._bus.keeps) and not self._runs(thread_id):
                for message in decode(thread_id, pieces):
                    self._bus.publish(message)
        for thread_id in known if heard.threads is None else heard.threads & known:
            self.wake(thread_id)
            if not self._runs(thread_id):
                self._bus.nudge(thread_id)
            self.happened(thread_id)
        if heard.threads:
            self._bus.nudge(EVERY)
