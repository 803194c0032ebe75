"""A list to choose from, with search: threads, models, messages to go back to."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList

from steersman.ports.tui.panes.lines import line
from steersman.ports.tui.screens.marked import MARK, Marked
from steersman.views.commands.stage import Row
from steersman.views.text import one_line

MOST = 200
SHORT = 34


def matching(rows: Sequence[Row], query: str, most: int = MOST) -> list[Row]:
    """Rows that have every word of a search, in their order: first those whose name begins with it,
    then those that have it in their name, then the others."""
    words = query.casefold().split()
    if not words:
        return list(rows[:most])
    found: tuple[list[Row], list[Row], list[Row]] = ([], [], [])
    for row in rows:
        name = row.text.casefold()
        if all(word in f"{name} {row.detail} {row.key}".casefold() for word in words):
            begins = name.lstrip("/").startswith(words[0].lstrip("/"))
            within = all(word in name for word in words)
            found[0 if begins else 1 if within else 2].append(row)
    return [row for tier in found for row in tier][:most]


class Picker(ModalScreen[str | None]):
    """Choose one row: typing searches, arrows move, Enter takes, Esc leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("down,ctrl+n", "move(1)", "Down", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", "Up", show=False, priority=True),
        Binding("pagedown", "move(10)", "Down", show=False, priority=True),
        Binding("pageup", "move(-10)", "Up", show=False, priority=True),
    ]

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        super().__init__()
        self._title = title
        self._rows = rows
        self._shown: list[Row] = []
        longest = max((len(row.text) for row in rows), default=0)
        self._column = longest + 2 if longest <= SHORT else 0

    def compose(self) -> ComposeResult:
        """A search line over a list."""
        with Vertical(classes="box"):
            yield Label(Content(one_line(self._title, 200)), classes="box-title")
            search = Input(placeholder="type to search", compact=True)
            search.cursor_blink = False
            yield search
            yield Marked(compact=True)
            yield Label(classes="box-foot")

    def on_mount(self) -> None:
        """Show everything."""
        self._search("")
        self.query_one(Input).focus()

    def on_resize(self) -> None:
        """Lines are cut to the width."""
        self._search(self.query_one(Input).value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._search(event.value)

    def _search(self, query: str) -> None:
        self._shown = matching(self._rows, query)
        found = self.query_one(Marked)
        width = max(20, found.scrollable_content_region.width - 1 - len(MARK))
        now = next((at for at, row in enumerate(self._shown) if row.now and not query), 0)
        found.fill((self._told(row, width) for row in self._shown), now)
        count = len(self._shown)
        told = f"{count} of {len(self._rows)} · Enter selects · Esc closes"
        self.query_one(".box-foot", Label).update(Content(told))

    def _told(self, row: Row, width: int) -> Content:
        """Short names are in a column, long ones have what is beside them at the right end."""
        text, detail = one_line(row.text, 300), one_line(row.detail, max(10, width * 2 // 3))
        if self._column and self._column < width // 2:
            return line([(f"{text:<{self._column}}", ""), (detail, "$muted")], width=width)
        return line([(text, "")], (one_line(detail, width // 2), "$muted"), width)

    def action_move(self, by: int) -> None:
        """Choose another."""
        self.query_one(Marked).move(by)

    @on(Input.Submitted)
    def _taken(self) -> None:
        at = self.query_one(Marked).highlighted
        if self._shown and at is not None:
            self.dismiss(self._shown[at].key)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index].key)

    def action_leave(self) -> None:
        """None of them."""
        self.dismiss(None)
