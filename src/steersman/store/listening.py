"""One listener's collected news, whichever way they reached the process."""

import asyncio
from collections import deque

from steersman.store.contract import Heard

_MOST_LIVE = 512


def nowhere() -> None:
    """Nothing can be taken in just now."""


class Collected:
    """News until someone asks for them; live pieces that nobody asks for are dropped.

    `look` takes in what has arrived and was not read yet.
    """

    def __init__(self) -> None:
        self.look = nowhere
        self._threads: set[str] | None = set()
        self._live: deque[tuple[str, bytes]] = deque(maxlen=_MOST_LIVE)
        self._something = asyncio.Event()

    def stored(self, thread_id: str) -> None:
        """Something was stored or asked in a thread."""
        if self._threads is not None:
            self._threads.add(thread_id)
        self._something.set()

    def anything(self) -> None:
        """Something happened, nobody knows where."""
        self._threads = None
        self._something.set()

    def shown(self, thread_id: str, pieces: bytes) -> None:
        """Live pieces of a thread arrived."""
        self._live.append((thread_id, pieces))
        self._something.set()

    async def next(self) -> Heard:
        """Wait until something happened."""
        await self._something.wait()
        return self._taken()

    def heard(self) -> Heard:
        """What has arrived by now, perhaps nothing."""
        self.look()
        return self._taken()

    def _taken(self) -> Heard:
        self._something.clear()
        threads, self._threads = self._threads, set()
        live = tuple(self._live)
        self._live.clear()
        return Heard(None if threads is None else frozenset(threads), live)
