"""Text made into lines that fit: safe for a terminal, cut or wrapped to a width in cells.

Whatever a tool or a model says is data. Nothing of it moves the cursor, hides itself or is wider
than it may be.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rich.cells import cell_len, chop_cells
from rich.style import Style
from rich.text import Span, Text

from steersman.ports.tui.drawing.look import MOST, Look
from steersman.records.counting import counted
from steersman.records.escapes import SEQUENCE
from steersman.records.patterns import pattern
from steersman.views.text import safe

LONGEST = 4_000  # characters of one line that are looked at
HINTED = 24  # cells of a line that the keys beside it leave to it
_PIECE = pattern(f"(?>{SEQUENCE}|.){{1,{LONGEST}}}", re.DOTALL)  # no sequence is cut in two
_PLAIN = re.compile(r"[\x20-\x7e\n]*")
# Parts of pictures whose width terminals do not agree on; the pictures stay.
_JOINERS = re.compile("(?<=[^\x00-\x7f])[\u200d\ufe0e\ufe0f\u20e3]|[\U0001f3fb-\U0001f3ff]")
_BROKEN = re.compile("[\ud800-\udfff]")
_MARKS = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_STACKED = re.compile(f"({_MARKS}{{2}}){_MARKS}+")
_FOLDED = Style(meta={"folded": True})  # marks lines by which a block is opened
_CONTINUES = Style(meta={"continues": True})  # and those that continue the one above

T = TypeVar("T")


def clean(text: str) -> str:
    """Text without anything that a terminal would follow or could not show."""
    if _PLAIN.fullmatch(text):
        return text
    text = _BROKEN.sub("\ufffd", text)
    text = _STACKED.sub(r"\1", _JOINERS.sub("", text))
    text = safe(text)
    return text.expandtabs(4) if "\t" in text else text


def clean_line(text: str) -> str:
    """The same for what has to stay on one line; what is absurdly long is cut."""
    return clean(cut_off(text, LONGEST)).replace("\n", "\\n")


def cut_off(text: str, most: int) -> str:
    """The beginning of an absurdly long text, and how much more there is."""
    return (
        text
        if len(text) <= most
        else f"{text[:most]}… {counted(len(text) - most, 'more character')}"
    )


def split(text: str, *, overwrites: bool = False) -> list[str]:
    """The lines of a text; only line feeds end one.

    In what a program printed a carriage return `overwrites` the line, as in a bar of progress;
    anywhere else it would hide what is before it, and is shown.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if overwrites and "\r" in text:
        lines = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
    return lines


def pieces(lines: Iterable[str]) -> list[str]:
    """Lines with those that are absurdly long in pieces, so that nothing of them is cut off."""
    return [
        piece
        for line in lines
        for piece in ([line] if len(line) <= LONGEST else _PIECE.findall(line))
    ]


def cut(line: Text, width: int) -> Text:
    """A line that is at most so wide; what is cut off is shown by `…`."""
    plain = line.plain
    if (len(plain) <= width and plain.isascii()) or cell_len(plain) <= width:
        return line
    if width < 1:
        return Text()
    shown = chop_cells(plain[: width + 1], width - 1)[0] if width > 1 else ""
    kept = line[: len(shown)]
    kept.append("…")
    return kept


def wrap(line: Text, width: int, indent: int = 0) -> list[Text]:
    """A line in as many as it needs; those that follow the first are indented."""
    plain = line.plain
    if (len(plain) <= width and plain.isascii()) or cell_len(plain) <= width:
        return [line]
    indent = indent if indent < width // 2 else 0
    pieces = line.divide(_breaks(plain, max(width, 2), indent))
    lines = []
    for number, piece in enumerate(pieces):
        piece.rstrip()
        if number:
            piece = _without_spaces_before(piece)
            if indent:
                piece = Text.assemble(" " * indent, piece)
            piece.stylize(_CONTINUES)
        lines.append(piece)
    return lines


def _without_spaces_before(piece: Text) -> Text:
    spaces = len(piece.plain) - len(piece.plain.lstrip(" "))
    return piece[spaces:] if 0 < spaces < len(piece.plain) else piece


