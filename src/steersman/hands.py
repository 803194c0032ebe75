"""Threads for what would block the event loop; quicker to hand work to than those of Python.

A thread puts what came of its work straight into the event loop's own future. `ThreadPoolExecutor`
makes two futures, four locks and two wake-ups of that, which costs as much as most of the work that
the host hands over.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from os import cpu_count
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet

MOST = min(32, (cpu_count() or 1) + 4)  # as many as Python would have
Work = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]
_SERVED: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


# Whose threads do what a task hands over to those of its loop; a task that it starts has them too.
_OWN: ContextVar["Hands | None"] = ContextVar("own", default=None)


class Hands(ThreadPoolExecutor):
    """An executor for `run_in_executor` and, as the default of a loop, for `to_thread`.

    Work that is cancelled before a thread has taken it is not done.
    """

    def __init__(self, most: int = MOST, name: str = "hand") -> None:
        super().__init__(most)
        self._most = most
        self._name = name
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._free = 0  # threads that wait for work, less the work that waits for them
        self._own: list[threading.Thread] = []
        self._over = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Have a thread do it; the answer is a future of the loop that runs here."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        with self._lock:
            if self._over:
                raise RuntimeError("work was handed over after the end")
            self._free -= 1
            if self._free < 0 and len(self._own) < self._most:
                self._grow()
        self._work.put((loop, future, lambda: fn(*args, **kwargs)))
        return future

    @property
    def waiting(self) -> int:
        """How much work no thread has begun."""
        return self._work.qsize()

    def _grow(self) -> None:
        name = f"{self._name}-{len(self._own)}"
        thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._own.append(thread)
        self._free += 1
        thread.start()

    def _serve(self) -> None:
        while (given := self._work.get()) is not None:
            loop, future, work = given
            if not future.cancelled():
                try:
                    result = work()
                except BaseException as error:  # whoever waits for it gets it
                    self._tell(loop, future, None, error)
                else:
                    self._tell(loop, future, result, None)
                    del result
            else:
                self._rest()
            del given, loop, future, work  # and with them all that they hold

    def _rest(self) -> None:
        with self._lock:
            self._free += 1

    def _tell(
        self,
        loop: asyncio.AbstractEventLoop,
        future: "asyncio.Future[Any]",
        result: Any,
        problem: BaseException | None,
    ) -> None:
        """Say what came of it; the thread is free before anyone can know that."""
        self._rest()
        with suppress(RuntimeError):  # the loop was closed, so nobody waits
            loop.call_soon_threadsafe(_settle, future, result, problem)

    def take_over(self) -> None:
        """Do what this task hands over with `to_thread`: it can keep no other's threads busy."""
        _OWN.set(self)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let what was handed over be done, and the threads end."""
        with self._lock:
            self._over = True
            threads, self._own = self._own, []
        for _ in threads:
            self._work.put(None)
        for thread in threads if wait else ():
            thread.join()


def _settle(future: "asyncio.Future[Any]", result: Any, problem: BaseException | None) -> None:
    if future.done():
        return
    if problem is None:
        future.set_result(result)
    else:
        future.set_exception(problem)


class _Shared(Hands):
    """The threads of a loop, for those who have none of their own."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Have a thread do it, one of the task's own where it has some."""
        own = _OWN.get()
        if own is not None:
            with suppress(RuntimeError):  # those have ended
                return own.submit(fn, *args, **kwargs)
        return super().submit(fn, *args, **kwargs)


def serve() -> None:
    """Have `to_thread` use such threads in the loop that runs here; they end with the loop."""
    loop = asyncio.get_running_loop()
    if loop not in _SERVED:
        _SERVED.add(loop)
        loop.set_default_executor(_Shared())
