"""Diffs as rows of a screen: where each row is, and how it is drawn, one below the other or beside.

Pure. Rows are found and drawn one at a time, when they are looked at; however long a diff is, what
it costs is what is shown. The code is coloured in pieces, as it comes into view.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from msgspec import Struct
from rich.style import Style
from rich.text import Text

from steersman.ports.tui.drawing.code import highlighted, language_of
from steersman.ports.tui.drawing.diffs import changed_words
from steersman.ports.tui.drawing.lines import clean_line, cut
from steersman.ports.tui.drawing.look import Palette
from steersman.views.hunks import FileDiff, Hunk, Part
from steersman.views.text import counted

PIECE = 64  # lines that are coloured together
Side = tuple[int, int]  # a line's place in its hunk, and its number in the file; -1 for none
NONE: Side = (-1, -1)


class Row(Struct, frozen=True):
    """One row: of a file's head, a hunk's head, or a line; of a line both sides where beside."""

    kind: Literal["file", "hunk", "line", "note", "space"]
    file: int
    hunk: int = 0
    left: Side = NONE
    right: Side = NONE


class Choosing(Struct, frozen=True):
    """What is accepted so far, where the cursor is, and what becomes of the rest, in words."""

    accepted: frozenset[Part]
    cursor: Part | None = None
    rest: str = "left out"


class Rows:
    """The rows of some files, found by their number."""

    def __init__(self, files: Sequence[FileDiff], *, beside: bool = False) -> None:
        self.files = files
        self.beside = beside
        self._lines: dict[Part, Sequence[tuple[Side, Side]]] = {}
        self._heads: list[tuple[Literal["file", "hunk"], int, int]] = []
        sizes: list[int] = []
        for at, file in enumerate(files):
            self._heads.append(("file", at, 0))
            sizes.append(1 if file.hunks else 2)
            for number, hunk in enumerate(file.hunks):
                self._heads.append(("hunk", at, number))
                sizes.append(1 + self._length(hunk, (at, number)))
            sizes[-1] += at < len(files) - 1  # a row of space below each file but the last
        self._starts = list(accumulate(sizes, initial=0))
        self._places: dict[tuple[str, int, int], int] = dict(
            zip(self._heads, self._starts, strict=False)
        )

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, at: int) -> Row:
        place = bisect_right(self._starts, at) - 1
        kind, file, hunk = self._heads[place]
        inner = at - self._starts[place]
        if inner == 0:
            return Row(kind, file, hunk)
        if kind == "file":
            return Row("note" if inner == 1 and not self.files[file].hunks else "space", file)
        lines = self.lines((file, hunk))
        if inner > len(lines):
            return Row("space", file, hunk)
        left, right = lines[inner - 1]
        return Row("line", file, hunk, left, right)

    def at_part(self, part: Part) -> int:
        """The row where a hunk begins, or the file that is one part."""
        kind = "file" if self.files[part[0]].whole else "hunk"
        return self._places[kind, *part]

    def end_of(self, part: Part) -> int:
        """The row after the last of a hunk."""
        at, file = part[0], self.files[part[0]]
        if not file.whole:
            return self.at_part(part) + 1 + len(self.lines(part))
        return self.at_file(at + 1) - 1 if at + 1 < len(self.files) else len(self)

    def at_file(self, file: int) -> int:
        """The row where a file begins."""
        return self._places["file", file, 0]

    def parts(self) -> list[Part]:
        """Every part, from the top."""
        return [(at, part) for at, file in enumerate(self.files) for part in range(file.parts)]

    def part_in(self, first: int, stop: int) -> Part | None:
        """The first part whose head is in a range of rows, or else of which lines are."""
        rows = [self[at] for at in range(max(first, 0), min(stop, len(self)))]
        heads = (row for row in rows
                 if row.kind == ("file" if self.files[row.file].whole else "hunk"))  # fmt: skip
        row = next(heads, None) or next((row for row in rows if row.kind == "line"), None)
        return (row.file, 0 if self.files[row.file].whole else row.hunk) if row else None

    def lines(self, part: Part) -> Sequence[tuple[Side, Side]]:
        """The rows of a hunk's lines."""
        if part not in self._lines:
            hunk = self.files[part[0]].hunks[part[1]]
            self._lines[part] = _paired(hunk) if self.beside else _single(hunk)
        return self._lines[part]

    def _length(self, hunk: Hunk, part: Part) -> int:
        return len(self.lines(part)) if self.beside else len(hunk.lines)


