"""Text as lines: splitting, joining, and the lead, content and trail of one line.

Folding and comparing lines is not done here.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

BLANKS = " \t"

_CARRIAGE_RETURNS = re.compile("\r+\n")


class Lines(Struct, frozen=True):
    """The lines of a file; an ending is LF, CRLF, or nothing after an unterminated last line."""

    bodies: Sequence[str]
    endings: Sequence[str]

    def between(self, first: int, stop: int) -> "Lines":
        """Some consecutive lines."""
        return Lines(self.bodies[first:stop], self.endings[first:stop])

    def raw(self) -> list[str]:
        """The lines as they are in the file, endings included."""
        return [body + ending for body, ending in zip(self.bodies, self.endings, strict=True)]

    def text(self) -> str:
        """The lines as one text."""
        return "".join(self.raw())


class Parts(Struct, frozen=True):
    """One line taken apart; a blank line is all trail."""

    lead: str
    content: str
    trail: str


def split_lines(text: str) -> Lines:
    """The lines of a file's text; only LF and CRLF end a line."""
    bodies = text.split("\n")
    endings = ["\n"] * len(bodies)
    endings[-1] = ""
    if not bodies[-1]:
        bodies.pop()
        endings.pop()
    if "\r\n" in text:
        for at, body in enumerate(bodies):
            if endings[at] and body.endswith("\r"):
                bodies[at] = body[:-1]
                endings[at] = "\r\n"
    return Lines(bodies, endings)


def caller_lines(text: str) -> list[str]:
    """The lines a caller wrote, whether or not the last one is terminated."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def to_lf(text: str) -> str:
    """CRLF as LF; a carriage return elsewhere stays."""
    return text.replace("\r\n", "\n") if "\r" in text else text


def single_carriage_returns(text: str) -> str:
    """LF for every line end, however many carriage returns a caller piled up before it."""
    return _CARRIAGE_RETURNS.sub("\n", text) if "\r" in text else text


def split_parts(body: str, blanks: str = BLANKS) -> Parts:
    """Lead, content and trail of a line."""
    rest = body.lstrip(blanks)
    if not rest:
        return Parts("", "", body)
    content = rest.rstrip(blanks)
    return Parts(body[: len(body) - len(rest)], content, rest[len(content) :])


def is_blank(body: str) -> bool:
    """Whether a line holds nothing but blanks."""
    return not body.strip(BLANKS)


def fill_endings(pairing: Sequence[int | None], endings: Sequence[str], default: str) -> list[str]:
    """An ending for each new line: that of the file line it is paired with, else a neighbour's."""
    chosen = ["" if at is None else endings[at] for at in pairing]
    for before, here in pairwise(range(len(chosen))):
        chosen[here] = chosen[here] or chosen[before]
    following = default
    for here in reversed(range(len(chosen))):
        following = chosen[here] = chosen[here] or following
    return chosen
