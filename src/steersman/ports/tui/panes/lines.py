"""Lines of coloured text for panes: cut to a width, never read as markup."""

from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from steersman.ports.tui.drawing.look import MARKS
from steersman.views.blocks import State

Piece = tuple[str, str]  # a text and its style, in words of the theme

STYLES: dict[State, str] = {
    "running": "$accent",
    "done": "$success",
    "error": "$error",
    "denied": "$error",
    "cancelled": "$muted",
    "waiting": "$warning",
}


def mark(state: State) -> Piece:
    """A state's mark, the same as in the conversation."""
    return MARKS[state], STYLES[state]


def cut(text: str, width: int) -> str:
    """A text in so many columns at most, an ellipsis where some is left out."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…" if width > 0 else ""


def line(left: Iterable[Piece], right: Piece = ("", ""), width: int = 0) -> Content:
    """A line with something at its right end; what is at the left gives way."""
    pieces: list[Piece] = []
    gap = 1 if right[0] else 0
    room = width - cell_len(right[0]) - gap
    for text, style in left:
        shown = cut(text, room)
        room -= cell_len(shown)
        if shown:
            pieces.append((shown, style))
    if right[0]:
        pieces += [(" " * (max(0, room) + gap), ""), right]
    return Content.assemble(*pieces)


def stacked(lines: Iterable[Content]) -> Content:
    """Lines below one another."""
    return Content("\n").join(lines)


def duration(ms: int) -> str:
    """How long something took."""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms // 60_000} min {ms // 1000 % 60} s"