def _single(hunk: Hunk) -> list[tuple[Side, Side]]:
    rows: list[tuple[Side, Side]] = []
    old, new = hunk.old_at + 1, hunk.new_at + 1
    for at, line in enumerate(hunk.lines):
        left = (at, old) if line[0] in " -" else NONE
        right = (at, new) if line[0] in " +" else NONE
        rows.append((left, right))
        old, new = old + (line[0] in " -"), new + (line[0] in " +")
    return rows


def _paired(hunk: Hunk) -> list[tuple[Side, Side]]:
    """Removed lines beside the added ones that follow them."""
    rows: list[tuple[Side, Side]] = []
    gone: list[Side] = []
    come: list[Side] = []

    def put() -> None:
        longest = max(len(gone), len(come))
        lefts, rights = ([*own, *[NONE] * (longest - len(own))] for own in (gone, come))
        rows.extend(zip(lefts, rights, strict=True))
        gone.clear()
        come.clear()

    for left, right in _single(hunk):
        if NONE not in (left, right):
            put()
            rows.append((left, right))
        elif left != NONE:
            if come:
                put()
            gone.append(left)
        else:
            come.append(right)
    put()
    return rows


def replaced(hunk: Hunk) -> dict[int, int]:
    """The places of lines that replace one another, both ways: as many come as go."""
    found: dict[int, int] = {}
    gone: list[int] = []
    come: list[int] = []
    for at, line in enumerate((*hunk.lines, " ")):
        if line[0] == "+":
            come.append(at)
            continue
        if come or line[0] == " ":
            if len(gone) == len(come):
                found.update(zip(gone, come, strict=True))
                found.update(zip(come, gone, strict=True))
            gone, come = [], []
        if line[0] == "-":
            gone.append(at)
    return found


