"""The status: as a pane of its own, as one line above the keys, and the title at the top."""

from textual.content import Content
from textual.widget import Widget

from steersman.ports.tui.panes.lines import Piece, line, stacked
from steersman.views.facts import Facts, bar, rows
from steersman.views.text import one_line

SPIN = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class _Shown(Widget):
    """Something that shows the facts."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._facts = Facts()

    def show(self, facts: Facts) -> None:
        """Show the status."""
        if facts != self._facts:
            self._facts = facts
            self.refresh()


class StatusPane(_Shown):
    """Everything about the thread, one fact a line."""

    BORDER_TITLE = "status"

    def render(self) -> Content:
        """The table."""
        width = max(10, self.content_size.width)
        return stacked(
            line([(f"{name:<10}", "$muted"), (value, "")], width=width)
            for name, value in rows(self._facts)
        )


class StatusBar(_Shown):
    """The status in one line, with what continues at its left."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._step = self._spent = self._own = ""
        self._beat = 0

    def working(self, step: str, spent: str = "") -> None:
        """Say what continues, that it does, and what it took so far."""
        self._step, self._spent = step, spent
        self._beat += 1
        self.refresh()

    def say(self, line: str) -> None:
        """Show a line of the user's own in the place of the usual facts; empty: show those."""
        if line != self._own:
            self._own = line
            self.refresh()

    def render(self) -> Content:
        """The line."""
        width = max(1, self.content_size.width)
        facts = self._facts
        left: list[Piece] = []
        if facts.waiting:
            left = [("? ", "bold $warning"), ("your answer is needed", "bold $warning")]
        elif facts.doing == "working":
            spin = SPIN[self._beat % len(SPIN)]
            left = [(f"{spin} ", "$accent"), (one_line(self._step or "thinking", width // 3), "")]
            left += [(f" · {self._spent}", "$muted")] if self._spent else []
        taken = sum(len(text) for text, _ in left)
        kept = [self._own] if self._own else bar(facts, width - taken - (3 if left else 0))
        return (
            line(left, (" · ".join(kept), "$muted"), width)
            if left
            else line(
                [(kept[0], "bold $primary"), ("".join(f" · {one}" for one in kept[1:]), "$muted")]
                if kept
                else [],
                width=width,
            )
        )


class Title(_Shown):
    """Whose conversation this is: the folder and the thread."""

    def render(self) -> Content:
        """The line at the top."""
        width = max(1, self.content_size.width)
        facts = self._facts
        folder = facts.folder.rstrip("/").rpartition("/")[2] or "/"
        title = one_line(facts.title, 200) if facts.thread else "new conversation"
        left = [("steersman ", "bold $primary"), (one_line(folder, 40), "bold")]
        left += [(f" {facts.branch}", "$muted")] if facts.branch else []
        return line([*left, (f"  {title}", "$muted")], (facts.thread, "$muted"), width)
