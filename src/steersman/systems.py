"""The contracts by which the five systems meet; each system keeps its own half of them."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from steersman.records.action import Action, Verdict
from steersman.records.dialogue import Call, Prompt, ToolSpec
from steersman.records.hunks import FileHunks
from steersman.records.message import Answer, Message, Question, ToolResult, TurnEnd
from steersman.records.profile import Profile
from steersman.store.log import Draft, Lane

Note = Callable[[Call], str]


class Identity(Protocol):
    """Who an agent is."""

    @property
    def name(self) -> str:
        """What the agent is called; its lane begins with it."""
        ...

    def instructions(self) -> str:
        """What the model gets before anything else; the same bytes every time."""
        ...

    def remark(self, call: Call) -> str:
        """What the model should know about what a call touches; each thing once."""
        ...


class Permit(Protocol):
    """The gate's permission for certain actions, and nothing else."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """What may be done."""
        ...

    @property
    def profile(self) -> Profile:
        """How far a command that may be run is confined."""
        ...

    @property
    def secret(self) -> str:
        """Which files below the paths are left out, as lines of a `.gitignore`."""
        ...


class Left(Struct, frozen=True):
    """What a turn was about to do when its process died: questions to ask, calls to carry out.

    `calls` are the `tool_call` messages of those that had not begun; `steps` counts the answers of
    the model that the turn has had. `finished` when the model had nothing more to do.
    """

    calls: tuple[Message, ...] = ()
    questions: tuple[Question, ...] = ()
    steps: int = 0
    finished: bool = False


class Edited(Struct, frozen=True):
    """Something else than was asked, which has to be judged in turn.

    A person approves the call with other `arguments`, or only some `hunks` of the files `asked`
    about; the gate itself replaces a command by a `safer` one, which was not asked about yet.
    """

    arguments: dict[str, Any] | None = None
    hunks: tuple[FileHunks, ...] | None = None
    asked: tuple[str, ...] = ()
    safer: str = ""


class Governance(Protocol):
    """What an agent may do: the one gate."""

    async def admit(
        self,
        call: str,
        tool: str,
        actions: Sequence[Action],
        lane: Lane,
        *,
        edited: bool = False,
        whole: bool = False,
    ) -> Permit | Edited | Verdict:
        """Judge actions, log every verdict, ask a person where that is the verdict.

        Returns a permit, what the user made of the call, or the verdict against it.
        Whoever has just `edited` it is only asked about what their question did not have; `whole`
        is what they cannot change.
        """
        ...

    def forbids(self, action: Action) -> bool:
        """Whether the mode denies what a tool does, whatever its arguments are."""
        ...

    async def foresee(self, call: str, tool: str, actions: Sequence[Action], lane: Lane) -> None:
        """Ask about a call before its turn has come, where a person will be asked."""
        ...

    @property
    def asks_early(self) -> bool:
        """Whether people are asked about calls before their turn has come."""
        ...

    async def glance(
        self, call: str, tool: str, actions: Sequence[Action], lane: Lane
    ) -> Permit | None:
        """A permit to look at what a plan needs, where nobody must be asked about that."""
        ...

    def hold(self, call: str, why: str) -> None:
        """Have the user asked about what a call does even where it is allowed, until it is over."""
        ...

    def over(self, call: str) -> None:
        """A call has ended; nothing that was asked about it matters any more."""
        ...

    def check_budget(self, tokens: int = 0, cost: float = 0.0) -> None:
        """Raise when too much was spent to continue, or would be after the next request."""
        ...

    @property
    def attended(self) -> bool:
        """Whether someone can answer."""
        ...

    async def question(self, asked: Question, lane: Lane) -> Answer:
        """Ask the user something; the default when there is no one to ask."""
        ...


class Hooked(Struct, frozen=True):
    """What hooks made of a call before it: other `arguments`, a reason to `ask` or to `refuse`.

    `told` is for the model; `stop` ends the turn.
    """

    call: Call
    ask: str = ""
    refuse: str = ""
    told: str = ""
    stop: str = ""


class CallHooks(Protocol):
    """What people have run before and after calls."""

    async def before(self, call: Call, lane: Lane) -> Hooked:
        """Run what is to be run before a call."""
        ...

    async def after(self, call: Call, result: ToolResult, lane: Lane) -> Hooked:
        """Run what is to be run after a call that was carried out."""
        ...


class Coordination(Protocol):
    """Whose turn it is."""

    async def deliver(self, lane: Lane) -> list[Message]:
        """Hand over what the user said to a running turn since the last model call."""
        ...


class Operations(Protocol):
    """What an agent does."""

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools, in a stable order."""
        ...

    def announce(self, call: Call, lane: Lane) -> Draft:
        """The `tool_call` message for a call."""
        ...

    async def execute(self, calls: Sequence[Call], lane: Lane, note: Note) -> list[Message]:
        """Carry out announced calls through the gate; every call ends with a `tool_result`."""
        ...

    async def resume(self, announced: Sequence[Message], lane: Lane, note: Note) -> list[Message]:
        """Carry out calls that an earlier process announced and did not begin, by their ids."""
        ...


class Deck(Protocol):
    """What the thinking system builds on during a turn: its only way to the other four."""

    lane: Lane

    def prompt(self) -> Prompt:
        """Everything the model gets for its next answer."""
        ...

    async def fit(self, cause: Literal["window", "context_length"]) -> bool:
        """Bring the next prompt into the model's window; True when something was compacted."""
        ...

    def learn(self, reported: int) -> None:
        """Take note of how many input tokens the last prompt really had."""
        ...

    async def deliver(self) -> bool:
        """Hear what the user said meanwhile; False when there was nothing."""
        ...

    async def continues(self) -> bool:
        """Whether there is more to do where the model is done: the user is asked about a plan."""
        ...

    def announce(self, call: Call) -> Draft:
        """The `tool_call` message for a call."""
        ...

    async def execute(self, calls: Sequence[Call], note: Note) -> list[Message]:
        """Carry out announced calls."""
        ...

    async def resume(self, announced: Sequence[Message], note: Note) -> list[Message]:
        """Carry out calls that an earlier process announced and did not begin."""
        ...

    @property
    def attended(self) -> bool:
        """Whether someone is there who can stop the turn."""
        ...

    async def question(self, asked: Question) -> str:
        """Ask the user."""
        ...


class Intelligence(Protocol):
    """What an agent uses."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    async def turn(self, deck: Deck, left: Left | None = None) -> TurnEnd:
        """Work until the model has nothing more to do; first do what is left of an earlier try."""
        ...
