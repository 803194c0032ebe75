"""Patches in one neutral form, whichever format they were written in."""

import re
from typing import Literal

from msgspec import Struct

from steersman.operations.matching.records import Refusal

NewlineAtEnd = Literal["keep", "add", "remove"]


class Hunk(Struct, frozen=True):
    """Lines to find and lines to put there.

    `anchors` are lines above the place, outermost first; `line` is where the format says the
    search starts, or, without a search, the line after which to insert.
    """

    search: list[str]
    replace: list[str]
    anchors: list[str] = []
    at_end: bool = False
    line: int | None = None
    newline_at_end: NewlineAtEnd = "keep"


class AddFile(Struct, frozen=True):
    """A file that does not exist yet."""

    path: str
    content: str


class DeleteFile(Struct, frozen=True):
    """A file to remove."""

    path: str


class UpdateFile(Struct, frozen=True):
    """A file to change, to move, or both."""

    path: str
    hunks: list[Hunk]
    move_to: str | None = None


FilePatch = AddFile | DeleteFile | UpdateFile

_NUMBERED = re.compile(r"@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@+ ?(.*)")


class HunkHeader(Struct, frozen=True):
    """What an `@@` line says; the counts are None where it has no numbers."""

    context: str
    line: int | None = None
    old_count: int | None = None
    new_count: int | None = None


def read_hunk_header(line: str) -> HunkHeader:
    """Read `@@`, `@@ context` or `@@ -1,2 +3,4 @@ context`."""
    match = _NUMBERED.match(line)
    if not match:
        return HunkHeader(line.strip("@ \t\r"))
    return HunkHeader(match[5].strip(), int(match[1]), int(match[2] or 1), int(match[4] or 1))


def malformed(number: int, what: str) -> Refusal:
    """A patch that cannot be read, with the number of its line."""
    return Refusal(
        "malformed-patch",
        f"Line {number} of the patch cannot be read: {what}. Nothing was changed.",
    )


def sides(body: list[str]) -> tuple[list[str], list[str]]:
    """What a hunk's marked lines say was there before and is there after.

    An empty line is an empty line of context, except at the end, where it is only spacing.
    """
    while body and not body[-1]:
        body = body[:-1]
    marked = [line or " " for line in body]
    return (
        [line[1:] for line in marked if line[0] in " -"],
        [line[1:] for line in marked if line[0] in " +"],
    )
