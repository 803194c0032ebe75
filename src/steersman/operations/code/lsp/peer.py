"""A conversation with a language server: requests that end, answers to what it asks, its news.

Every request has a time limit, and one that is given up is cancelled at the server too. A server
that dies, sends garbage or floods ends all requests at once; none of it waits for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from steersman.operations.code.backend import Unable
from steersman.operations.code.lsp.framing import Frames, Garbled, encode

FLOOD = 512 << 20
_RETRIED = (-32801, -32802)  # content modified, cancelled by the server: ask again
_TRIES = 4
_PAUSE = 0.05
_UNKNOWN_METHOD = -32601

ENDED = "$/ended"  # from us, not from the server

Serve = Callable[[str, Any], Any]
Heed = Callable[[str, Any], None]


class Line(Protocol):
    """What a conversation needs of a running program."""

    reader: asyncio.StreamReader

    def write(self, data: bytes) -> None:
        """Send bytes."""
        ...

    async def drain(self) -> None:
        """Wait until they are on their way."""
        ...


class Silent(Unable):
    """The server did not answer in time."""


class Gone(Unable):
    """The server is not there any more, or cannot be understood."""


class Erred(Unable):
    """The server answered that something is wrong; `code` is its number for it."""

    def __init__(self, what: str, why: str, code: int) -> None:
        super().__init__(what, why)
        self.code = code


class Unserved(Exception):
    """Raised by `serve` for a request of the server that nobody answers."""


class Peer:
    """One conversation. `serve` answers what the server asks, `heed` takes what it says, and
    gets `ENDED` at last. `over` when nothing more will come."""

    def __init__(self, name: str, line: Line, serve: Serve, heed: Heed) -> None:
        self._name = name
        self._line = line
        self._serve = serve
        self._heed = heed
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._unasked = 0
        self.trouble = ""
        self.over = False
        self._listening = asyncio.create_task(self._listen())

    async def request(self, method: str, params: Any, patience: float) -> Any:
        """The result of a request; raises `Unable` when there is none within so many seconds."""
        try:
            async with asyncio.timeout(patience):
                for attempt in range(_TRIES):
                    try:
                        return await self._ask(method, params)
                    except Erred as error:
                        if error.code not in _RETRIED or attempt == _TRIES - 1:
                            raise
                        await asyncio.sleep(_PAUSE * 2**attempt)
        except TimeoutError:
            raise Silent(f"{self._name} did not answer {method} within {patience:g} s.") from None
        raise AssertionError("every attempt returns or raises")

    async def notify(self, method: str, params: Any, patience: float = 10.0) -> None:
        """Tell the server something."""
        try:
            async with asyncio.timeout(patience):
                await self._send({"method": method, "params": params})
        except TimeoutError:
            raise Silent(f"{self._name} does not accept input.") from None

    async def close(self) -> None:
        """Listen no more."""
        self._listening.cancel()
        with suppress(asyncio.CancelledError):
            await self._listening

    async def _ask(self, method: str, params: Any) -> Any:
        self._number += 1
        number = self._number
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self._send({"id": number, "method": method, "params": params})
            said = await answer
        except asyncio.CancelledError:
            self._write({"method": "$/cancelRequest", "params": {"id": number}})
            raise
        finally:
            self._waiting.pop(number, None)
        error = said.get("error")
        if error is not None:
            fault = error if isinstance(error, dict) else {"message": str(error)}
            code = fault.get("code")
            raise Erred(
                f"{self._name} cannot answer {method}.",
                str(fault.get("message", ""))[:500],
                code if isinstance(code, int) else 0,
            )
        return said.get("result")

    async def _send(self, message: dict[str, Any]) -> None:
        if self.over:
            raise self._gone()
        self._write(message)
        try:
            await self._line.drain()
        except OSError as error:
            raise self._gone() from error

    def _write(self, message: dict[str, Any]) -> None:
        with suppress(OSError, RuntimeError):
            self._line.write(encode({"jsonrpc": "2.0", **message}))

    async def _listen(self) -> None:
        frames = Frames()
        try:
            while piece := await self._line.reader.read(1 << 16):
                self._unasked += len(piece)
                if self._unasked > FLOOD:
                    raise Garbled(f"more than {FLOOD >> 20} MB that were not requested")
                for message in frames.feed(piece):
                    self._take(message)
        except (Garbled, OSError, ValueError) as error:
            self.trouble = str(error)
        finally:
            self.over = True
            self._heed(ENDED, None)
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(self._gone())
                    answer.exception()  # someone else may have given up waiting already

    def _take(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str) and number is not None:
            self._answer(number, method, message.get("params"))
        elif isinstance(method, str):
            self._heed(method, message.get("params"))
        elif isinstance(number, int) and (answer := self._waiting.get(number)) is not None:
            self._unasked = 0
            if not answer.done():
                answer.set_result(message)

    def _answer(self, number: Any, method: str, params: Any) -> None:
        try:
            self._write({"id": number, "result": self._serve(method, params)})
        except Unserved:
            error = {"code": _UNKNOWN_METHOD, "message": f"{method} is not served"}
            self._write({"id": number, "error": error})

    def _gone(self) -> Gone:
        return Gone(f"{self._name} is no longer running.", self.trouble)
