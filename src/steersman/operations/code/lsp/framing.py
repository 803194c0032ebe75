"""Messages of a language server in the bytes it sends: a few headers, an empty line, JSON.

Pure: what reads and writes is elsewhere. Whoever sends garbage learns so once, and nothing it
sends can make us keep more than one message of bounded size.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from steersman.records.counting import counted

LARGEST = 64 << 20
LONGEST_HEADERS = 8 << 10
_END = b"\r\n\r\n"


class Garbled(Exception):
    """Bytes that are not a message; what follows cannot be understood either."""


def encode(message: dict[str, Any]) -> bytes:
    """A message as it goes over the wire."""
    body = msgspec.json.encode(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Frames:
    """Takes bytes as they come, in whatever pieces, and gives whole messages."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._held = bytearray()
        self._wanted: int | None = None

    def feed(self, piece: bytes) -> Iterator[dict[str, Any]]:
        """The messages that are complete now; raises `Garbled` at what is none."""
        self._held += piece
        while True:
            if self._wanted is None:
                self._wanted = self._headers()
            if self._wanted is None or len(self._held) < self._wanted:
                return
            body = bytes(self._held[: self._wanted])
            del self._held[: self._wanted]
            self._wanted = None
            yield _decoded(body)

    def _headers(self) -> int | None:
        """How long the body is, once all headers are there."""
        end = self._held.find(_END)
        if end < 0 and len(self._held) <= LONGEST_HEADERS:
            return None
        if end < 0 or end > LONGEST_HEADERS:
            raise Garbled(f"no header ends within {LONGEST_HEADERS} bytes: {_start(self._held)}")
        length = _length(bytes(self._held[:end]))
        if length > self._largest:
            raise Garbled(f"a message of {counted(length, 'byte')} is larger than {self._largest}")
        del self._held[: end + len(_END)]
        return length


def _length(headers: bytes) -> int:
    for line in headers.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == b"content-length":
            number = value.strip()
            if number.isdigit() and len(number) < 20:
                return int(number)
            break
    raise Garbled(f"headers without a length: {_start(headers)}")


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Garbled(f"a body that is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise Garbled(f"a message that is not an object: {_start(body)}")
    return message


def _start(text: bytes | bytearray) -> str:
    return repr(bytes(text[:80]))
