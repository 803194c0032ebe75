"""Words of a model or a tool inside a question: none of their lines can look like one of ours."""

import re
import shutil
import sys
import unicodedata

from steersman.views.text import safe

MARK = "  │ "
TAB = " " * 4  # how far a tab itself goes, only the terminal knows
_PIECES = re.compile(r"\x1b\[[0-9;]*m|.", re.DOTALL)
_EMOJI = "\ufe0f"  # makes the character before it a wide one
_RUN = re.compile(r"(?<=\S)[^\S\n]{2,}")


def quoted(head: str, text: str) -> str:
    """What someone says, after a head of ours; several lines are below it, each with a mark."""
    lines = _RUN.sub(" ", safe(text)).split("\n")
    return f"{head} {lines[0]}" if len(lines) == 1 else f"\n{MARK}".join([head, *lines])


def wrapped(text: str) -> str:
    """Text as wide as the terminal: what the terminal would wrap carries a mark, too.

    Colours in it are ours, everything else is safe text.
    """
    if not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, 2 * len(MARK))
    return "\n".join(_wrapped(line, width) for line in text.replace("\t", TAB).split("\n"))


def _wrapped(line: str, width: int) -> str:
    found, at = "", 0
    for piece in _PIECES.findall(line):
        cells = 0 if piece.startswith("\x1b") else _cells(piece)
        if at + cells > width:
            found, at = f"{found}\n{MARK}", len(MARK)
        found, at = found + piece, at + cells
    return found


def cells(text: str) -> int:
    """How many cells a text takes at most; colours take none."""
    return sum(_cells(one) for one in _PIECES.findall(text) if not one.startswith("\x1b"))


def _cells(sign: str) -> int:
    """How many cells a character takes at most."""
    if (kind := unicodedata.category(sign)) in ("Mn", "Me") and sign != _EMOJI:
        return 0
    return 2 if kind == "Cn" or unicodedata.east_asian_width(sign) in "WF" else 1
