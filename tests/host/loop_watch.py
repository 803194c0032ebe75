"""Measures how much work each callback does on an event loop, whatever else the machine is doing.

Counted is the processor time of the loop's own thread, so that neither a busy machine nor another
thread that holds the interpreter counts; and the calls that wait for something else or walk
through folders, which take no processor time of this thread, are counted by name.
"""

import asyncio
import gc
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

# As Python's audit events name them. An import looks through a folder with `os.listdir`.
WAITS = {"time.sleep", "os.scandir", "shutil.copytree", "shutil.rmtree", "socket.getaddrinfo"}
LONGEST = 0.05


class Standstill(Struct, frozen=True):
    """One callback during which the loop could do nothing else."""

    seconds: float
    what: str


class LoopWatch:
    """The callback that worked longest, and the calls that waited, by name."""

    def __init__(self) -> None:
        self.worst = Standstill(0.0, "nothing")
        self.callbacks = 0
        self.waits: Counter[str] = Counter()
        self._thread = threading.get_ident()
        self._inside = False

    @property
    def held_up(self) -> str:
        """What held the loop up, in words; empty if nothing did."""
        if self.worst.seconds > LONGEST:
            return f"{self.worst.seconds:.3f} seconds of work in {self.worst.what}"
        return ", ".join(self.waits)

    def run(self, callback: Any, handle: asyncio.Handle) -> None:
        """Run one callback and take note of it."""
        if threading.get_ident() != self._thread:
            callback(handle)
            return
        what, before = repr(handle), time.thread_time()
        self._inside = True
        try:
            callback(handle)
        finally:
            self._inside = False
            seconds = time.thread_time() - before
        self.callbacks += 1
        if seconds > self.worst.seconds:
            self.worst = Standstill(seconds, what)

    def heard(self, event: str, arguments: Any) -> None:
        """Take note of a call that waits, if a callback makes it."""
        if self._inside and event in WAITS and threading.get_ident() == self._thread:
            self.waits[f"{event} {arguments[:1]!r}"] += 1


_watching: LoopWatch | None = None


def _hear(event: str, arguments: Any) -> None:
    if _watching is not None:
        _watching.heard(event, arguments)


sys.addaudithook(_hear)  # can never be taken away again, so there is one for all


@contextmanager
def watched() -> Iterator[LoopWatch]:
    """Watch every callback of every loop of this thread."""
    global _watching
    # What the suite itself keeps is no garbage, and a look through all of it takes 0.15 seconds.
    gc.collect()
    gc.freeze()
    watch, run, sleep = LoopWatch(), asyncio.Handle._run, time.sleep

    def heard_sleep(seconds: float) -> None:  # before Python 3.13 this is no audit event
        watch.heard("time.sleep", (seconds,))
        sleep(seconds)

    asyncio.Handle._run = lambda handle: watch.run(run, handle)
    time.sleep = heard_sleep
    _watching = watch
    try:
        yield watch
    finally:
        _watching = None
        asyncio.Handle._run, time.sleep = run, sleep
        gc.unfreeze()
