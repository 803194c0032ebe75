"""What is said between a capsule and a model: the prompt, its items, and the events of an answer.

Every driver speaks these records and nothing else; wire formats stay inside the drivers.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol

from msgspec import Struct


class ToolSpec(Struct, frozen=True):
    """A tool as a model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Call(Struct, frozen=True):
    """A tool call as the model made it. `malformed` holds arguments that were not a JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] = {}
    malformed: str | None = None


class UserItem(Struct, frozen=True):
    """Words of the person; `steer` when said into a running turn, None where nobody can tell."""

    text: str
    steer: bool | None = None


class AssistantItem(Struct, frozen=True):
    """An answer of the model."""

    text: str
    reasoning: str
    calls: tuple[Call, ...]


class ResultItem(Struct, frozen=True):
    """The result of a call, as text the model reads."""

    call: str
    text: str
    failed: bool = False


Item = UserItem | AssistantItem | ResultItem


class Prompt(Struct, frozen=True):
    """Everything a model is given for one answer; `items` only ever grows at its end."""

    system: str
    tools: tuple[ToolSpec, ...]
    items: Sequence[Item]


class Tokens(Struct, frozen=True):
    """Tokens one request used."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0


class TextDelta(Struct, frozen=True):
    """A piece of text."""

    text: str


class ThoughtDelta(Struct, frozen=True):
    """A piece of reasoning."""

    text: str


class Completed(Struct, frozen=True):
    """The whole answer; always the last event of a stream."""

    text: str
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    tokens: Tokens = Tokens()
    stop: str = "end"


Event = TextDelta | ThoughtDelta | Completed


class Driver(Protocol):
    """A model. `stream` yields deltas and ends with `Completed`, or raises `DriverProblem`."""

    @property
    def model(self) -> str:
        """The name that the log and the bill carry."""
        ...

    def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """Ask for one answer; closing the iterator ends the request at once."""
        ...
