"""Markdown cut into the pieces that can be drawn one by one: paragraphs, items, fences, tables.

A piece that is followed by another does not change any more, however the text continues; so what
streams in is drawn piece by piece, and only the last piece again and again.
"""

import re

from msgspec import Struct

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_RULE = re.compile(r"(?:-\s*){3,}$|(?:\*\s*){3,}$|(?:_\s*){3,}$")


class Chunk(Struct, frozen=True):
    """A piece from `start` to `end`; `apart` when a blank line is before it."""

    start: int
    end: int
    apart: bool


class _Cutter:
    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self._start = -1
        self._end = 0
        self._apart = False
        self._blank = False
        self._fence = ""

    def line(self, line: str, at: int) -> None:
        """Take in a line that begins at a place."""
        if self._fence:
            self._end = at + len(line)
            if _closes(line, self._fence):
                self._fence = ""
            return
        if not line.strip():
            self._blank = True
            return
        opens = _FENCE.fullmatch(line)
        if self._begins(line, fence=bool(opens)):
            self.close()
            self._start, self._apart = at, self._blank
        self._end = at + len(line)
        self._blank = False
        if opens and not (opens[1][0] == "`" and "`" in opens[2]):
            self._fence = opens[1]

    def _begins(self, line: str, *, fence: bool) -> bool:
        """Whether something new begins with a line."""
        if self._start < 0:
            return True
        if line[0] in " \t":
            return False  # it belongs to an item above, or is code
        return self._blank or fence or bool(_ITEM.match(line) and not _RULE.match(line))

    def close(self) -> None:
        """End the piece that is open."""
        if self._start >= 0:
            self.chunks.append(Chunk(self._start, self._end, self._apart))
            self._start = -1


def chunks(text: str, start: int = 0) -> list[Chunk]:
    """The pieces of a text from a place on."""
    cutter = _Cutter()
    at = start
    for line in text[start:].split("\n"):
        cutter.line(line, at)
        at += len(line) + 1
    cutter.close()
    return cutter.chunks


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and not bare.strip(fence[0]) and line[:4].strip() != ""
