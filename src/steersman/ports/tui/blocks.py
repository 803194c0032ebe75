"""What a screen shows of a thread: blocks, told from messages by `story.py`, drawn by `drawing/`.

Records only, without colours and widths. A block changes while the work it shows goes on; its
`version` tells whoever has drawn it that it is another now.
"""

from typing import Literal

from steersman.action import Action, Verdict
from steersman.message import (
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


class Block:
    """One thing on the screen. `seq` is its first message, `lane` whose words they are."""

    __slots__ = ("key", "lane", "seq", "state", "turn", "version")

    def __init__(self, key: str, seq: int, turn: int, lane: str, state: State = "done") -> None:
        self.key = key
        self.seq = seq
        self.turn = turn
        self.lane = lane
        self.state = state
        self.version = 0

    def touch(self) -> None:
        """It is another now."""
        self.version += 1


class Person(Block):
    """Words of the person: a prompt, or said into a running turn, with what became of them."""

    __slots__ = ("attached", "images", "receipt", "text")

    def __init__(self, key: str, seq: int, turn: int, lane: str, text: str) -> None:
        super().__init__(key, seq, turn, lane)
        self.text = text
        self.receipt: Receipt = ""
        self.attached: tuple[str, ...] = ()
        self.images = 0


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
    """A call of a tool: what was asked, what the gate said, what came of it."""

    __slots__ = ("call", "diffs", "progress", "result", "verdicts")

    def __init__(self, key: str, seq: int, turn: int, lane: str, call: ToolCall) -> None:
        super().__init__(key, seq, turn, lane, "running")
        self.call = call
        self.progress = ""  # the end of what it shows while it runs
        self.verdicts: list[tuple[Action, Verdict]] = []
        self.diffs: list[DiffReady] = []
        self.result: ToolResult | None = None


class Request(Block):
    """A permission that is asked for; `response` once somebody answered."""

    __slots__ = ("corr", "request", "response")

    def __init__(
        self, key: str, seq: int, turn: int, lane: str, corr: str, request: ConfirmRequest
    ) -> None:
        super().__init__(key, seq, turn, lane, "waiting")
        self.corr = corr
        self.request = request
        self.response: ConfirmResponse | None = None


class Asked(Block):
    """A question to the person."""

    __slots__ = ("answer", "corr", "question")

    def __init__(
        self, key: str, seq: int, turn: int, lane: str, corr: str, question: Question
    ) -> None:
        super().__init__(key, seq, turn, lane, "waiting")
        self.corr = corr
        self.question = question
        self.answer: Answer | None = None


class Remark(Block):
    """Everything else that is worth a line: errors, audits, agents, compactions, ends of turns."""

    __slots__ = ("body",)

    def __init__(self, key: str, seq: int, turn: int, lane: str, body: Body, state: State) -> None:
        super().__init__(key, seq, turn, lane, state)
        self.body = body
