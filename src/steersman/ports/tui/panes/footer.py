"""The footer: the keys that are of use right now, as many as fit."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from steersman.ports.tui.keys import Hint, fitted


class Keys(Widget):
    """One line of keys."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.hints: Sequence[Hint] = ()

    def show(self, hints: Sequence[Hint]) -> None:
        """Show these."""
        if list(hints) != list(self.hints):
            self.hints = tuple(hints)
            self.refresh()

    def render(self) -> Content:
        """The line."""
        pieces: list[tuple[str, str]] = []
        for hint in fitted(self.hints, self.content_size.width):
            gap = "  " if pieces else ""
            pieces += [(gap, ""), (hint.key, "bold $primary"), (f" {hint.words}", "$muted")]
        return Content.assemble(*pieces)
