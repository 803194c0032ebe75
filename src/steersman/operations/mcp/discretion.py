"""What is never said of a server: the values of its environment and headers, and its tokens.

In sentences about a server every such value is replaced. In what its tools give, only those that
look like secrets are: `NODE_ENV=production` must not strike a word out of every answer.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from steersman.records.mcp_server import Server
from steersman.records.message import MASK

SHORTEST = 4
SHORTEST_SECRET = 8
TELLING = re.compile(r"key|token|secret|passw|auth|cred|cookie|session|signature|private", re.I)
_KEY = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~%=+-]{16,}")  # in an address: it may open a door
PLAIN = re.compile(r"[a-z]+|[A-Z]+|[\d.,:]+|true|false|.*[/\\ ].*", re.S)


class Discretion:
    """Keeps the secrets of one server out of texts."""

    def __init__(self, server: Server) -> None:
        self._said = list(_named(server))
        self._tokens: set[str] = set()
        self.learn(())

    def learn(self, tokens: Iterable[str]) -> None:
        """Keep more to itself: what a sign-in gave."""
        new = {token for token in tokens if len(token) >= SHORTEST_SECRET} - self._tokens
        if self._tokens and not new:
            return
        self._tokens |= new
        secret = (value for name, value in self._said if _looks_secret(name, value))
        self._secret = _pattern((*secret, *self._tokens))
        self._all = _pattern((*(value for _, value in self._said), *self._tokens))

    def sentence(self, text: str) -> str:
        """A text about the server, without any value of its environment and headers."""
        return self._all.sub(MASK, text) if self._all else text

    def result(self, value: Any) -> Any:
        """What a tool gave, without what looks like a secret of the server."""
        if self._secret is None:
            return value
        match value:
            case str():
                return self._secret.sub(MASK, value)
            case dict():
                return {self.result(key): self.result(item) for key, item in value.items()}
            case list() | tuple():
                return [self.result(item) for item in value]
            case _:
                return value


def address(url: str) -> str:
    """An address that can be shown: without a name, a password, a key or a query in it."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    path = "/".join(MASK if _KEY.fullmatch(part) else part for part in parts.path.split("/"))
    return f"{parts.scheme}://{host}{port}{path}"


def _named(server: Server) -> Iterator[tuple[str, str]]:
    """Names and values that are not shown, also the parts of a value that are alone."""
    for name, value in server.environ.items():
        yield name, value
    for name, value in server.headers.items():
        yield f"{name} token", value
        for part in value.split()[1:]:
            yield f"{name} token", part
    for value in (server.oauth.client_secret, server.oauth.private_key):
        yield "client secret", value
    try:
        parts = urlsplit(server.url)
        query = parse_qsl(parts.query)
    except ValueError:
        return
    if parts.password:
        yield "password", unquote(parts.password)
    for name, value in query:
        yield name, value
    for part in parts.path.split("/"):
        if _KEY.fullmatch(part):
            yield "key", part


def _looks_secret(name: str, value: str) -> bool:
    if len(value) < SHORTEST_SECRET or PLAIN.fullmatch(value):
        return False
    return bool(TELLING.search(name)) or (len(value) >= 20 and any(map(str.isdigit, value)))


def _pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """One pattern for all values, the longest first."""
    said = {form for value in values if len(value) >= SHORTEST for form in _forms(value)}
    known = sorted(said, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known))) if known else None


def _forms(value: str) -> Iterator[str]:
    """A value, and how it looks inside of what programs print."""
    yield value
    yield repr(value)[1:-1]
    yield quote(value, safe="", errors="replace")
    with suppress(UnicodeEncodeError):
        yield msgspec.json.encode(value).decode()[1:-1]
