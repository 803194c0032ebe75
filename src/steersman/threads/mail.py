"""A thread's inbox, emptied by the process that runs it: in order, each request once."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from steersman.records.errors import (
    LeaseLost,
    RequestSettled,
    SteersmanError,
    StorageProblem,
)
from steersman.records.inbox import Close, Request
from steersman.store.cause import Cause
from steersman.threads.session import Session

PAUSE = 1.0  # seconds before an inbox that could not be read is tried again


class Mailbox:
    """Takes requests for an open thread. `closing` learns that someone wants it closed, `taken`
    that something became of a request."""

    def __init__(
        self, session: Session, closing: Callable[[], None], taken: Callable[[], None]
    ) -> None:
        self._session = session
        self._closing = closing
        self._taken = taken
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._empty = asyncio.Event()
        self._under_way: dict[str, asyncio.Task[Any]] = {}  # requests that hold up no others
        self.ends = False  # someone asked for the thread to be closed, and was heard

    def open(self) -> None:
        """Begin to take requests, those first that wait already."""
        self._wake.set()
        self._task = asyncio.create_task(self._attend(), name="mailbox")
        self._task.add_done_callback(lambda _: self._empty.set())

    def wake(self) -> None:
        """Something may have come."""
        self._wake.set()

    async def close(self) -> None:
        """Take nothing now; what has come waits for the next process."""
        if self._task is not None:
            tasks = {self._task, *self._under_way.values()}
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def emptied(self) -> bool:
        """Look once more, and wait until everything that has come is taken; False once closed."""
        self._empty.clear()
        self._wake.set()
        if self._task is not None and not self._task.done():
            await self._empty.wait()
        return self._task is not None and not self._task.done()

    async def _attend(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                while requests := await self._requests():
                    for request in requests:
                        await self._take(request)
            except LeaseLost:
                return  # whoever runs the thread now takes them
            except StorageProblem:
                await asyncio.sleep(PAUSE)
                self._wake.set()
            else:
                if not self._wake.is_set() and not self._under_way:
                    self._empty.set()

    async def _close(self, cause: Cause) -> None:
        """Hear a request to close: once it is written down as taken, the thread ends."""
        self.ends = True  # also if this is cancelled: the log writes it nevertheless
        try:
            await self._session.note(cause, "taken")
        except SteersmanError:
            self.ends = False
            raise
        self._closing()

    async def _requests(self) -> list[Request]:
        log = self._session.log
        begun = set(self._under_way)  # one that ends while the store is read was read as open
        found = await asyncio.to_thread(log.store.requests, log.thread)
        return [request for request in found if request.id not in begun]

    async def _take(self, request: Request) -> None:
        begun = await self._settled(request, self._begin(request))
        self._taken()
        if isinstance(begun, asyncio.Task):
            begun.add_done_callback(_heed)
            task = asyncio.create_task(self._settled(request, _result(begun)))
            self._under_way[request.id] = task
            task.add_done_callback(partial(self._over, request.id))

    def _over(self, request: str, task: asyncio.Task[Any]) -> None:
        _heed(task)
        del self._under_way[request]
        self._taken()
        self._wake.set()

    async def _begin(self, request: Request) -> Any:
        session, cause = self._session, Cause(request)
        if request.expired:
            await session.note(cause, "expired")
        elif isinstance(request.body, Close):
            await self._close(cause)
        else:
            return await session.take(request.body, cause)
        return None

    async def _settled(self, request: Request, work: Coroutine[Any, Any, Any]) -> Any:
        """Do what a request asks for; if that fails, the log says why."""
        session, cause = self._session, Cause(request)
        try:
            return await work
        except RequestSettled:
            # Its sender gave up meanwhile, or its time is over.
            store = session.log.store
            if (await asyncio.to_thread(store.expire, request.id)).outcome == "expired":
                await session.note(cause, "expired")
        except StorageProblem:
            raise
        except SteersmanError as problem:
            await session.refuse(cause, problem)
        except Exception as error:  # whatever it is, those behind it are taken
            why = f"{type(error).__name__}: {error}."
            defect = SteersmanError("An error in Steersman stopped the request.", why)
            await session.refuse(cause, defect)


async def _result(task: asyncio.Task[Any]) -> Any:
    """What comes of a task that is the session's: only the session cancels it."""
    await asyncio.wait({task})
    return task.result()


def _heed(task: asyncio.Task[Any]) -> None:
    """Take notice of how a task ended, also where nobody waits for it any more."""
    if not task.cancelled():
        task.exception()
