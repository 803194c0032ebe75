"""What passes between the server and a wire format: a request as understood, an answer to say.

No wire format lives here, and no I/O.
"""

from collections.abc import Iterator
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from steersman.intelligence.scripted.driver import cut
from steersman.records.dialogue import Prompt, Tokens

MODEL = "scripted"

_OTHER_LINE_ENDS = ("\x85", "\u2028", "\u2029")

Purpose = Literal["answer", "count", "models", "unknown"]


class BadRequest(Exception):
    """The body of a request cannot be understood."""


class Address(Struct, frozen=True):
    """What the address of a request says."""

    purpose: Purpose
    model: str = ""
    stream: bool = False
    sse: bool = True


class Asked(Struct, frozen=True, kw_only=True):
    """A request, understood. `schema` is the JSON Schema the answer must fit, `{}` for any object.

    `wants_usage` and `sse` say how a stream is to look; `free_text` names the tools that take text
    in place of a JSON object; `namespaces` gives a tool's namespace, for those that have one.
    """

    prompt: Prompt
    model: str
    stream: bool
    schema: dict[str, Any] | None = None
    wants_usage: bool = True
    sse: bool = True
    free_text: frozenset[str] = frozenset()
    namespaces: dict[str, str] = {}


class SpokenCall(Struct, frozen=True):
    """A tool call to say: `text` for a wire that carries text, `arguments` for one of objects."""

    id: str
    name: str
    text: str
    arguments: dict[str, Any]


class Answer(Struct, frozen=True, kw_only=True):
    """An answer before it has a wire format; `tag` makes its ids, `chunk` sizes its deltas."""

    tag: str
    created: int
    model: str
    text: str
    reasoning: str
    calls: tuple[SpokenCall, ...]
    tokens: Tokens
    chunk: int

    def pieces(self, text: str) -> list[str]:
        """Text as the deltas that carry it."""
        return cut(text, self.chunk)

    @property
    def characters(self) -> int:
        """How many characters the deltas of a stream carry."""
        return len(self.reasoning) + len(self.text) + sum(len(call.text) for call in self.calls)


class Frame(Struct, frozen=True):
    """Bytes to send at once, and how many characters of the answer are in them."""

    data: bytes
    said: int = 0


class Failure(Struct, frozen=True):
    """An error in a provider's own words."""

    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Wire(Protocol):
    """One provider's format, both ways."""

    @property
    def name(self) -> str:
        """The name the request log carries."""
        ...

    def read(self, body: bytes, place: Address) -> Asked:
        """Understand a request, or raise `BadRequest`."""
        ...

    def whole(self, asked: Asked, answer: Answer) -> bytes:
        """The body of an answer that is not streamed."""
        ...

    def frames(self, asked: Asked, answer: Answer) -> Iterator[Frame]:
        """The events of a streamed answer."""
        ...

    def failure(self, status: int, message: str, retry_after: float | None = None) -> Failure:
        """An error answer."""
        ...

    def counted(self, tokens: int) -> bytes:
        """The answer to a request that counts tokens."""
        ...

    def models(self) -> bytes:
        """The list of models: one."""
        ...


def one_line(data: object) -> bytes:
    """Data as JSON that is one line for every client: some split at more than line feeds."""
    text = msgspec.json.encode(data)
    for character in _OTHER_LINE_ENDS:
        text = text.replace(character.encode(), f"\\u{ord(character):04x}".encode())
    return text


def event(data: object, name: str = "", said: int = 0) -> Frame:
    """A server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return Frame(head + b"data: " + one_line(data) + b"\n\n", said)
