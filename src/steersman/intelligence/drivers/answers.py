"""An answer as it is put together from the pieces of a stream, and what all formats share in it."""

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from steersman.records.dialogue import (
    Call,
    Completed,
    ProviderState,
    Stop,
    TextDelta,
    ThoughtDelta,
    Tokens,
    Unanswered,
)

Delta = TextDelta | ThoughtDelta
Deltas = Iterable[Delta]

_object = msgspec.json.Decoder(dict[str, Any])


class Broken(Exception):
    """An event of a stream reports an error; raised by readers."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.data = data


class Reader(Protocol):
    """Understands the events of one streamed answer.

    `begun` once the model has said anything, `whole` once nothing needed is missing, `done` when
    nothing more will come. `place` says where in the answer it is, for who must tell of a cut.
    """

    begun: bool
    whole: bool
    done: bool

    def take(self, data: bytes) -> Deltas:
        """Take in one event; gives what it adds to be shown."""
        ...

    def place(self) -> str:
        """Where the answer is."""
        ...

    def completed(self) -> Completed:
        """The whole answer, or `DriverProblem` when there is nothing in it."""
        ...


class CallDraft:
    """A tool call on its way."""

    __slots__ = ("extra", "id", "name", "pieces")

    def __init__(self, call_id: str = "", name: str = "") -> None:
        self.id = call_id
        self.name = name
        self.pieces: list[str] = []
        self.extra: Any = None


class Gathering:
    """The half of a reader that is the same for every format."""

    def __init__(self, provider: str, model: str) -> None:
        self.begun = self.whole = self.done = False
        self.words: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[Call] = []
        self.drafts: dict[int, CallDraft] = {}
        self.tokens = Tokens()
        self.stop: Stop = "end"
        self.why = ""
        self.kept: list[dict[str, Any]] = []
        self._owner = (provider, model)

    def say(self, text: str) -> Deltas:
        """Words to show."""
        self.begun = True
        self.words.append(text)
        return (TextDelta(text),)

    def think(self, text: str) -> Deltas:
        """Reasoning to show."""
        self.begun = True
        self.thoughts.append(text)
        return (ThoughtDelta(text),)

    def place(self) -> str:
        """Where the answer is."""
        if self.drafts:
            name = list(self.drafts.values())[-1].name
            return f"in the middle of a tool call{f' ({name})' if name else ''}"
        if self.words:
            return "in the middle of its text"
        return "while the model was thinking" if self.thoughts else "before the answer started"

    def completed(self) -> Completed:
        """The whole answer, or `DriverProblem` when there is nothing in it."""
        text = "".join(self.words)
        calls = (*self.calls, *(self._call(draft) for draft in self.drafts.values()))
        if not text and not calls:
            nothing = nothing_said(self.stop, self.why, thought=bool(self.thoughts))
            nothing.tokens = self.tokens
            raise nothing
        stop: Stop = self.stop
        if stop in ("end", "tool_calls"):
            stop = "tool_calls" if calls else "end"
        state = ProviderState(*self._owner, tuple(self.kept)) if self.kept else None
        return Completed(text, "".join(self.thoughts), calls, self.tokens, stop, state)

    def _call(self, draft: CallDraft) -> Call:
        """A call whose arguments came in pieces; an answer cut short may lack all of them."""
        if self.stop == "length" and not draft.pieces:
            return Call(draft.id, draft.name, malformed="")
        return parse_call(draft.id, draft.name, "".join(draft.pieces))


def parse_call(call_id: str, name: str, arguments: str) -> Call:
    """A call whose arguments came as text; text that is not a JSON object is kept as malformed."""
    try:
        return Call(call_id, name, _object.decode(arguments) if arguments.strip() else {})
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return Call(call_id, name, malformed=arguments)


def nothing_said(stop: Stop, why: str, *, thought: bool) -> Unanswered:
    """An answer without words and without calls."""
    if stop in ("refusal", "content_filter"):
        return Unanswered(
            "The model refused to answer.",
            why or "The provider's rules stopped the answer.",
            "Rephrase it, or choose another model.",
            kind="refusal",
        )
    if stop == "length":
        return Unanswered(
            "The model reached its output limit before it said anything.",
            "It used all of it for reasoning." if thought else why,
            "Raise max_output of the model, or lower its effort.",
            kind="empty",
        )
    return Unanswered(
        "The model gave an empty answer.",
        why or ("It returned reasoning, but no text." if thought else ""),
        "Ask again, or choose another model.",
        retryable=True,
        kind="empty",
    )
