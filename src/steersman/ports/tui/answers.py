"""The answers there are, as a list with numbers: how it looks, and which of them is marked.

Every card and dialog that asks has this list, so that the same keys do the same everywhere.
"""

from collections.abc import Collection, Sequence

from rich.style import Style
from rich.text import Text
from textual.widgets import Static

from steersman.ports.tui.colours import palette_of
from steersman.ports.tui.drawing.lines import cut, wrapped
from steersman.ports.tui.drawing.look import Palette
from steersman.records.message import Question
from steersman.views.questions import choices
from steersman.views.requests import Offered
from steersman.views.text import flat

INDENT = "     "  # of the lines of an answer after its first
FEWEST = 3  # rows that a list has however little room there is
FIRST = "ynYg"  # whose answers are seen first, after the marked one


class Answers(Static):
    """A list of answers, one of them marked; where room is short, some can be seen by moving."""

    DEFAULT_CSS = "Answers { height: auto; }"

    def __init__(
        self,
        rows: Sequence[Offered] = (),
        marked: int | None = 0,
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.rows = tuple(rows)
        self.marked = marked
        self._whole: set[int] = set()  # rows of which every word is seen
        self._shown: list[int] = []

    def show(self, rows: Sequence[Offered], marked: int | None, width: int, most: int) -> int:
        """Show these on so many rows at most; how many it took.

        One that is too long for a row has several: first the one that is marked, then the others,
        as far as there is room. The rest of them are cut.
        """
        self.rows, self.marked = tuple(rows), marked
        palette, lines = palette_of(self.app), list[Text]()
        kept = seen(self.rows, marked, most - self.more(rows, marked, width, most))
        spare = most - len(kept)
        self._whole, self._shown = set(), []
        for at in sorted(kept, key=lambda at: at != marked):
            more = _height(rows[at], width) - 1
            if more <= spare:
                self._whole.add(at)
                spare -= more
        for at in kept:
            style, lead = palette.strong if at == marked else palette.text, _lead(at, marked)
            words, key = _words(rows[at]), f" ({rows[at].key})" if rows[at].key else ""
            drawn = wrapped(words, width, style, lead, INDENT)
            if at in self._whole and len(drawn) > 1:
                drawn[-1].stylize(palette.accent, len(drawn[-1].plain) - len(key.strip()))
            else:
                line = Text(f"{lead}{words.removesuffix(key)}", style)
                drawn = [cut(line, max(width - len(key), 1)).append(key, palette.accent)]
            lines += drawn
            self._shown += [at] * len(drawn)
        self.update(Text("\n").join(lines))
        if self.id is not None:
            self.display = bool(lines)
        return len(lines)

    def more(self, rows: Sequence[Offered], marked: int | None, width: int, most: int) -> int:
        """The rows that the marked answer needs besides its first, while a few others are seen."""
        if marked is None or marked >= len(rows):
            return 0
        return max(min(_height(rows[marked], width) - 1, most - min(FEWEST, len(rows))), 0)

    def on_mount(self) -> None:
        """In a dialog it has all the room it needs."""
        self.move(0)

    def on_resize(self) -> None:
        """Other widths cut other lines."""
        self.move(0)

    def move(self, by: int) -> None:
        """In a dialog: mark another."""
        if self.id is None and self.marked is not None:
            at = min(max(self.marked + by, 0), len(self.rows) - 1)
            width = self.size.width or self.app.size.width
            self.show(self.rows, at, width, max(len(self.rows), self.app.size.height // 3))

    def whole(self, at: int) -> bool:
        """Whether all that an answer means is on the screen."""
        return at in self._whole

    def at(self, row: int) -> int | None:
        """The answer on a row."""
        return self._shown[row] if 0 <= row < len(self._shown) else None


def seen(rows: Sequence[Offered], marked: int | None, most: int) -> list[int]:
    """Which rows are shown where there is room for so many; each keeps its number."""
    by_need = sorted(
        (at for at, row in enumerate(rows) if row.words),
        key=lambda at: (at != marked, FIRST.find(rows[at].key) % (len(FIRST) + 1), at),
    )
    return sorted(by_need[: max(most, 0)])


def _words(row: Offered) -> str:
    """An answer with its key; a tab takes one cell, as it is counted."""
    words = flat(row.words).replace("\t", " ")
    return f"{words} ({row.key})" if row.key else words


def _height(row: Offered, width: int) -> int:
    return len(wrapped(_words(row), width, Style.null(), INDENT))


def _lead(at: int, marked: int | None) -> str:
    mark = "›" if at == marked else " "
    return f"{mark} {at + 1}. " if at < 9 else f"{mark}    "


def question_lines(
    question: Question, marked: int, chosen: Collection[int], width: int, palette: Palette
) -> tuple[list[Text], list[int]]:
    """A question with the answers it offers, and the line at which each of them begins."""
    lines, rows = wrapped(question.text, width, palette.text), list[int]()
    for at, option in enumerate(choices(question)):
        rows.append(len(lines))
        box = ""
        if question.multiple and at < len(question.options):
            box = "[x] " if at in chosen else "[ ] "
        kept = "your answer" if question.call else "default"
        default = at < len(question.options) and question.options[at] == question.default
        own = f" ({kept})" if default and not question.marked else ""
        style = palette.strong if at == marked else palette.text
        detail = flat(question.details[at]) if at < len(question.details) else ""
        told = wrapped(f"{option.words}{own}", width, style, f"{_lead(at, marked)}{box}", INDENT)
        if option.key and told[-1].cell_len + 4 <= width:
            told[-1].append(f" ({option.key})", palette.accent)
        if detail and told[-1].cell_len + len(detail) + 2 <= width:
            told[-1].append(f"  {detail}", palette.dim)
        elif detail:
            told += wrapped(detail, width, palette.dim, INDENT, INDENT)
        lines += told
    return lines, rows
