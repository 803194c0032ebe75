"""Queued messages above the composer: listed, withdrawn for editing, or withdrawn."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from steersman.ports.tui.panes.lines import Piece, cut, line, stacked
from steersman.views.text import one_line

Item = tuple[str, str, str]  # corr, text, and "queued" for the next turn or "pending" for this one
SENDING = "sending"  # on its way, so that it has no name by which it could be withdrawn
_WORDS = {"queued": "queued", "pending": "said"}


class Queued(Widget, can_focus=True):
    """The list; with the focus on it, arrows choose, Enter edits, Delete withdraws."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("enter", "edit", "Edit", show=False),
        Binding("delete,backspace", "withdraw", "Withdraw", show=False),
    ]
    at: reactive[int] = reactive(0)

    class Chosen(Message):
        """A message is to be withdrawn; `edit` when it goes into the composer."""

        def __init__(self, corr: str, text: str, *, edit: bool) -> None:
            super().__init__()
            self.corr = corr
            self.text = text
            self.edit = edit

    def __init__(self, key: str, *, id: str) -> None:
        super().__init__(id=id)
        self._key = key  # that brings the focus here
        self._items: Sequence[Item] = ()
        self.most = 3

    def show(self, items: Sequence[Item]) -> None:
        """Show these."""
        if list(items) != list(self._items):
            self._items = tuple(items)
            self.at = min(self.at, max(0, len(items) - 1))
            self.refresh(layout=True)

    @property
    def items(self) -> Sequence[Item]:
        """What is shown."""
        return self._items

    def on_focus(self) -> None:
        """Show all of it."""
        self.refresh(layout=True)

    def on_blur(self) -> None:
        """Show that there is something."""
        self.refresh(layout=True)

    def render(self) -> Content:
        """One line; while the focus is here one line each, the chosen one marked."""
        width = max(1, self.content_size.width)
        if not self.has_focus:
            told = " · ".join(one_line(text, 60) for _, text, _ in self._items)
            many = f"{len(self._items)} " if len(self._items) > 1 else ""
            sent = all(how == SENDING for _, _, how in self._items)
            words = [(f"{many}{SENDING if sent else 'waiting'} ", "$warning"), (told, "$muted")]
            return line(words, ("" if sent else f"{self._key} edits", "$muted"), width)
        first = max(0, min(self.at, len(self._items) - self.most))
        lines = []
        for place, (_, text, how) in enumerate(self._items[first : first + self.most], first):
            here = self.has_focus and place == self.at
            pieces: list[Piece] = [
                ("› " if here else "  ", "bold $primary"),
                (f"{_WORDS.get(how, how)} ", "$muted"),
                (cut(one_line(text, 400), width), "bold" if here else ""),
            ]
            more = len(self._items) - first - self.most
            last = place == first + self.most - 1 and more > 0
            edits = "Enter edits, Del withdraws" if here and how != SENDING else ""
            right = f"{more} more" if last else edits
            lines.append(line(pieces, (right, "$muted"), width))
        return stacked(lines)

    def action_move(self, by: int) -> None:
        """Choose another."""
        self.at = max(0, min(len(self._items) - 1, self.at + by))

    def action_edit(self) -> None:
        """Take the chosen one back into the composer."""
        self._choose(edit=True)

    def action_withdraw(self) -> None:
        """Take the chosen one back."""
        self._choose(edit=False)

    def _choose(self, *, edit: bool) -> None:
        if self._items and self._items[self.at][2] != SENDING:
            corr, text, _ = self._items[self.at]
            self.post_message(self.Chosen(corr, text, edit=edit))
