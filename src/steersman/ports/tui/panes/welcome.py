"""What an empty conversation shows: where one is, and how to begin."""

from textual.content import Content
from textual.widget import Widget

from steersman import __version__
from steersman.ports.tui.panes.lines import line, stacked
from steersman.records.thread import Thread
from steersman.views.facts import Facts, short_model
from steersman.views.text import ago, one_line

TIPS = (
    ("Say what you want", "in your own words; @ names files, / shows commands"),
    ("While it works", "Enter steers it, Tab queues, Esc stops"),
    ("You review", "what changed when a turn ends; what cannot be undone asks first"),
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
        lines += [
            line([(f"{name:<18}", "$foreground"), (told, "$muted")], width=width)
            for name, told in tips
        ]
        return stacked(lines[: max(1, self.content_size.height)])
