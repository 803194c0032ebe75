"""Measures how long each callback holds up an event loop, whatever else the machine is doing."""

import asyncio
import gc
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import Struct


class Standstill(Struct, frozen=True):
    """One callback during which the loop could do nothing else."""

    seconds: float
    what: str


class _Delays:
    """How long threads of this process have waited for a processor, by the kernel's own count."""

    def __init__(self) -> None:
        self._files: dict[int, int] = {}

    def now(self) -> dict[int, int]:
        """Nanoseconds by thread."""
        found = {}
        for thread in threading.enumerate():
            number = thread.native_id
            if number is None:
                continue
            with suppress(OSError):  # it may have just ended
                if number not in self._files:
                    path = f"/proc/self/task/{number}/schedstat"
                    self._files[number] = os.open(path, os.O_RDONLY)
                found[number] = int(os.pread(self._files[number], 100, 0).split()[1])
        return found

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files.values():
            os.close(file)


class LoopWatch:
    """The callbacks that took longest, without what they waited for a processor.

    A callback may also wait for another thread of this process to hand over the interpreter while
    that one waits for a processor; as much as the longest such wait is not counted either.
    """

    def __init__(self) -> None:
        self.worst = Standstill(0.0, "nothing")
        self.callbacks = 0

    def saw(self, seconds: float, what: Any) -> None:
        """Take note of one callback."""
        self.callbacks += 1
        if seconds > self.worst.seconds:
            self.worst = Standstill(seconds, repr(what))


@contextmanager
def watched() -> Iterator[LoopWatch]:
    """Watch every callback of every loop of this thread."""
    # What the suite itself keeps is no garbage, and a look through all of it takes 0.15 seconds.
    gc.collect()
    gc.freeze()
    watch, delays, thread = LoopWatch(), _Delays(), threading.get_ident()
    own = threading.get_native_id()
    run = asyncio.Handle._run

    def measured(handle: asyncio.Handle) -> None:
        if threading.get_ident() != thread:
            run(handle)
            return
        what = repr(handle)
        before, started = delays.now(), time.perf_counter_ns()
        run(handle)
        wall, after = time.perf_counter_ns() - started, delays.now()
        waited = {number: after[number] - before.get(number, after[number]) for number in after}
        mine = waited.pop(own, 0)
        watch.saw((wall - mine - max(waited.values(), default=0)) / 1e9, what)

    asyncio.Handle._run = measured
    try:
        yield watch
    finally:
        asyncio.Handle._run = run
        delays.close()
        gc.unfreeze()
