"""What is said between a capsule and a model: the prompt, its items, and the events of an answer.

Every driver speaks these records and nothing else; wire formats stay inside the drivers.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from steersman.records.errors import DriverProblem


class ToolSpec(Struct, frozen=True):
    """A tool as a model sees it; `parameters` is a JSON Schema object.

    `family` is the kind of tool, for those who show it; models are not reported.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    family: str = ""


class Call(Struct, frozen=True, gc=False):
    """A tool call as the model made it. `malformed` holds arguments that were not a JSON object.

    `typed` when it is no model's but a command that a person typed.
    """

    id: str
    name: str
    arguments: dict[str, Any] = {}
    malformed: str | None = None
    typed: bool = False


class Image(Struct, frozen=True, gc=False, omit_defaults=True):
    """A picture: its media type, such as `image/png`, and its bytes in base64.

    In a log it has the digest of its bytes instead, which the store keeps once.
    """

    media: str
    data: str = ""
    digest: str = ""


class ProviderState(Struct, frozen=True, omit_defaults=True):
    """What a provider wants handed back with an answer, such as signed or encrypted reasoning.

    Opaque to everyone else, and handed back only to the model of the provider that gave it.
    """

    provider: str
    model: str
    items: tuple[dict[str, Any], ...] = ()


class UserItem(Struct, frozen=True, gc=False):
    """Words of the user; `steer` when said into a running turn, None where nobody can tell."""

    text: str
    steer: bool | None = None
    images: tuple[Image, ...] = ()


class AssistantItem:
    """An answer of the model. `acts` shows whether it calls tools.

    The calls may be given as a function: a long history is read long before anyone looks at it,
    and most of it never.
    """

    __slots__ = ("_calls", "acts", "reasoning", "state", "text")

    def __init__(
        self,
        text: str,
        reasoning: str,
        calls: tuple[Call, ...] | Callable[[], tuple[Call, ...]],
        state: ProviderState | None = None,
    ) -> None:
        self.text = text
        self.reasoning = reasoning
        self.acts = bool(calls)
        self.state = state
        self._calls = calls

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls it made."""
        if not isinstance(self._calls, tuple):
            self._calls = self._calls()
        return self._calls

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AssistantItem) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash((self.text, self.reasoning))

    def __repr__(self) -> str:
        return f"AssistantItem{self._all()!r}"

    def _all(self) -> tuple[str, str, tuple[Call, ...], ProviderState | None]:
        return self.text, self.reasoning, self.calls, self.state


class ResultItem:
    """The result of a call, as text the model reads; `load` gives text and failure when needed."""

    __slots__ = ("_failed", "_load", "_text", "call")

    def __init__(
        self,
        call: str,
        text: str = "",
        failed: bool = False,
        *,
        load: Callable[[], tuple[str, bool]] | None = None,
    ) -> None:
        self.call = call
        self._text = text
        self._failed = failed
        self._load = load

    @property
    def text(self) -> str:
        """What the model reads."""
        return self._all()[1]

    @property
    def failed(self) -> bool:
        """True when the call did not do what was asked."""
        return self._all()[2]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResultItem) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self.call)

    def __repr__(self) -> str:
        return f"ResultItem{self._all()!r}"

    def _all(self) -> tuple[str, str, bool]:
        if self._load is not None:
            self._text, self._failed = self._load()
            self._load = None
        return self.call, self._text, self._failed


Item = UserItem | AssistantItem | ResultItem


class Prompt(Struct, frozen=True):
    """Everything a model is given for one answer; `items` only ever grows at its end.

    With a `schema` the answer is to be JSON that fits it.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    items: Sequence[Item]
    schema: dict[str, Any] | None = None


class Tokens(Struct, frozen=True):
    """Tokens one request used; `reasoning` is part of `output`.

    `cached` were read from the provider's cache and `written` put into it, both part of `input`.
    """

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    written: int = 0


class TextDelta(Struct, frozen=True):
    """A piece of text."""

    text: str


class ThoughtDelta(Struct, frozen=True):
    """A piece of reasoning."""

    text: str


class Waiting(Struct, frozen=True):
    """The request is sent in so many seconds, for a reason that people are shown."""

    what: str
    why: str
    seconds: float


Stop = Literal["end", "tool_calls", "length", "refusal", "content_filter"]


class Completed(Struct, frozen=True):
    """The whole answer; always the last event of a stream. `stop` says why it ended."""

    text: str
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    tokens: Tokens = Tokens()
    stop: Stop = "end"
    state: ProviderState | None = None


Event = TextDelta | ThoughtDelta | Waiting | Completed


class Unanswered(DriverProblem):
    """A model was asked, and paid, and gave no answer; `tokens` are what that used."""

    tokens = Tokens()


class Driver(Protocol):
    """A model. `stream` yields deltas and ends with `Completed`, or raises `DriverProblem`."""

    @property
    def model(self) -> str:
        """The name that the log and the bill carry."""
        ...

    def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """Ask for one answer; closing the iterator ends the request at once."""
        ...
