"""A thread's inbox, emptied by the process that runs it: in order, each request once."""

import asyncio
from collections.abc import Callable

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
    """Takes requests for an open thread. `closing` learns that someone wants it closed."""

    def __init__(self, session: Session, closing: Callable[[], None]) -> None:
        self._session = session
        self._closing = closing
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._empty = asyncio.Event()
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
            self._task.cancel()
            await asyncio.wait({self._task})

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
                if not self._wake.is_set():
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
        return await asyncio.to_thread(log.store.requests, log.thread)

    async def _take(self, request: Request) -> None:
        session, cause = self._session, Cause(request)
        try:
            if request.expired:
                await session.note(cause, "expired")
            elif isinstance(request.body, Close):
                await self._close(cause)
            else:
                await session.take(request.body, cause)
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
