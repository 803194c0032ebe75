"""When the application has done all it can do now: what Textual guesses from the time on the CPU.

Its pilot sleeps two hundredths of a second or more before and after every key, longer on a busy
machine. Here a key is over when the event loop has nothing to do, nothing is due, and no thread
works for it.
"""

import asyncio
import sys
from concurrent.futures import thread
from types import FrameType

import textual.app
import textual.pilot
from textual._wait import SLEEP_GRANULARITY, wait_for_idle

from steersman import hands

WAITING = {hands.Hands._serve.__code__, thread._worker.__code__}  # threads that work for a loop


def at_once() -> None:
    """Have keys pressed one after the other without a pause in between."""
    textual.app.wait_for_idle = textual.pilot.wait_for_idle = settled  # type: ignore[attr-defined]


async def settled(min_sleep: float = SLEEP_GRANULARITY, max_sleep: float = 1) -> None:
    """Wait until nothing is left to do."""
    loop = asyncio.get_running_loop()
    end = loop.time() + max_sleep
    while loop.time() < end:
        await asyncio.sleep(0)
        if loop._ready:  # type: ignore[attr-defined]
            continue
        if _threads_work():
            await wait_for_idle(min_sleep, end - loop.time())
            return
        if (due := _due(loop)) > SLEEP_GRANULARITY:
            return
        await asyncio.sleep(max(due, 0))


def _due(loop: asyncio.AbstractEventLoop) -> float:
    """In how many seconds something is due."""
    times = [one.when() for one in loop._scheduled if not one.cancelled()]  # type: ignore[attr-defined]
    return min(times, default=float("inf")) - loop.time()


def _threads_work() -> bool:
    return any(_works(frame) for frame in sys._current_frames().values())


def _works(frame: FrameType) -> bool:
    """Whether a thread that works for a loop has something to do."""
    if frame.f_code in WAITING:
        return False
    above = frame.f_back
    while above is not None and above.f_code not in WAITING:
        above = above.f_back
    return above is not None
