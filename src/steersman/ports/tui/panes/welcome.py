"""What an empty conversation shows: where one is, and how to begin."""

from textwrap import wrap

from textual.content import Content
from textual.widget import Widget

from steersman import __version__
from steersman.ports.tui.panes.lines import Piece, line, stacked
from steersman.records.thread import Thread
from steersman.views.facts import Facts, short_model
from steersman.views.text import ago, one_line

COLUMN = 18  # for the names of tips
TIPS = (
    ("Say what you want", "in your own words; @ names files, / shows commands"),
    ("While it works", "Enter queues, again sends now; Esc stops"),
    ("You review", "changes when a turn ends; what cannot be undone asks first"),
)


class Welcome(Widget):
    """A few lines in the place of the conversation."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._facts = Facts()
        self._last: Thread | None = None

    def offer(self, thread: Thread) -> None:
        """Offer to go on with a thread."""
        self._last = thread
        self.refresh()

    def show(self, facts: Facts) -> None:
        """Show where one is."""
        if facts != self._facts:
            self._facts = facts
            self.refresh()

    def render(self) -> Content:
        """The lines; on a small screen only the first ones."""
        width = max(1, self.content_size.width)
        facts = self._facts
        where = [("steersman ", "bold $primary"), (__version__, "$muted")]
        model = short_model(facts.model) or "no model yet"
        lines = [
            line(where, width=width),
            line([(one_line(f"{facts.folder}", 200), "")], width=width),
            line([(one_line(model, 200), "$muted")], width=width),
            Content(""),
        ]
        tips: tuple[tuple[str, str], ...] = TIPS
        if self._last is not None:
            title = one_line(self._last.title, 40) or "a thread without a title"
            told = f"“{title}”, {ago(self._last.updated)}; /continue opens it"
            tips = (*TIPS, ("Last time", told))
        for name, told in tips:
            lines += tip(name, told, width)
        return stacked(lines[: max(1, self.content_size.height)])


def tip(name: str, told: str, width: int) -> list[Content]:
    """A tip beside its name, in as many lines as it needs; below it where there is no room."""
    beside = width >= 2 * COLUMN
    room = width - COLUMN if beside else width
    lines = wrap(told, max(room, 1))
    named: list[Piece] = [(f"{name:<{COLUMN}}", "$foreground")]
    if not beside:
        return [line(named, width=width), *(line([(one, "$muted")], width=width) for one in lines)]
    heads = [named, *([(" " * COLUMN, "")] for _ in lines[1:])]
    return [
        line([*head, (one, "$muted")], width=width) for head, one in zip(heads, lines, strict=True)
    ]
