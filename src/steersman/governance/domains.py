"""Which hosts commands may reach, as lists of patterns: pure, and nothing is ever looked up.

`example.org` is that host, `*.example.org` every host below it and not itself. Without a port an
allowed host may be reached on 80 and 443, and a denied one on none. An address is a pattern too.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from steersman.records.addresses import canonical_host, literal
from steersman.records.errors import UsageProblem

USUAL = frozenset({80, 443})
LOCAL = "localhost"

Word = Literal["allow", "deny", "unknown"]


class Pattern(Struct, frozen=True):
    """A host, or all below it; `port` is 0 when none is named."""

    host: str
    below: bool
    port: int

    def names(self, host: str) -> bool:
        """Whether a host in its one spelling is meant."""
        return host.endswith(f".{self.host}") if self.below else host == self.host


class Domains:
    """Patterns of hosts; what no pattern names is unknown, and an empty list names nothing."""

    def __init__(self, allowed: Sequence[str], denied: Sequence[str] = ()) -> None:
        self._allowed = [_sound(text, denied=False) for text in allowed]
        self._denied = [_sound(text, denied=True) for text in denied]

    def verdict(self, host: str, port: int) -> Word:
        """What the lists say of a host as a program named it; deny goes before allow."""
        name = canonical_host(host)
        if not name or _hits(self._denied, name, port):
            return "deny"
        return "allow" if self._allowing(name, port) else "unknown"

    def local(self, host: str, port: int) -> bool:
        """Whether a host of this machine or its network was allowed by its very name.

        Only an address or `localhost` can be: no name of a domain opens the way to an address
        that is out of bounds.
        """
        name = canonical_host(host)
        if not name or _hits(self._denied, name, port):
            return False
        exact = any(not pattern.below for pattern in self._allowing(name, port))
        return exact and (name == LOCAL or literal(name) is not None)

    def _allowing(self, name: str, port: int) -> list[Pattern]:
        return [
            pattern
            for pattern in self._allowed
            if pattern.names(name) and (port == pattern.port if pattern.port else port in USUAL)
        ]


def nearby(allowed: Sequence[str]) -> tuple[str, ...]:
    """The hosts of this machine or its network that patterns allow by name, as `host:port`."""
    sound = [_sound(text, denied=False) for text in allowed]
    return tuple(
        f"{pattern.host}:{port}"
        for pattern in sound
        if not pattern.below and (pattern.host == LOCAL or literal(pattern.host) is not None)
        for port in ([pattern.port] if pattern.port else sorted(USUAL))
    )


def check_pattern(text: str, *, denied: bool = False) -> str:
    """What is wrong with a pattern, as a sentence; empty when it is fine."""
    read = _read(text, denied=denied)
    return read if isinstance(read, str) else ""


def _hits(patterns: Sequence[Pattern], name: str, port: int) -> bool:
    return any(
        pattern.names(name) and (not pattern.port or pattern.port == port) for pattern in patterns
    )


def _sound(text: str, *, denied: bool) -> Pattern:
    read = _read(text, denied=denied)
    if isinstance(read, str):
        raise UsageProblem(
            f"“{text}” is not a host pattern.",
            read,
            "Write a host as in example.org, *.example.org or example.org:8080.",
        )
    return read


def _read(text: str, *, denied: bool) -> Pattern | str:
    """A pattern, or what is wrong with it."""
    if "://" in text or "/" in text:
        return "A pattern names a host and perhaps a port, not a scheme or a path."
    host, port = _apart(text)
    below = host.startswith("*.")
    name = canonical_host(host[2:] if below else host)
    complaint = _complaint(host, name, below=below, denied=denied)
    if complaint:
        return complaint
    if port == "":
        return Pattern(name, below, 0)
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) < 65536):
        return f"“{port}” is not a port: it must be a number from 1 to 65535."
    return Pattern(name, below, int(port))


def _complaint(host: str, name: str, *, below: bool, denied: bool) -> str:
    """What is wrong with the host of a pattern."""
    if host == "*" and not denied:
        return "A single * would allow every host; name those that are needed."
    if "*" in host[2 if below else 0 :]:
        return "A * is only allowed at the beginning, followed by a dot, for all hosts below one."
    if not name:
        return f"“{host}” cannot be the name of a host."
    if below and literal(name):
        return "An IP address has no hosts below it."
    if below and "." not in name and not denied:
        return f"*.{name} would allow a whole top-level domain; name a host below it."
    return ""


def _apart(text: str) -> tuple[str, str]:
    """A pattern's host and port; an address with colons wants brackets round it before a port."""
    if text.startswith("["):
        host, _, rest = text.partition("]")
        return (host + "]", rest[1:] or "none") if rest.startswith(":") else (host + "]" + rest, "")
    if text.count(":") > 1:
        return text, ""
    host, colon, port = text.partition(":")
    return host, port or ("none" if colon else "")
