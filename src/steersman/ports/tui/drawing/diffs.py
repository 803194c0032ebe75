"""Unified diffs with numbers of lines, a mark on each side, and the changed words brought out."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest

from msgspec import Struct
from rich.text import Text

from steersman.ports.tui.drawing.lines import clean_line
from steersman.ports.tui.drawing.look import Palette

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")
_WORD = re.compile(r"\w+|\s+|.")
LONGEST_PAIR = 300  # characters; longer lines are not compared word by word
PAIRS = 400  # lines of one diff that are


class Row(Struct, frozen=True):
    """A line of a diff. `other` is the line it is compared with, word by word."""

    kind: str  # one of " ", "+", "-", "@"
    number: int
    text: str
    other: str | None = None


def rows(diff: str) -> list[Row]:
    """The lines of a diff without the names of its files."""
    return list(_paired(_read(diff)))


def _read(diff: str) -> Iterator[Row]:
    old = new = 0
    begun = False
    for line in diff.split("\n"):
        found = _HUNK.match(line)
        if found:
            old, new = int(found[1]), int(found[2])
            if begun:
                yield Row("@", 0, found[3].strip())
            begun = True
        elif not begun:
            continue
        elif line.startswith("+"):
            yield Row("+", new, line[1:])
            new += 1
        elif line.startswith("-"):
            yield Row("-", old, line[1:])
            old += 1
        elif line.startswith(" "):
            yield Row(" ", new, line[1:])
            old, new = old + 1, new + 1
        elif line.startswith("\\"):
            yield Row("@", 0, line[2:])


def _paired(read: Iterator[Row]) -> Iterator[Row]:
    """Lines that replace one another learn of each other."""
    removed: list[Row] = []
    added: list[Row] = []
    pairs = 0

    def flush() -> Iterator[Row]:
        nonlocal pairs
        together = list(zip_longest(removed, added))
        if len(removed) == len(added) and pairs < PAIRS:
            pairs += len(removed)
            yield from (Row("-", o.number, o.text, n.text) for o, n in together if o and n)
            yield from (Row("+", n.number, n.text, o.text) for o, n in together if o and n)
        else:
            yield from removed
            yield from added
        removed.clear()
        added.clear()

    for row in read:
        if row.kind == "-" and not added:
            removed.append(row)
        elif row.kind == "+":
            added.append(row)
        else:
            yield from flush()
            if row.kind == "-":
                removed.append(row)
            else:
                yield row
    yield from flush()


def row_line(row: Row, palette: Palette, room: int) -> Text:
    """A row as a line: number, mark, text. `room` is how wide numbers are."""
    if row.kind == "@":
        return Text(f"{'⋯':>{room}} {clean_line(row.text)}", palette.dim, end="")
    style = {"+": palette.added, "-": palette.removed}.get(row.kind, palette.text)
    line = Text(end="")
    line.append(f"{row.number:>{room}} ", palette.dim)
    line.append(f"{row.kind} ", style)
    text = clean_line(row.text)
    line.append(text, style)
    if row.other is not None:
        strong = palette.added_words if row.kind == "+" else palette.removed_words
        before = len(line) - len(text)
        for start, end in changed_words(text, clean_line(row.other)):
            line.stylize(strong, before + start, before + end)
    return line


def changed_words(text: str, other: str) -> list[tuple[int, int]]:
    """The parts of a text that another does not have; none when nearly all is another."""
    if len(text) > LONGEST_PAIR or len(other) > LONGEST_PAIR:
        return []
    mine, theirs = _WORD.findall(text), _WORD.findall(other)
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    if matcher.ratio() < 0.4:
        return []
    at, places = 0, [0]
    for word in mine:
        at += len(word)
        places.append(at)
    return [
        (places[start], places[end])
        for tag, start, end, _, _ in matcher.get_opcodes()
        if tag in ("replace", "delete")
    ]


def number_room(found: list[Row]) -> int:
    """How wide the numbers of a diff are."""
    return max(2, len(str(max((row.number for row in found), default=0))))
