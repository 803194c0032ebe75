"""The forms in which a block of lines is looked for, and the tier in which it is found.

A form that takes something away (blank borders, read line-numbers) takes it from search and
replace alike, and is tried only after every tier has failed on the form before it.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from steersman.operations.matching.folding import Tier
from steersman.operations.matching.lines import is_blank
from steersman.operations.matching.records import Refusal, TierName
from steersman.records.patterns import pattern

_NUMBERED = pattern(r" *([0-9]{1,7})(?:(\t|→| ?\||:)(.*))?", re.DOTALL)
_PADDED = ":|"
_LISTED = pattern(r" *[0-9]{1,7}→.*|  +[0-9]{1,7}\t.*")


class Attempt(Struct, frozen=True):
    """A block to look for and its replacement; `only_line` is the one line where it may be."""

    search: list[str]
    replace: list[str]
    name: TierName | None = None
    only_line: int | None = None


class Found(Struct, frozen=True):
    """The first lines of the places where an attempt matched, and in which tier."""

    attempt: Attempt
    tier: Tier
    places: list[int]

    @property
    def name(self) -> TierName:
        """What to call this kind of match."""
        return self.attempt.name or self.tier.name


class _Numbered(Struct, frozen=True):
    number: int
    separator: str
    text: str


def find_lines(
    search: list[str],
    replace: list[str],
    tiers: Sequence[Tier],
    find: Callable[[Sequence[str], Tier], list[int]],
) -> Found | None:
    """The first form and tier in which a block is found at all."""
    for attempt in _attempts(search, replace):
        blank = all(map(is_blank, attempt.search))
        for tier in tiers[:1] if blank else tiers:
            places = find(attempt.search, tier)
            if attempt.only_line is not None:
                places = [place for place in places if place == attempt.only_line]
            if places:
                return Found(attempt, tier, places)
    return None


def check_copied_numbers(search: Sequence[str], replace: Sequence[str]) -> None:
    """Refuse a replacement whose lines all carry a listing's numbers when the search has none."""
    filled = [line for line in replace if not is_blank(line)]
    if filled and all(map(_LISTED.fullmatch, filled)) and not any(map(_LISTED.fullmatch, search)):
        raise Refusal(
            "copied-numbers",
            f"The replacement starts with line numbers copied from a listing ({filled[0][:40]!r}); "
            "send the lines without them.",
        )


def _attempts(search: list[str], replace: list[str]) -> Iterator[Attempt]:
    for attempt in (
        Attempt(search, replace),
        _without_borders(search, replace),
        _without_numbers(search, replace),
    ):
        if attempt and attempt.search:
            yield attempt


def _without_borders(search: list[str], replace: list[str]) -> Attempt | None:
    """Blank lines that both search and replace begin or end with, and the file does not have."""
    top = min(_blank_count(search), _blank_count(replace))
    bottom = min(_blank_count(search[::-1]), _blank_count(replace[::-1]))
    if not top + bottom or top + bottom > min(len(search), len(replace)):
        return None
    return Attempt(
        search[top : len(search) - bottom], replace[top : len(replace) - bottom], "blank-borders"
    )


def _blank_count(lines: Sequence[str]) -> int:
    return next((at for at, line in enumerate(lines) if not is_blank(line)), len(lines))


def _without_numbers(search: list[str], replace: list[str]) -> Attempt | None:
    """Line numbers copied from a listing, when every line of the search has its number."""
    ours = _listing(search)
    if ours is None:
        return None
    separator = next(line.separator for line in ours if line.separator)
    theirs = [_numbered(line, separator) for line in replace]
    numbers = [line.number for line in theirs if line]
    if numbers != sorted(numbers):
        return None
    texts = [line.text for line in [*ours, *theirs] if line and line.text]
    pad = 1 if separator in _PADDED and all(text[0] == " " for text in texts) else 0
    only_line = ours[0].number - 1 if len(ours) == 1 and separator in _PADDED else None
    return Attempt(
        [line.text[pad:] for line in ours],
        [line.text[pad:] if line else own for line, own in zip(theirs, replace, strict=True)],
        "line-numbers",
        only_line,
    )


def _listing(lines: Sequence[str]) -> list[_Numbered] | None:
    """The lines of a listing, numbered one after the other in one style."""
    listing: list[_Numbered] = []
    for line in lines:
        numbered = _numbered(line)
        if not numbered or (listing and numbered.number != listing[-1].number + 1):
            return None
        listing.append(numbered)
    separators = {line.separator for line in listing} - {""}
    return listing if len(separators) == 1 else None


def _numbered(line: str, separator: str | None = None) -> _Numbered | None:
    """A line taken apart at its number; one that is only a number may be an empty line's."""
    match = _NUMBERED.fullmatch(line)
    if not match:
        return None
    found = (match[2] or "").strip(" ")
    if separator and found != separator:
        return None
    return _Numbered(int(match[1]), found, match[3] or "")
