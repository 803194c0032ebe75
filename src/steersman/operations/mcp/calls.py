"""How long a call may take, and what is heard of it meanwhile."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

LONGEST = 10  # times the limit of a silent call, for one that keeps saying how far it is
BURST = 200  # words of progress that are passed on at once
RATE = 20.0  # and how many more in every second
MOST_SAID = 2000


class Clock:
    """Runs while the server is silent; pauses while the server waits for the host."""

    def __init__(self, timer: asyncio.Timeout, limit: float) -> None:
        self._timer = timer
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time() + limit * LONGEST
        self._pauses = 0
        self._paused = 0.0

    def restart(self) -> None:
        """The server gave a sign of life."""
        if not self._pauses:
            self._set(min(self._loop.time() + self._limit, self._last))

    def pause(self) -> None:
        """The server waits for an answer of ours."""
        if not self._pauses:
            self._paused = self._loop.time()
        self._pauses += 1
        self._set(None)

    def resume(self) -> None:
        """It has its answer."""
        self._pauses -= 1
        if not self._pauses:
            self._last += self._loop.time() - self._paused
        self.restart()

    def _set(self, when: float | None) -> None:
        with suppress(RuntimeError):  # it has run out already
            self._timer.reschedule(when)


class ProgressRelay:
    """Passes on what a server says of its progress, as much of it as anyone can follow."""

    def __init__(
        self,
        clock: Clock,
        tell: Callable[[str], None] | None,
        clean: Callable[[Any], Any],
    ) -> None:
        self._clock = clock
        self._tell = tell
        self._clean = clean
        self._allowed = float(BURST)
        self._looked = time.monotonic()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """What the protocol library calls."""
        self._clock.restart()
        now = time.monotonic()
        self._allowed = min(BURST, self._allowed + (now - self._looked) * RATE)
        self._looked = now
        if self._tell is None or self._allowed < 1:
            return
        self._allowed -= 1
        far = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
        self._tell(self._clean(f"{far}: {message}" if message else far)[:MOST_SAID])
