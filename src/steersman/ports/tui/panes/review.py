"""What the last turn changed, above the composer: to keep, to undo, or to open and choose from.

It takes no keys until you go there; to write on is to keep everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from steersman.ports.tui.panes.folding import Folding
from steersman.ports.tui.panes.lines import Piece, cut, line, stacked
from steersman.views.text import counted, flat

if TYPE_CHECKING:
    from steersman.views.changeset import Changeset

THERE = 4  # lines for whoever went to the card
What = Literal["keep", "undo", "open"]
KEYS = (("Enter", "choose"), ("k", "keep"), ("u", "undo all"))


class Review(Folding, can_focus=True):
    """A card with a changeset; with the focus on it, letters are keys."""

    most = 4
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,D", "decide('open')", "Choose", show=False),
        Binding("k", "decide('keep')", "Keep", show=False),
        Binding("u", "decide('undo')", "Undo all", show=False),
    ]

    class Decided(Message):
        """The user said what to do with it."""

        def __init__(self, what: What) -> None:
            super().__init__()
            self.what = what

    def __init__(self, key: str, *, id: str) -> None:
        super().__init__(id=id)
        self._key = key  # that brings the focus here
        self._found: Changeset | None = None

    def show(self, found: Changeset | None) -> None:
        """Show this, or nothing."""
        if found != self._found:
            self._found = found
            self.refresh(layout=True)

    @property
    def empty(self) -> bool:
        """True when there is nothing to show."""
        return self._found is None

    def on_focus(self) -> None:
        """The keys are named now."""
        self.refresh(layout=True)

    def on_blur(self) -> None:
        """The key that leads here is named."""
        self.refresh(layout=True)

    def render(self) -> Content:
        """All of it in a line, then the files, the source first."""
        found, width = self._found, max(1, self.content_size.width)
        if found is None:
            return Content()
        head: list[Piece] = [("◆ ", "$accent"), (found.head, "bold")]
        keys = " · ".join(f"{key} {does}" for key, does in KEYS)
        more = keys if self.has_focus else f"{self._key} to review or undo"
        lines = [line(head, (more, "$muted"), width)]
        most = max(self.most, THERE) if self.has_focus else self.most
        room = most - 1
        own = found.own
        for file in own[: room if len(own) <= room else max(room - 1, 0)]:
            lines.append(_file(flat(file.title), *file.counts, file.remarks, width))
        left = len(own) - len(lines) + 1
        if left and room > 0:
            lines.append(line([(f"  … and {counted(left, 'more file')}", "$muted")], width=width))
        for folder in found.folders[: max(most - len(lines), 0)]:
            told = cut(f"  {flat(folder.name)}: {folder.why_whole}", width)
            lines.append(line([(told, "$muted")], width=width))
        return stacked(lines)

    def action_decide(self, what: What) -> None:
        """Say what to do with it."""
        if self._found is not None:
            self.post_message(self.Decided(what))


def _file(name: str, added: int, removed: int, remarks: Sequence[str], width: int) -> Content:
    wanted = (
        (f" +{added}", "$success", added),
        (f" −{removed}", "$error", removed),
        *((f" {remark}", "$warning", 1) for remark in remarks),
    )
    counts: list[Piece] = [(text, style) for text, style, shown in wanted if shown]
    room = width - 2 - sum(len(text) for text, _ in counts)
    return line([("  ", ""), (cut(name, max(room, 1)), ""), *counts], width=width)
