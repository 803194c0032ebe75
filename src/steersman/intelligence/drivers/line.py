"""A line to a model's server: as much of HTTP/1.1 as models speak, over asyncio alone.

To import a whole HTTP client takes longer than most answers. So requests go through this one, and
only those that a proxy is in front of through `proxied`. A connection is kept for the next request.
"""

import asyncio
import errno
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    import ssl

LARGEST_LINE = 128 * 1024
MOST_HEADERS = 200
PIECE = 64 * 1024
KEPT = 4  # connections
KEEP_SECONDS = 30.0
EYEBALLS = 0.25  # seconds after which a second address of a host is tried
_URL = "!$%&'()*+,-./:;=?@_~"  # what is left as it is in a path


class LineError(Exception):
    """A request was not answered, or not to its end."""


class Unreached(LineError):
    """There is no connection; the cause says why."""


class Late(Unreached):
    """There was none in time."""


class Refused(LineError):
    """A proxy does not let us through."""


class Unfit(LineError):
    """An address, or that of a proxy, that cannot be used."""


class Garbled(LineError):
    """What answers does not speak HTTP."""


class Cut(LineError):
    """The connection was lost; without words the server hung up."""


class Reply(Protocol):
    """An answer that has begun; header names are in small letters."""

    status: int
    headers: Mapping[str, str]

    def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes."""
        ...

    async def aclose(self) -> None:
        """Let go; what was not read to its end is cut off."""
        ...


class Line:
    """Connections to one server, with those that are kept for the next request."""

    def __init__(self) -> None:
        self._tls: ssl.SSLContext | None = None
        self._kept: list[tuple[float, Connection]] = []

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, patience: float
    ) -> Reply:
        """Send a request and wait until the answer begins; `patience` is for the connection."""
        return await self._ask(url, _request("POST", url, headers, body), patience)

    async def get(self, url: str, headers: Mapping[str, str], patience: float) -> Reply:
        """Ask for what is at an address."""
        return await self._ask(url, _request("GET", url, headers), patience)

    async def _ask(self, url: str, request: bytes, patience: float) -> Reply:
        connection = self._take() or await self._connect(url, patience)
        try:
            await connection.send(request)
            return await connection.reply(self._keep)
        except BaseException:
            connection.abort()
            raise

    async def aclose(self) -> None:
        """Close what is kept."""
        kept, self._kept = self._kept, []
        for _, connection in kept:
            connection.abort()

    def _take(self) -> "Connection | None":
        while self._kept:
            since, connection = self._kept.pop()
            if connection.usable and time.monotonic() - since < KEEP_SECONDS:
                return connection
            connection.abort()
        return None

    def _keep(self, connection: "Connection") -> None:
        if len(self._kept) < KEPT:
            self._kept.append((time.monotonic(), connection))
        else:
            connection.abort()

    async def _connect(self, url: str, patience: float) -> "Connection":
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        if secure and self._tls is None:
            from steersman.intelligence.drivers.trust import context

            self._tls = await asyncio.to_thread(context)
        try:
            async with asyncio.timeout(patience):
                pair = await asyncio.open_connection(
                    parts.hostname,
                    parts.port or (443 if secure else 80),
                    ssl=self._tls if secure else None,
                    happy_eyeballs_delay=EYEBALLS,
                    limit=LARGEST_LINE,
                )
        except TimeoutError as error:
            raise Late(str(error)) from error
        except (OSError, UnicodeError) as error:
            raise Unreached(str(error)) from _first(error)
        return Connection(*pair)


def _first(error: Exception) -> Exception:
    """The cause; where all addresses of a host were tried, asyncio only shows it in words."""
    if f"[Errno {errno.ECONNREFUSED}]" in str(error):
        return ConnectionRefusedError(errno.ECONNREFUSED, str(error))
    return error


def _request(method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    parts = urlsplit(url)
    path = quote(parts.path or "/", safe=_URL) + (
        f"?{quote(parts.query, safe=_URL)}" if parts.query else ""
    )
    host = parts.netloc.rpartition("@")[2]
    host = host if host.isascii() else host.encode("idna").decode()
    lines = [f"{method} {path} HTTP/1.1", f"host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"content-length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


class Connection:
    """One connection, with one answer at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    @property
    def usable(self) -> bool:
        """Whether the server has not hung up, as far as is known."""
        return not (self.reader.at_eof() or self._writer.is_closing())

    async def send(self, request: bytes) -> None:
        """Send all of a request; a server may answer before it has read all, and hang up."""
        self._writer.write(request)
        with suppress(ConnectionError):
            await self._writer.drain()

    def abort(self) -> None:
        """End it at once."""
        self._writer.transport.abort()

    async def line(self) -> bytes:
        """The next line, without its end."""
        try:
            line = await self.reader.readline()
        except ValueError as error:
            raise Garbled("a line has no end") from error
        except OSError as error:
            raise Cut(str(error)) from error
        if not line.endswith(b"\n"):
            raise Cut
        return line.rstrip(b"\r\n")

    async def some(self, most: int) -> bytes:
        """The next bytes; none when the server has hung up."""
        try:
            return await self.reader.read(most)
        except OSError as error:
            raise Cut(str(error)) from error

    async def reply(self, keep: "Keep") -> "Answer":
        """The head of an answer; what a server says on the way to it is passed over."""
        while True:
            version, status = _status(await self.line())
            headers: dict[str, str] = {}
            count = 0
            while line := await self.line():
                name, colon, value = line.decode("latin-1").partition(":")
                count += 1
                if not colon or not name.strip() or count > MOST_HEADERS:
                    raise Garbled(f"“{line[:40].decode('latin-1')}” is not a header")
                name = name.strip().lower()
                said = value.strip()
                headers[name] = f"{headers[name]}, {said}" if name in headers else said
            if status >= 200:
                return Answer(self, version, status, headers, keep)


