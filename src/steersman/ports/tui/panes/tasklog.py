"""The task log: turn by turn the calls and how long they took, what was tried again, agents."""

from collections.abc import Collection, Sequence
from itertools import islice

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from steersman.ports.tui.panes.lines import Piece, duration, line, mark, stacked
from steersman.records.message import Compaction, Error, TurnEnd
from steersman.views.blocks import Agent, Asked, Block, Person, Remark, Request, Work
from steersman.views.text import call_words, counted, one_line

MOST = 300  # lines; what is older is in the conversation itself


def log_lines(blocks: Sequence[Block], width: int, most: int = MOST) -> list[Content]:
    """The newest lines of the log, oldest first."""
    begun: dict[int, str] = {}  # the words that began each turn; others were said into it
    for block in blocks:
        if isinstance(block, Person) and block.receipt in ("", "delivered"):
            begun.setdefault(block.turn, block.key)
    begins = set(begun.values())
    found = (_told(block, width, begins) for block in reversed(blocks))
    return list(islice((told for told in found if told is not None), most))[::-1]


def _told(block: Block, width: int, begins: Collection[str]) -> Content | None:
    match block:
        case Person(text=text, receipt=receipt) if block.key not in begins:
            said = "" if receipt == "delivered" else receipt
            return _plain("›", "$primary", one_line(text, width), said, width)
        case Person(text=text):
            number = f"turn {block.turn} " if block.turn else ""
            words = [(number, "bold $primary"), (one_line(text, width), "bold")]
            return line(words, width=width)
        case Work():
            took = duration(block.result.ms) if block.result is not None else ""
            called = call_words(block.call.tool, block.call.arguments)
            return _item(block, called, took, width)
        case Request(request=request) if block.state == "waiting":
            return _item(block, f"waits for you: {request.tool}", "", width)
        case Asked(question=question) if block.state == "waiting":
            return _item(block, f"asks: {one_line(question.text, width)}", "", width)
        case Agent():
            return _agent(block, width)
        case Remark(body=body):
            return _remark(block, body, width)
    return None


def _remark(block: Remark, body: object, width: int) -> Content | None:
    match body:
        case Error(what=what, retry_in=wait) if wait is not None:
            return _plain(
                "↻", "$warning", f"{one_line(what, width)}", f"again in {wait:g} s", width
            )
        case Error(what=what):
            return _plain("✗", "$error", one_line(what, width), "", width)
        case Compaction(undone=False):
            return _plain("≡", "$muted", "older messages became a digest", "", width)
        case TurnEnd(ending=ending, steps=steps):
            took = f"{counted(steps, 'step')} · {duration(int(block.seconds * 1000))}"
            sign, style = ("✓", "$success") if ending == "done" else mark(block.state)
            return _plain(sign, style, ending, took, width)
    return None


def _agent(block: Agent, width: int) -> Content:
    words = one_line(f"{block.spawn.agent}: {block.now or block.spawn.task}", width)
    return _item(block, words, counted(block.calls, "call") if block.calls else "", width)


def _item(block: Block, words: str, right: str, width: int) -> Content:
    return _plain(
        *mark(block.state), words, right or ("…" if block.state == "running" else ""), width
    )


def _plain(sign: str, style: str, words: str, right: str, width: int) -> Content:
    left: list[Piece] = [("  ", ""), (sign, style), (" ", ""), (words, "")]
    return line(left, (right, "$muted"), width)


class TaskLog(VerticalScroll, can_focus=False):
    """The pane."""

    BORDER_TITLE = "log"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._blocks: Sequence[Block] = ()

    def compose(self) -> ComposeResult:
        """One text, written again when something happened."""
        yield Static(id="log-text")

    def show(self, blocks: Sequence[Block]) -> None:
        """Show what the blocks tell."""
        self._blocks = blocks
        width = max(10, self.scrollable_content_region.width)
        lines = log_lines(blocks, width)
        text = stacked(lines) if lines else Content.styled("Nothing has happened yet.", "$muted")
        self.query_one(Static).update(text)
        self.scroll_end(animate=False)

    def on_resize(self) -> None:
        """Lines are cut to the width."""
        self.show(self._blocks)
