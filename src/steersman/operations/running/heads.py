"""Heads of HTTP/1.1 messages, pure: read strictly, and written again with only what may pass.

A message whose length can be understood in two ways, or a line that another program could read
differently, is refused: what one side calls a body the other must not call a request.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from steersman.records.addresses import canonical_host

LONGEST = 64 * 1024  # bytes of a head
MOST = 200  # fields in it
CHUNKED = -1

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST = re.compile(rf"({_TOKEN}) ([!-~]+) HTTP/1\.([01])")
_STATUS = re.compile(r"HTTP/1\.[01] ([1-5][0-9][0-9])(?: ([\t -~\x80-\xff]*))?")
_FIELD = re.compile(rf"({_TOKEN}):([\t -~\x80-\xff]*)")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.%a-z]+\]|[^:@\[\]/?#\\]+)(?::([0-9]{1,5}))?")
_HOP = {
    "connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate",
    "te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "content-length",
}  # fmt: skip

Fields = list[tuple[str, str]]


class BadHead(Exception):
    """A head that is not understood; the text says what is wrong with it."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.why = why
        self.status = status


class Request(Struct, frozen=True):
    """What a client asks for; `path` is empty for CONNECT.

    `length` is that of the body, CHUNKED, or None when there is no body.
    """

    method: str
    host: str
    port: int
    path: str
    version: str
    fields: Fields
    length: int | None

    @property
    def tunnel(self) -> bool:
        """Whether bytes are to be passed on unread."""
        return self.method == "CONNECT"

    def onward(self) -> bytes:
        """The head as the server gets it: its host is the one that was asked about."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        authority = host if self.port == 80 else f"{host}:{self.port}"
        kept = [field for field in _passing(self.fields) if field[0].lower() != "host"]
        fields = [("Host", authority), *kept, *_framing(self.length), ("Connection", "close")]
        return _head(f"{self.method} {self.path} HTTP/1.{self.version}", fields)


class Response(Struct, frozen=True):
    """What a server answers; `length` may be CHUNKED, or None for all until the end."""

    status: int
    phrase: str
    fields: Fields
    length: int | None

    @property
    def interim(self) -> bool:
        """Whether another response follows."""
        return self.status < 200

    @property
    def bare(self) -> bool:
        """Whether its status alone shows that it has no body."""
        return self.interim or self.status in (204, 304)

    def onward(self, method: str) -> bytes:
        """The head as the client gets it."""
        fields = list(_passing(self.fields))
        if method == "HEAD" or self.status == 304:  # the length of what is not sent
            told = _values(self.fields, "content-length")
            fields += [("Content-Length", value) for value in told[:1]]
        elif not self.bare:
            fields += _framing(self.length)
        if not self.interim:
            fields.append(("Connection", "close"))
        return _head(f"HTTP/1.1 {self.status} {self.phrase}", fields)


def read_request(head: bytes) -> Request:
    """A request to a proxy, from its first byte to the empty line."""
    first, fields = _lines(head)
    parts = _REQUEST.fullmatch(first)
    if not parts:
        raise BadHead("The first line is not that of an HTTP/1.1 request.")
    method, target, version = parts.groups()
    length = _length(fields)
    if length == CHUNKED and version == "0":
        raise BadHead("HTTP/1.0 has no chunks.")
    if method == "CONNECT":
        if length not in (None, 0):
            raise BadHead("CONNECT has no body.")
        return Request(method, *_authority(target, 0), "", version, fields, None)
    authority, path = _absolute(target)
    if any("websocket" in value.lower() for value in _values(fields, "upgrade")):
        raise BadHead("A web socket goes through CONNECT, also without TLS.", 501)
    return Request(method, *_authority(authority, 80), path, version, fields, length)


def read_response(head: bytes, method: str) -> Response:
    """The answer to a request with a method."""
    first, fields = _lines(head)
    parts = _STATUS.fullmatch(first)
    if not parts:
        raise BadHead("The first line is not that of an HTTP/1.1 response.")
    status = int(parts[1])
    if status == 101:
        raise BadHead("The server changed to another protocol unasked.")
    length: int | None
    if status < 200 or status in (204, 304) or method == "HEAD":
        length = 0
    elif _values(fields, "transfer-encoding"):
        length = _length([field for field in fields if field[0].lower() != "content-length"])
    else:
        length = _length(fields)
    return Response(status, parts[2] or "", fields, length)


def chunk_size(line: bytes) -> int:
    """The size that the line before a chunk shows."""
    size = line.removesuffix(b"\r\n").partition(b";")[0].rstrip(b" \t")
    if not re.fullmatch(rb"[0-9A-Fa-f]{1,15}", size) or not line.endswith(b"\r\n"):
        raise BadHead("The size of a chunk is not understood.")
    return int(size, 16)


def credentials(request: Request) -> str:
    """What the client says to the proxy to prove who it is; empty if nothing."""
    return ", ".join(_values(request.fields, "proxy-authorization"))


def _lines(head: bytes) -> tuple[str, Fields]:
    """The first line and the fields of a head."""
    first, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    if len(rest) > MOST:
        raise BadHead(f"There are more than {MOST} fields.", 431)
    fields: Fields = []
    for line in rest:
        field = _FIELD.fullmatch(line)
        if not field:
            raise BadHead("A field is not understood.")
        fields.append((field[1], field[2].strip(" \t")))
    return first, fields


def _values(fields: Iterable[tuple[str, str]], name: str) -> list[str]:
    return [value for key, value in fields if key.lower() == name]


def _length(fields: Fields) -> int | None:
    """The length of a body, CHUNKED, or None when nothing is said about it."""
    codings = _values(fields, "transfer-encoding")
    lengths = _values(fields, "content-length")
    if (codings and lengths) or len(codings) > 1 or len(lengths) > 1:
        raise BadHead("The length of the body is given twice.")
    if codings:
        if codings[0].lower() != "chunked":
            raise BadHead("The only transfer encoding that passes is “chunked”.", 501)
        return CHUNKED
    if not lengths:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", lengths[0]):
        raise BadHead("The length of the body is not a number.")
    return int(lengths[0])


def _absolute(target: str) -> tuple[str, str]:
    """Authority and path of a whole address."""
    scheme, colon, rest = target.partition("://")
    if not colon or target.startswith("/"):
        raise BadHead("This is a proxy: a request names the whole address, beginning with http://.")
    if scheme.lower() != "http":
        raise BadHead(f"Use CONNECT for {scheme}:// addresses.")
    end = re.search(r"[/?#]", rest)
    authority, path = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    path = path.partition("#")[0]
    return authority, path if path.startswith("/") else f"/{path}"


def _authority(text: str, usual: int) -> tuple[str, int]:
    """Host, in its one spelling, and port."""
    parts = _AUTHORITY.fullmatch(text)
    host = canonical_host(parts[1]) if parts else ""
    port = int(parts[2] or usual) if parts else 0
    if not host or not 0 < port < 65536:
        raise BadHead("The address names no host and port that could be reached.")
    return host, port


def _passing(fields: Fields) -> Iterable[tuple[str, str]]:
    """The fields that are not meant for this hop alone."""
    named = {
        word.strip().lower()
        for value in _values(fields, "connection")
        for word in value.split(",")
    }  # fmt: skip
    return (field for field in fields if field[0].lower() not in _HOP | named)


def _framing(length: int | None) -> Fields:
    if length is None:
        return []
    if length == CHUNKED:
        return [("Transfer-Encoding", "chunked")]
    return [("Content-Length", str(length))]


def _head(first: str, fields: Fields) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1")
