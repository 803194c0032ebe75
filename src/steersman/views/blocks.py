"""What a screen shows of a thread: blocks, built from messages by `story.py`, drawn by `drawing/`.

Records only, without colours and widths. A block changes while the work it shows continues; its
`version` tells whoever has drawn it that it is another now.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from steersman.records.action import Action, Verdict
from steersman.records.in_context import typed
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Answer,
    Body,
    ConfirmRequest,
    ConfirmResponse,
    DiffReady,
    Question,
    ToolCall,
    ToolResult,
)

State = Literal["running", "done", "error", "denied", "cancelled", "waiting"]
Receipt = Literal["", "pending", "delivered", "queued", "withdrawn"]


class Todo(Struct, frozen=True):
    """A step of the list that is shown beside the conversation."""

    text: str
    state: Literal["pending", "doing", "done", "dropped"] = "pending"


class Block:
    """One thing on the screen. `seq` is its first message, `lane` whose words they are.

    `seq` is 0 as long as nothing of it is in the log: words on their way. `time` is when it was
    first written there.
    """

    __slots__ = ("key", "lane", "seq", "state", "time", "turn", "version")

    def __init__(self, key: str, seq: int, turn: int, lane: str, state: State = "done") -> None:
        self.key = key
        self.seq = seq
        self.turn = turn
        self.lane = lane
        self.state = state
        self.version = 0
        self.time: datetime | None = None

    def touch(self) -> None:
        """It is another now."""
        self.version += 1


class Person(Block):
    """Words of the user: a prompt, or said into a running turn, with what became of them.

    `corr` names words that were said while a turn ran: by it they are withdrawn. `sent` is what
    the model gets.
    """

    __slots__ = ("attached", "corr", "images", "receipt", "sent")

    def __init__(self, key: str, seq: int, turn: int, lane: str, sent: str) -> None:
        super().__init__(key, seq, turn, lane)
        self.sent = sent
        self.corr = ""
        self.receipt: Receipt = ""
        self.attached: tuple[str, ...] = ()
        self.images = 0

    @property
    def text(self) -> str:
        """What was typed."""
        return typed(self.sent)


class Words(Block):
    """Words of a model, as they come; `thought` when it thinks aloud."""

    __slots__ = ("pieces", "thought")

    def __init__(
        self, key: str, seq: int, turn: int, lane: str, *, thought: bool, state: State = "running"
    ) -> None:
        super().__init__(key, seq, turn, lane, state)
        self.thought = thought
        self.pieces: list[str] = []

    @property
    def text(self) -> str:
        """All of it so far."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


class Work(Block):
    """A call of a tool: what was asked, what the gate said, what came of it.

    `by_agent` when an agent carries it out; then the agent's block shows everything. `call` is what
    runs: where the user changed it before, `made` says so. `rule` is that of the guard which
    blocked it. `command` is that of the background job it is about.
    """

    __slots__ = (
        "by_agent", "call", "command", "corr", "diffs", "made", "progress", "result", "rule",
        "verdicts",
    )  # fmt: skip

    def __init__(self, key: str, seq: int, turn: int, lane: str, call: ToolCall) -> None:
        super().__init__(key, seq, turn, lane, "running")
        self.call = call
        self.corr = ""
        self.by_agent = False
        self.command = ""
        self.made = ""
        self.rule = ""
        self.progress = ""  # the end of what it shows while it runs
        self.verdicts: list[tuple[Action, Verdict]] = []
        self.diffs: list[DiffReady] = []
        self.result: ToolResult | None = None


class Request(Block):
    """A permission that is asked for; `response` once someone answered."""

    __slots__ = ("corr", "request", "response")

    def __init__(
        self, key: str, seq: int, turn: int, lane: str, corr: str, request: ConfirmRequest
    ) -> None:
        super().__init__(key, seq, turn, lane, "waiting")
        self.corr = corr
        self.request = request
        self.response: ConfirmResponse | None = None

    @property
    def call(self) -> str:
        """The call it is about."""
        return self.request.call


class Asked(Block):
    """A question to the user."""

    __slots__ = ("answer", "corr", "question")

    def __init__(
        self, key: str, seq: int, turn: int, lane: str, corr: str, question: Question
    ) -> None:
        super().__init__(key, seq, turn, lane, "waiting")
        self.corr = corr
        self.question = question
        self.answer: Answer | None = None

    @property
    def call(self) -> str:
        """The call that asks it, if one does."""
        return self.question.call


class Agent(Block):
    """An agent at work in a lane of its own: its task, what it does now, how it ended.

    `inner` is its lane; blocks with that `lane` are its words and calls.
    """

    __slots__ = ("calls", "done", "inner", "now", "spawn")

    def __init__(self, key: str, seq: int, turn: int, lane: str, spawn: AgentSpawn) -> None:
        super().__init__(key, seq, turn, lane, "running")
        self.spawn = spawn
        self.inner = spawn.lane
        self.calls = 0
        self.now = ""  # the last thing it began
        self.done: AgentDone | None = None


class Remark(Block):
    """Everything else that is worth a line: errors, audits, compactions, ends of turns.

    `seconds` is how long a turn took, where its end is reported; `times` how often a request
    failed that is tried again; `advice` that of the error which ended a turn.
    """

    __slots__ = ("advice", "body", "seconds", "times")

    def __init__(self, key: str, seq: int, turn: int, lane: str, body: Body, state: State) -> None:
        super().__init__(key, seq, turn, lane, state)
        self.body = body
        self.seconds = 0.0
        self.times = 1
        self.advice = ""
