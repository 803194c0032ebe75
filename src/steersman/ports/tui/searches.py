"""Hunks as edits that search and replace, each with enough lines around it to name one place.

Pure. Of the file no more is known than its hunks and what the call itself searched for, which
named one place, too; the lines between them are unknown. A search that holds one of the call's
own searches is as certain as that one was; any other is as wide as is known.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec import Struct

from steersman.operations.matching import Edit
from steersman.views.hunks import FileDiff, Hunk, split

NEAR = 20  # lines around a place on which an edit is tried
Known = list[str | None]  # the lines of a file; None where nobody has told


class Unplaced(Exception):
    """A hunk's lines stand in several places, as far as is known."""


class Placed(Struct, frozen=True):
    """An edit, and the lines around its place as they are then and become: enough to try it on."""

    edit: Edit
    before: list[str]
    after: list[str]


class _Span(Struct):
    """Lines `first` up to `stop`."""

    first: int
    stop: int


def edits_of(file: FileDiff, accepted: Collection[int], own: Sequence[Edit]) -> list[Placed]:
    """Edits that make the accepted hunks of a file and nothing else, from its top to its end."""
    lines = known_lines(file, own)
    named = [_lf(edit.search) for edit in own if not edit.replace_all and edit.search.strip()]
    made: list[Placed] = []
    shift = 0
    for number, hunk in enumerate(file.hunks):
        if number not in accepted:
            continue
        at = hunk.old_at + shift
        stop = at + len(hunk.old)
        span = _widened(lines, _Span(at, stop), named)
        near = _near(lines, span)
        above, below = lines[span.first : at], lines[stop : span.stop]
        edit = Edit(_text(lines, span), _joined([*above, *hunk.new, *below]))
        before, head, tail = (
            lines[near.first : near.stop],
            lines[near.first : at],
            lines[stop : near.stop],
        )
        made.append(Placed(edit, _told(before), _told([*head, *hunk.new, *tail])))
        lines[at:stop] = hunk.new
        shift += len(hunk.new) - len(hunk.old)
    return made


def known_lines(file: FileDiff, own: Sequence[Edit] = ()) -> Known:
    """All that is known of a file as it is; one more None when it may go on."""
    last = file.hunks[-1]
    lines: Known = [None] * (last.old_at + len(last.old))
    for hunk in file.hunks:
        lines[hunk.old_at : hunk.old_at + len(hunk.old)] = hunk.old
    if not lines or (lines[-1] or "\n").endswith("\n"):
        lines.append(None)
    searches = [split(_lf(edit.search)) for edit in own if not edit.replace_all]
    begins = [_learn(lines, file.hunks, search) for search in searches]
    for at, search in zip(begins, searches, strict=True):
        # It may be the end of a line only, so it is good for nothing but to begin a search.
        if at is not None and lines[at] is None and (at == 0 or lines[at - 1] is None):
            lines[at] = search[0]
    return lines


def _learn(lines: Known, hunks: Sequence[Hunk], search: Sequence[str]) -> int | None:
    """Take in the lines of a search around a hunk; where it begins, if that can be told.

    Its first line may be a part of a line, and so may the last one, unless it has a line end.
    """
    if len(search) < 2:
        return None
    places = {
        at
        for hunk in hunks
        for at in range(hunk.old_at - len(search) + 1, hunk.old_at + len(hunk.old))
        if at >= 0 and _fits(lines, search, at)
    }
    if len(places) != 1:
        return None
    (at,) = places
    whole = search if search[-1].endswith("\n") else search[:-1]
    lines += [None] * (at + len(whole) + 1 - len(lines))
    for inner, line in enumerate(whole[1:], start=at + 1):
        if lines[inner] is None:
            crlf = (lines[inner - 1] or lines[hunks[0].old_at] or "").endswith("\r\n")
            lines[inner] = line.removesuffix("\n") + ("\r\n" if crlf else "\n")
    return at


def _fits(lines: Known, search: Sequence[str], at: int) -> bool:
    """Whether a search can begin at a line: all that is known is as it says, and much of it is."""
    seen = 0
    for offset, wanted in enumerate(search):
        line = lines[at + offset] if at + offset < len(lines) else None
        if line is None:
            continue
        have = _lf(line)
        fits = have == wanted
        seen += fits
        if not fits and offset == 0:
            fits = have.endswith(wanted)
        if not fits and offset == len(search) - 1:
            fits = have.startswith(wanted)
        if not fits:
            return False
    return seen > 0


def _widened(lines: Known, span: _Span, named: Sequence[str]) -> _Span:
    """A span grown until it is certain, or until nothing more is known; `Unplaced` if it is not."""
    while not any(search in _lf(_text(lines, span)) for search in named):
        above = span.first > 0 and lines[span.first - 1] is not None
        below = span.stop < len(lines) and lines[span.stop] is not None
        if not above and not below:
            break
        span = _Span(span.first - above, span.stop + below)
    search = _lf(_text(lines, span))
    if not search or sum(_count(_lf(run), search) for run in _runs(lines)) != 1:
        raise Unplaced
    return span


def _near(lines: Known, span: _Span) -> _Span:
    """A span with some of the known lines around it."""
    first, stop = span.first, span.stop
    while first > max(span.first - NEAR, 0) and lines[first - 1] is not None:
        first -= 1
    while stop < min(span.stop + NEAR, len(lines)) and lines[stop] is not None:
        stop += 1
    return _Span(first, stop)


def _runs(lines: Known) -> Iterator[str]:
    """The stretches of a file that are known."""
    run: list[str] = []
    for line in [*lines, None]:
        if line is not None:
            run.append(line)
        elif run:
            yield "".join(run)
            run = []


def _count(text: str, part: str) -> int:
    """How often a part occurs, also where it overlaps itself."""
    count, at = 0, text.find(part)
    while at >= 0:
        count, at = count + 1, text.find(part, at + 1)
    return count


def _text(lines: Known, span: _Span) -> str:
    return _joined(lines[span.first : span.stop])


def _joined(lines: Known) -> str:
    return "".join(_told(lines))


def _told(lines: Known) -> list[str]:
    return [line for line in lines if line is not None]


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def as_arguments(made: Sequence[Placed]) -> list[dict[str, Any]]:
    """Edits as the tool takes them."""
    return [{"search": one.edit.search, "replace": one.edit.replace} for one in made]
