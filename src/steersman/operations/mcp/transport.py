"""How messages travel: to a companion's standard input and output, or over HTTP.

Each transport gives the two streams that the protocol library works with. Ours have no tasks of
their own: who reads pulls, who writes waits.
"""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError

from steersman.operations.mcp.envelope import LARGEST, Lines, TooLarge, messages
from steersman.operations.mcp.traffic import Misbehaves, Traffic
from steersman.operations.running.companions import Companion
from steersman.records.mcp_server import Server

PIECE = 64 * 1024
CONNECTING = 30.0
QUIET = 86_400.0  # an open stream may be silent as long as the server is kept

TOO_LARGE = f"It sent a message larger than {LARGEST // 2**20} MB."


class _Stream:
    """What both directions have in common: they are closed by leaving them."""

    async def aclose(self) -> None:
        """Nothing is held open here."""

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class _Reading(_Stream, ABC):
    """A stream of messages from the server that ends, and says so, whatever goes wrong."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic

    def __aiter__(self) -> "_Reading":
        return self

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def __anext__(self) -> SessionMessage | Exception:
        if self._traffic.ended.is_set():
            raise StopAsyncIteration
        try:
            return await self._next()
        except Misbehaves as error:
            self._traffic.close(str(error))
        except TooLarge:
            self._traffic.close(TOO_LARGE)
        except (StopAsyncIteration, ConnectionError):
            self._traffic.close()
        raise StopAsyncIteration

    @abstractmethod
    async def _next(self) -> SessionMessage | Exception:
        """The next message; raises why there is none."""


class Hearing(_Reading):
    """The standard output of a companion, a message in each line."""

    def __init__(self, companion: Companion, traffic: Traffic) -> None:
        super().__init__(traffic)
        self._companion = companion
        self._lines = Lines()
        self._waiting: deque[bytes] = deque()

    async def _next(self) -> SessionMessage:
        while True:
            while self._waiting:
                if (message := self._read(self._waiting.popleft())) is not None:
                    return message
            await asyncio.sleep(0)  # a flood must not keep others from their turn
            piece = await self._companion.reader.read(PIECE)
            if not piece:
                raise StopAsyncIteration
            self._waiting.extend(self._lines.feed(piece))

    def _read(self, line: bytes) -> SessionMessage | None:
        said = messages(line)
        if not said:
            self._traffic.rubbish()
            return None
        for one in reversed(said[1:]):  # a batch; its messages go back to the line, one by one
            self._waiting.appendleft(_encoded(one))
        try:
            message = jsonrpc_message_adapter.validate_python(said[0], by_name=False)
        except ValidationError:
            self._traffic.rubbish()
            return None
        return SessionMessage(message) if self._traffic.hears(message) else None


class Saying(_Stream):
    """The standard input of a companion."""

    def __init__(self, companion: Companion, traffic: Traffic) -> None:
        self._companion = companion
        self._traffic = traffic

    async def send(self, item: SessionMessage, /) -> None:
        if self._companion.ended or self._traffic.ended.is_set():
            raise anyio.ClosedResourceError
        data = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._traffic.says(item.message)
        self._companion.write(data.encode() + b"\n")
        if not isinstance(item.message, JSONRPCNotification):
            await self._companion.drain()  # a word of farewell waits for nobody


class Tapped(_Reading):
    """A stream of the protocol library with our look at every message."""

    def __init__(self, inner: Any, traffic: Traffic) -> None:
        super().__init__(traffic)
        self._inner = inner

    @property
    def last_context(self) -> Any:
        """The context a message was sent in, which the library hands on."""
        return getattr(self._inner, "last_context", None)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _next(self) -> SessionMessage | Exception:
        while True:
            try:
                item: SessionMessage | Exception = await self._inner.__anext__()
            except anyio.ClosedResourceError:
                raise StopAsyncIteration from None
            if isinstance(item, Exception):
                self._traffic.rubbish()
                return item
            if self._traffic.hears(item.message):
                return item


class TappedSaying(_Stream):
    """The other direction of it."""

    def __init__(self, inner: Any, traffic: Traffic) -> None:
        self._inner = inner
        self._traffic = traffic

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def send(self, item: SessionMessage, /) -> None:
        if self._traffic.ended.is_set():
            raise anyio.ClosedResourceError
        self._traffic.says(item.message)
        await self._inner.send(item)


@asynccontextmanager
async def over_http(
    server: Server, traffic: Traffic, auth: httpx2.Auth | None = None
) -> AsyncIterator[tuple[Tapped, TappedSaying]]:
    """A server at an address, by either of the two ways there are."""
    async with _opened(server, traffic, auth) as (read, write):
        yield Tapped(read, traffic), TappedSaying(write, traffic)


@asynccontextmanager
async def _opened(
    server: Server, traffic: Traffic, auth: httpx2.Auth | None
) -> AsyncIterator[tuple[Any, Any]]:
    headers = dict(server.headers)
    if server.transport == "sse":
        factory = partial(line, traffic)
        async with sse_client(
            server.url, headers, CONNECTING, QUIET, httpx_client_factory=factory, auth=auth
        ) as streams:
            yield streams
        return
    async with (
        line(traffic, headers, httpx2.Timeout(CONNECTING, read=QUIET), auth) as client,
        streamable_http_client(
            server.url, http_client=client, max_sse_event_size=LARGEST
        ) as streams,
    ):
        yield streams


def line(
    traffic: Traffic,
    headers: Mapping[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    """A client for one server. Nothing that is sent follows a redirect to another origin: the
    protocol library follows them within one, and this client follows none."""
    return httpx2.AsyncClient(
        headers=headers,
        timeout=timeout,
        auth=auth,
        follow_redirects=False,
        event_hooks={"response": [lambda response: _look(response, traffic)]},
    )


async def _look(response: httpx2.Response, traffic: Traffic) -> None:
    """Note an answer that says no, and keep an answer that is one piece within bounds."""
    if response.request.method == "POST" or response.status_code in (401, 403):
        traffic.status = response.status_code
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        response.stream = _Bounded(response.stream, traffic)


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, ended when it grows too large."""

    def __init__(self, inner: Any, traffic: Traffic) -> None:
        self._inner = inner
        self._traffic = traffic

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > LARGEST:
                self._traffic.close(TOO_LARGE)
                raise httpx2.StreamError(TOO_LARGE)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def _encoded(message: Mapping[str, Any]) -> bytes:
    import msgspec

    return msgspec.json.encode(message)