class Brush:
    """Draws rows at a width in the styles of a palette; `shift` columns are scrolled away."""

    def __init__(self, rows: Rows, palette: Palette) -> None:
        self.rows = rows
        self.palette = palette
        self._piece = lru_cache(maxsize=256)(self._coloured)
        self._replaced = lru_cache(maxsize=64)(self._pairs)

    def draw(self, at: int, width: int, shift: int = 0, choosing: Choosing | None = None) -> Text:
        """One row."""
        row = self.rows[at]
        match row.kind:
            case "file":
                return cut(self._file(row, choosing), width)
            case "hunk":
                return cut(self._hunk(row, choosing), width)
            case "note":
                file = self.rows.files[row.file]
                return cut(Text(f"  {file.why_whole}", self.palette.dim), width)
            case "space":
                return Text()
        if self.rows.beside:
            half = (width - 1) // 2
            left = self._line(row, row.left, half, shift)
            right = self._line(row, row.right, width - half - 1, shift)
            left.pad_right(max(half - left.cell_len, 0))
            return Text.assemble(left, ("│", self.palette.dim), right)
        return self._line(row, row.left if row.right == NONE else row.right, width, shift)

    def _file(self, row: Row, choosing: Choosing | None) -> Text:
        file = self.rows.files[row.file]
        palette = self.palette
        text = Text().append(self._box(file, row.file, choosing), palette.accent)
        text.append(clean_line(file.title) or "?", palette.strong)
        added, removed = file.counts
        if file.hunks:
            text.append(f"  +{added}", palette.good)
            text.append(f" -{removed}", palette.bad)
        for remark in file.remarks:
            text.append(f"  {remark}", palette.warn)
        if choosing and file.parts > 1:
            text.append(f"  {counted(len(file.hunks), 'hunk')}", palette.dim)
        if choosing and file.whole and choosing.cursor == (row.file, 0):
            text.stylize("reverse", 0, 3)
        if choosing and file.whole and (row.file, 0) not in choosing.accepted:
            text.append(f"  {choosing.rest}", palette.warn)
        return text

    def _box(self, file: FileDiff, at: int, choosing: Choosing | None) -> str:
        if choosing is None:
            return ""
        count = sum((at, part) in choosing.accepted for part in range(file.parts))
        return "[x] " if count == file.parts else "[~] " if count else "[ ] "

    def _hunk(self, row: Row, choosing: Choosing | None) -> Text:
        file = self.rows.files[row.file]
        hunk, text = file.hunks[row.hunk], Text()
        if file.whole:
            choosing = None  # its own line has the box
        if choosing is not None:
            part = (row.file, row.hunk)
            accepted = part in choosing.accepted
            style = self.palette.accent + Style(reverse=part == choosing.cursor)
            text.append("  ")
            text.append("[x]" if accepted else "[ ]", style)
            text.append(" ")
        text.append(hunk.header(), self.palette.accent)
        if choosing is not None and (row.file, row.hunk) not in choosing.accepted:
            text.append(f"  {choosing.rest}", self.palette.warn)
        return text

    def _line(self, row: Row, side: Side, width: int, shift: int) -> Text:
        if side == NONE:
            return Text(" " * max(width, 0), self.palette.dim)
        at, number = side
        hunk = self.rows.files[row.file].hunks[row.hunk]
        mark = hunk.lines[at][0]
        style = {"+": self.palette.added, "-": self.palette.removed}.get(mark, self.palette.text)
        digits = _digits(self.rows.files[row.file])
        line = Text().append(f"{number:>{digits}} ", self.palette.dim)
        line.append(f"{mark} ", style)
        code = self._piece(row.file, row.hunk, at // PIECE)[at % PIECE]
        line.append_text(code[shift:] if shift else code)
        if mark != " ":
            line.stylize_before(Style(bgcolor=style.bgcolor), digits + 1)
        made = cut(line, width)
        if mark != " " and style.bgcolor is not None:
            made.pad_right(max(width - made.cell_len, 0))
            made.stylize(Style(bgcolor=style.bgcolor), digits + 1)
        elif mark != " ":
            made.stylize(style, digits + 1)
        self._mark_words(made, (row.file, row.hunk), at, digits + 3, shift)
        return made

    def _mark_words(self, line: Text, part: Part, at: int, first: int, shift: int) -> None:
        """Bring out what a line has that the one it replaces, or is replaced by, has not."""
        other = self._replaced(*part).get(at)
        if other is None:
            return
        mine, theirs = (self._piece(*part, one // PIECE)[one % PIECE].plain for one in (at, other))
        added = self.rows.files[part[0]].hunks[part[1]].lines[at][0] == "+"
        style = self.palette.added_words if added else self.palette.removed_words
        for start, end in changed_words(mine, theirs):
            if end > shift:
                line.stylize(style, first + max(start - shift, 0), first + end - shift)

    def _pairs(self, file: int, hunk: int) -> dict[int, int]:
        return replaced(self.rows.files[file].hunks[hunk])

    def _coloured(self, file: int, hunk: int, piece: int) -> list[Text]:
        own = self.rows.files[file]
        lines = own.hunks[hunk].lines[piece * PIECE : (piece + 1) * PIECE]
        bodies = [_shown(line[1:]) for line in lines]
        return highlighted(bodies, language_of(own.name), self.palette)

    def widest(self, rows: Collection[int]) -> int:
        """The longest line among rows, in characters: how far to the right there is something."""
        longest = 0
        for at in rows:
            row = self.rows[at]
            for place, _ in (row.left, row.right):
                if place >= 0:
                    hunk = self.rows.files[row.file].hunks[row.hunk]
                    longest = max(longest, len(hunk.lines[place]))
        return longest


def _digits(file: FileDiff) -> int:
    last = file.hunks[-1]
    return len(str(max(last.old_at, last.new_at) + len(last.lines)))


def _shown(line: str) -> str:
    """A line without its end, which is shown where it is unusual."""
    if line.endswith("\n"):
        body = line[:-1]
        return body[:-1] + "␍" if body.endswith("\r") else body
    return line + " ⟨no line end⟩"
