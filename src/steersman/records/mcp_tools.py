"""What is known of a server and its tools, whatever version of the protocol it speaks."""

from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct

from steersman.records.errors import ToolProblem
from steersman.records.patterns import pattern

Effect = Literal["reads", "writes"]
LONGEST_NAME = 64  # what providers take as the name of a tool
_ODD = pattern(r"[^A-Za-z0-9_-]")


class ServerProblem(ToolProblem):
    """A server that cannot be started, does not answer, or answers with what nobody can read."""


class RemoteTool(Struct, frozen=True, omit_defaults=True):
    """A tool of a server. `hints` are its annotations as it sent them, trusted as far as rules go.

    `repaired` says what was wrong with its schema, when something was.
    """

    server: str
    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    hints: dict[str, Any] = {}
    repaired: str = ""

    @property
    def full_name(self) -> str:
        """Its server's name and its own."""
        return f"{self.server}__{self.name}"

    @property
    def call_name(self) -> str:
        """The name by which a model calls it: its full name, made to fit where it does not.

        Two tools never share one: a name that had to be changed ends with a digest of the real one.
        """
        full = self.full_name
        plain = _ODD.sub("_", full)
        if plain == full and len(full) <= LONGEST_NAME:
            return full
        mark = sha256(full.encode("utf-8", "replace")).hexdigest()[:6]
        return f"{plain[: LONGEST_NAME - 7]}_{mark}"


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What a call gave: text, what is not text (described, with its size), and structure.

    `whole` is the result as the server sent it, for a client that speaks the protocol itself.
    """

    text: str
    structured: Any = None
    attachments: tuple[str, ...] = ()
    failed: bool = False
    cut: int = 0  # characters that were left out
    whole: Mapping[str, Any] = {}


class Condition(Struct, frozen=True, omit_defaults=True):
    """How a server is doing. `tools` is how many are known, -1 when it was never asked."""

    server: str
    state: Literal["idle", "starting", "running", "failed", "disabled"]
    reason: str = ""
    tools: int = -1
    version: str = ""


class Wishes(Struct, frozen=True):
    """What a server may ask of the host, each answered by whoever holds the gate.

    A callable that raises a `SteersmanError` refuses. `sample` is given the request as JSON and
    gives the text of a model; `elicit` is given the message and the schema and gives
    ("accept" | "decline" | "cancel", content); `roots` are folders as file URIs.
    """

    sample: Callable[[str, Mapping[str, Any]], Awaitable[str]] | None = None
    elicit: (
        Callable[[str, str, Mapping[str, Any]], Awaitable[tuple[str, dict[str, Any]]]] | None
    ) = None
    roots: Callable[[str], Awaitable[list[str]]] | None = None
    changed: Callable[[str], None] | None = None  # the server's list of tools is another now
