"""Server-sent events from bytes, and the patience with which they are awaited."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import msgspec

from steersman.intelligence.drivers.endpoint import Endpoint

LARGEST_EVENT = 64 * 1024 * 1024
LARGEST_PAGE = 256 * 1024
FIELDS = (b":", b"event:", b"id:", b"retry:", b"data:")

T = TypeVar("T")


class Events:
    """Server-sent events from bytes as they arrive; only their data matters here.

    `rest` is what belongs to no event yet.
    """

    def __init__(self) -> None:
        self.rest = b""
        self.any = False
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that are complete now."""
        lines = (self.rest + chunk if self.rest else chunk).split(b"\n")
        self.rest = lines.pop()
        if len(self.rest) > LARGEST_EVENT:
            self.rest = self.rest[:1000]
            raise msgspec.DecodeError("An event has no end")
        made: list[bytes] = []
        data = self._data
        for line in lines:
            if line[:5] == b"data:":
                data.append(line[5:].strip())
            elif data and (not line or line == b"\r"):
                made.append(data[0] if len(data) == 1 else b"\n".join(data))
                data.clear()
        if made:
            self.any = True
        elif lines and not self.any and not data:
            self._keep(lines)
        return made

    def _keep(self, lines: list[bytes]) -> None:
        """Lines that are not events may be a page or an error: keep them to tell what came."""
        strange = [line for line in lines if line.strip() and not line.startswith(FIELDS)]
        if strange:
            self.rest = (b"\n".join(strange) + b"\n" + self.rest)[:LARGEST_PAGE]


class Patience:
    """How long to wait for the next bytes; before the first token only a token prolongs it.

    One timer serves a whole stream: it is not moved at each piece, it looks when it rings.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._loop = asyncio.get_running_loop()
        self._between = endpoint.timeouts.between_tokens
        self._until = self._loop.time() + endpoint.timeouts.first_token
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: asyncio.Task[Any] | None = None
        self._over = False

    async def wait(self, coming: Awaitable[T], *, begun: bool) -> T:
        """What is coming, or `TimeoutError`."""
        if begun:
            self._until = self._loop.time() + self._between
        if self._timer is None or self._timer.when() > self._until:
            self._set()
        task = self._waiting = asyncio.current_task()
        asked = task.cancelling() if task else 0
        try:
            return await coming
        except BaseException as error:
            self.end()
            ours = isinstance(error, asyncio.CancelledError) and self._over
            if ours and task is not None and task.uncancel() <= asked:
                raise TimeoutError from None
            raise
        finally:
            self._waiting = None

    def end(self) -> None:
        """Nobody waits any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _set(self) -> None:
        self.end()
        self._timer = self._loop.call_at(self._until, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._waiting is not None:
            if self._loop.time() < self._until:
                self._set()
            else:
                self._over = True
                self._waiting.cancel()
