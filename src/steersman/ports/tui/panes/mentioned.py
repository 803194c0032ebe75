"""The files in context, under the composer: listed, and dropped one by one."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from steersman.ports.tui.panes.lines import Piece, line
from steersman.views.text import one_line


class Mentioned(Widget, can_focus=True):
    """One line of chips; with the focus on it, arrows choose and Delete drops."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "Left", show=False),
        Binding("right", "move(1)", "Right", show=False),
        Binding("delete,backspace", "drop", "Drop", show=False),
    ]
    at: reactive[int] = reactive(0)

    class Dropped(Message):
        """A file is to leave the context."""

        def __init__(self, file: str) -> None:
            super().__init__()
            self.file = file

    def __init__(self, key: str, *, id: str) -> None:
        super().__init__(id=id)
        self._key = key  # that brings the focus here
        self._files: Sequence[str] = ()

    def show(self, files: Sequence[str]) -> None:
        """Show these."""
        if tuple(files) != tuple(self._files):
            self._files = tuple(files)
            self.at = min(self.at, max(0, len(files) - 1))
            self.refresh()

    @property
    def files(self) -> Sequence[str]:
        """What is shown."""
        return self._files

    def on_focus(self) -> None:
        """Begin with the newest."""
        self.at = max(0, len(self._files) - 1)

    def render(self) -> Content:
        """The newest that fit; while the focus is here, from the chosen one on."""
        width = max(1, self.content_size.width)
        right = "Del drops" if self.has_focus else f"{self._key} drops"
        order = list(range(len(self._files)))
        shown = order[self.at :] if self.has_focus else order[::-1]
        pieces: list[Piece] = [("in context ", "$muted")]
        for place in shown:
            chosen = self.has_focus and place == self.at
            chip = f"@{one_line(self._files[place], 60)}"
            pieces += [(chip, "reverse" if chosen else "$accent"), (" ", "")]
        return line(pieces, (right, "$muted"), width)

    def action_move(self, by: int) -> None:
        """Choose another."""
        self.at = max(0, min(len(self._files) - 1, self.at + by))

    def action_drop(self) -> None:
        """Drop the chosen one."""
        if self._files:
            self.post_message(self.Dropped(self._files[self.at]))