def _breaks(plain: str, width: int, indent: int) -> list[int]:
    """Where a line is broken: between words, or inside one that is too long for a line."""
    breaks: list[int] = []
    room, used, at = width, 0, 0
    for found in re.finditer(r"\S+\s*|\s+", plain):
        whole = found[0]
        wide = cell_len(whole.rstrip())
        if used + wide > room and used:
            breaks.append(found.start())
            room, used = width - indent, 0
        if wide > room:
            at = found.start()
            for part in chop_cells(whole, room):
                if used:
                    breaks.append(at)
                    room = width - indent
                used = cell_len(part)
                at += len(part)
            continue
        used += cell_len(whole)
    return breaks


def wrapped(
    text: str, width: int, style: Style, first: str = "", rest: str = "", most: int = MOST
) -> list[Text]:
    """Plain text wrapped to a width, with a mark before its first line and another before others.

    Both marks are part of the width. `most` is how many lines of it are looked at.
    """
    lines: list[Text] = []
    room = max(width - cell_len(first), 1)
    for line in split(text)[:most] or [""]:
        for piece in wrap(Text(clean_line(line), style), room):
            before = rest if lines else first
            lines.append(Text.assemble((before, style), piece))
    return lines


def folded(
    rows: Sequence[T],
    make: Callable[[T], Text],
    width: int,
    look: Look,
    *,
    most: int,
    tail: bool = False,
    indent: int = 0,
    lines: int | None = None,
) -> list[Text]:
    """Rows as lines: when open all of them, wrapped; else a few, cut, and how many there are.

    `lines` is how many lines the rows are of; 0 when nobody knows.
    """
    if look.open:
        shown = rows[: look.most]
        told = [line for row in shown for line in wrap(make(row), width, indent)]
        hidden = len(rows) - len(shown)
        unseen = f"… {counted(hidden, 'more line')} not shown"
        return [*told, cut(Text(unseen, look.palette.dim), width)] if hidden else told
    hidden = len(rows) - most
    if hidden <= 1:  # a fold that hides one line would take the same room
        return [cut(make(row), width) for row in rows]
    count = hidden if lines is None else max(lines - most, 1)
    if tail:
        words = "earlier lines" if lines == 0 else counted(count, "earlier line")
        earlier = hinted(f"… {words}", width, look)
        return [earlier, *(cut(make(row), width) for row in rows[hidden:])]
    note = hinted(f"… {counted(count, 'more line')}", width, look)
    return [*(cut(make(row), width) for row in rows[:most]), note]


def capped(lines: list[Text], most: int, width: int, look: Look, before: str = "") -> list[Text]:
    """The first of lines that are wrapped already, and how many more there are."""
    hidden = len(lines) - most
    if hidden <= 1:
        return lines
    return [*lines[:most], hinted(f"{before}… {counted(hidden, 'more line')}", width, look)]


def hinted(text: str, width: int, look: Look, style: Style | None = None) -> Text:
    """A line that stands for what is folded, and the keys that open it; a long text gives way."""
    line, keys = Text(text, look.palette.dim if style is None else style, end=""), f" ({look.keys})"
    room = width - len(keys)
    if room >= HINTED or line.cell_len <= room:
        line = cut(line, room).append(keys)
    line = cut(line, width)
    line.stylize(_FOLDED)
    return line


def folds(line: Text) -> bool:
    """Whether a line stands for what is folded."""
    return any(one.style == _FOLDED for one in line.spans)


def continues(line: Text) -> bool:
    """Whether a line continues the one above, which was too long."""
    return any(one.style == _CONTINUES for one in line.spans)


def shifted(line: Text, before: str, style: Style | None = None) -> Text:
    """A line moved to the right."""
    if not line.plain and before.isspace():
        return line
    by = len(before)
    spans = [Span(one.start + by, one.end + by, one.style) for one in line.spans]
    if line.style:
        spans.insert(0, Span(by, by + len(line.plain), line.style))
    if style is not None:
        spans.append(Span(0, by, style))
    return Text(before + line.plain, spans=spans, end="")
