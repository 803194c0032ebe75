"""What is known of a server and its tools, whatever version of the protocol it speaks."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from steersman.records.errors import ToolProblem

Effect = Literal["reads", "writes"]


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
        """How a model calls it."""
        return f"{self.server}__{self.name}"


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
