"""The strip between the conversation and the composer: the todo list."""

from collections.abc import Sequence

from textual.content import Content

from steersman.ports.tui.panes.folding import Folding
from steersman.ports.tui.panes.lines import Piece, line, stacked
from steersman.views.blocks import Todo
from steersman.views.text import one_line

OPEN = ("doing", "pending")
_MARKS: dict[str, tuple[str, str, str]] = {
    "done": ("✓", "$success", "$muted"),
    "doing": ("●", "$accent", "bold"),
    "pending": ("○", "$muted", ""),
    "dropped": ("–", "$muted", "$muted strike"),
}


def shown_items(items: Sequence[Todo], most: int) -> tuple[Sequence[Todo], int]:
    """The part of a list that fits: around what is being done; and how many are left out."""
    if len(items) <= most:
        return items, 0
    room = max(1, most - 1)  # a line says how many are done
    at = next((i for i, one in enumerate(items) if one.state in OPEN), len(items) - 1)
    first = max(0, min(at - 1 if room > 1 else at, len(items) - room))
    return items[first : first + room], len(items) - room


class TodoStrip(Folding):
    """What is to be done, what is being done, what is done."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._items: Sequence[Todo] = ()

    def show(self, items: Sequence[Todo]) -> None:
        """Show a list."""
        if list(items) != list(self._items):
            self._items = tuple(items)
            self.refresh(layout=True)

    @property
    def empty(self) -> bool:
        """True when there is nothing to show."""
        return not self._items

    def render(self) -> Content:
        """One line each."""
        width = max(1, self.content_size.width)
        kept, left_out = shown_items(self._items, self.most)
        lines = []
        pieces: list[Piece] = []
        for item in kept:
            mark, colour, style = _MARKS[item.state]
            pieces = [(mark, colour), (f" {one_line(item.text, 300)}", style)]
            lines.append(line(pieces, width=width))
        done = sum(item.state == "done" for item in self._items)
        told = f"{done} of {len(self._items)} done"
        if left_out and self.most == 1:
            return line(pieces, (told, "$muted"), width)
        if left_out:
            lines.append(line([(f"  {told}", "$muted")], width=width))
        return stacked(lines)
