"""The line to a model's server that a proxy is in front of; httpx2 knows all kinds of them."""

from collections.abc import AsyncGenerator, Mapping

import httpx2

from steersman.intelligence.drivers.line import (
    Cut,
    Garbled,
    Late,
    LineError,
    Refused,
    Unfit,
    Unreached,
)

_FAULTS = (httpx2.HTTPError, httpx2.InvalidURL, ImportError, ValueError)


class ProxiedLine:
    """As `Line`, through a proxy."""

    def __init__(self, proxy: str) -> None:
        self._proxy = proxy
        self._line: httpx2.AsyncHTTPTransport | None = None

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, patience: float
    ) -> "ProxiedReply":
        """Send a request and wait until the answer begins; `patience` is for the connection."""
        return await self._ask("POST", url, headers, body, patience)

    async def get(self, url: str, headers: Mapping[str, str], patience: float) -> "ProxiedReply":
        """Ask for what is at an address."""
        return await self._ask("GET", url, headers, b"", patience)

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, patience: float
    ) -> "ProxiedReply":
        try:
            if self._line is None:
                limits = httpx2.Limits(max_keepalive_connections=4, keepalive_expiry=30)
                self._line = httpx2.AsyncHTTPTransport(limits=limits, proxy=self._proxy)
            waits = {"timeout": {"connect": patience, "pool": patience}}
            request = httpx2.Request(method, url, content=body, headers=headers, extensions=waits)
            return ProxiedReply(await self._line.handle_async_request(request))
        except _FAULTS as error:
            raise _ours(error) from error

    async def aclose(self) -> None:
        """Close what is kept."""
        if self._line is not None:
            await self._line.aclose()


class ProxiedReply:
    """An answer that came through a proxy."""

    def __init__(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._response = response

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes."""
        try:
            async for piece in self._response.aiter_bytes():
                yield piece
        except _FAULTS as error:
            raise _ours(error) from error

    async def aclose(self) -> None:
        """Let go; what was not read to its end is cut off."""
        await self._response.aclose()


def _ours(error: Exception) -> LineError:
    """What went wrong, in the words of a line."""
    said = str(error)
    match error:
        case httpx2.ProxyError():
            return Refused(said)
        case httpx2.ConnectTimeout():
            return Late(said)
        case httpx2.ConnectError():
            return Unreached(said)
        case httpx2.RemoteProtocolError():
            return Cut() if "disconnected" in said else Garbled(said)
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL() | ImportError() | ValueError():
            return Unfit(said)
    return Cut(said)