class Keep(Protocol):
    """Who keeps connections."""

    def __call__(self, connection: Connection) -> None:
        """Keep one."""
        ...


def _status(line: bytes) -> tuple[bytes, int]:
    version, _, rest = line.partition(b" ")
    number = rest[:3]
    if not version.startswith(b"HTTP/1.") or not number.isdigit() or len(number) < 3:
        raise Garbled(f"“{line[:40].decode('latin-1')}” is not a status line")
    return version, int(number)


class Answer:
    """An answer whose body is read as it comes."""

    def __init__(
        self,
        connection: Connection,
        version: bytes,
        status: int,
        headers: dict[str, str],
        keep: Keep,
    ) -> None:
        self.status = status
        self.headers: Mapping[str, str] = headers
        self._connection = connection
        self._keep = keep
        closes = "close" in headers.get("connection", "").lower()
        self._stays = version != b"HTTP/1.0" and not closes
        self._whole = False
        self._closed = False

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes, unpacked where a server packed it though nobody asked it to."""
        kind = self.headers.get("content-encoding", "identity").lower()
        if kind not in ("gzip", "x-gzip", "deflate"):
            async for piece in self._raw():
                yield piece
            return
        import zlib

        unpacking = zlib.decompressobj(wbits=47)  # which shows the two apart itself
        async for piece in self._raw():
            try:
                yield unpacking.decompress(piece)
            except zlib.error as error:
                raise Cut(str(error)) from error

    async def aclose(self) -> None:
        """Keep the connection if all was read; otherwise end it."""
        if self._closed:
            return
        self._closed = True
        if self._whole and self._stays and self._connection.usable:
            self._keep(self._connection)
        else:
            self._connection.abort()

    def _raw(self) -> AsyncGenerator[bytes, None]:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return self._chunks()
        length = self.headers.get("content-length", "")
        if self.status in (204, 304):
            length = "0"
        if not length:
            return self._rest()
        if not length.isdigit():
            raise Garbled(f"{length} is not a length")
        return self._counted(int(length))

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        connection = self._connection
        while True:
            number = (await connection.line()).partition(b";")[0].strip()
            try:
                left = int(number, 16)
            except ValueError as error:
                raise Garbled(f"{number[:20]!r} is not a length") from error
            if not left:
                break
            async for piece in self._part(left):
                yield piece
            await connection.line()
        while await connection.line():  # what is said after the body
            pass
        self._whole = True

    async def _counted(self, length: int) -> AsyncGenerator[bytes, None]:
        async for piece in self._part(length):
            yield piece
        self._whole = True

    async def _part(self, left: int) -> AsyncGenerator[bytes, None]:
        while left:
            piece = await self._connection.some(min(left, PIECE))
            if not piece:
                raise Cut
            left -= len(piece)
            yield piece

    async def _rest(self) -> AsyncGenerator[bytes, None]:
        self._stays = False
        while piece := await self._connection.some(PIECE):
            yield piece
        self._whole = True
