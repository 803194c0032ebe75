"""Which line of a search a line of its replacement continues, and how their characters correspond.

A pair is what lets the file's own bytes survive wherever search and replace agree.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from steersman.operations.matching.alignment import (
    Shared,
    common_prefix,
    common_suffix,
    counterparts,
    gaps_between,
    shared_runs,
)
from steersman.operations.matching.folding import Tier, atoms
from steersman.operations.matching.lines import BLANKS

LIKE = 0.5
COMPARISONS = 2_000
LONG_LINE = 400
LONG_CONTENT = 40_000

_WORDS = re.compile(r"\s+|\S+")
_SYMBOLS = re.compile(r"\w+|\W")


class Plan(Struct, frozen=True):
    """A block to find, the lines to put there, and for each of those its line in the block."""

    search: list[str]
    replace: list[str]
    pairing: list[int | None]


class _Segment(Struct, frozen=True):
    start: int
    stop: int
    own: str


def make_plan(search: list[str], replace: list[str]) -> Plan:
    """Pair the lines of a replacement with the lines of its search."""
    bare = [line.strip(BLANKS) for line in search]
    other = [line.strip(BLANKS) for line in replace]
    runs = shared_runs(bare, other)
    pairing = counterparts(runs, len(replace))
    gaps = list(gaps_between(runs, len(search), len(replace)))
    moved = dict(_moved(bare, other, gaps))
    taken = set(moved.values())
    budget = COMPARISONS
    for left, right in gaps:
        budget -= len(left) * len(right)
        alike = _alike(bare, other, left, right) if budget >= 0 else []
        for at, match in [*alike, *_same_place(alike, left, right)]:
            if match not in moved and at not in taken:
                pairing[match] = at
    for match, at in moved.items():
        pairing[match] = at
    return Plan(search, replace, pairing)


def keep_own(own: str, search: str, replace: str, tier: Tier) -> str:
    """The replacement's text, in the file's characters wherever it repeats the search."""
    if own == search:
        return replace
    if replace == search:
        return own
    segments = _segments(own, search, tier)
    written: list[str] = []
    at = done = 0
    for run in _shared_characters(search, replace):
        while done < len(segments) and segments[done].start < run.left:
            done += 1
        while done < len(segments) and segments[done].stop <= run.left + run.size:
            segment = segments[done]
            start = run.right + segment.start - run.left
            written += (replace[at:start], segment.own)
            at = start + segment.stop - segment.start
            done += 1
    return "".join(written) + replace[at:]


def _moved(
    search: Sequence[str], replace: Sequence[str], gaps: list[tuple[range, range]]
) -> Iterator[tuple[int, int]]:
    """Lines of the replacement that are lines of the search in another place."""
    left_over: dict[str, list[int]] = {}
    for left, _ in gaps:
        for at in left:
            left_over.setdefault(search[at], []).append(at)
    for _, right in gaps:
        for match in right:
            if replace[match] and left_over.get(replace[match]):
                yield match, left_over[replace[match]].pop(0)


def _same_place(
    alike: list[tuple[int, int]], left: range, right: range
) -> Iterator[tuple[int, int]]:
    """Pairs of the lines between those that are alike, where there are as many on both sides."""
    first, other = left.start, right.start
    for at, match in [*alike, (left.stop, right.stop)]:
        if at - first == match - other:
            yield from zip(range(first, at), range(other, match), strict=True)
        first, other = at + 1, match + 1


def _alike(
    search: Sequence[str], replace: Sequence[str], left: range, right: range
) -> list[tuple[int, int]]:
    """The order-keeping pairs of lines with the highest likeness in sum."""
    best: dict[tuple[int, int], tuple[float, list[tuple[int, int]]]] = {}
    nothing: tuple[float, list[tuple[int, int]]] = (0.0, [])
    for at in reversed(left):
        for match in reversed(right):
            choice = max(
                best.get((at + 1, match), nothing),
                best.get((at, match + 1), nothing),
                key=lambda option: option[0],
            )
            likeness = _likeness(search[at], replace[match])
            rest = best.get((at + 1, match + 1), nothing)
            if likeness >= LIKE and likeness + rest[0] > choice[0]:
                choice = (likeness + rest[0], [(at, match), *rest[1]])
            best[at, match] = choice
    return best.get((left.start, right.start), nothing)[1]


def _likeness(one: str, other: str) -> float:
    if max(len(one), len(other)) > LONG_LINE or not one or not other:
        return 0.0
    matcher = SequenceMatcher(None, _SYMBOLS.findall(one), _SYMBOLS.findall(other), autojunk=False)
    return matcher.ratio()


def _segments(own: str, search: str, tier: Tier) -> list[_Segment]:
    """Pieces of the search with the file's text for each, cut where both sides can be cut."""
    ours, theirs = atoms(search, tier), atoms(own, tier)
    if "".join(a.folded for a in ours) != "".join(a.folded for a in theirs):
        return []
    segments: list[_Segment] = []
    remaining = iter(theirs)
    start = stop = ahead = 0
    text = ""
    for piece in ours:
        stop += len(piece.source)
        ahead += len(piece.folded)
        while ahead > 0 and (following := next(remaining, None)):
            text += following.source
            ahead -= len(following.folded)
        if ahead == 0:
            segments.append(_Segment(start, stop, text))
            start, text = stop, ""
    return segments


def _shared_characters(search: str, replace: str) -> Iterator[Shared]:
    """Runs of characters a line shares with its replacement, whole words before parts of them."""
    levels = [_WORDS, _SYMBOLS] if len(search) + len(replace) <= LONG_CONTENT else []
    yield from _refine(search, replace, 0, 0, levels)


def _refine(
    search: str, replace: str, left: int, right: int, levels: list[re.Pattern[str]]
) -> Iterator[Shared]:
    if not levels:
        yield from _shared_ends(search, replace, left, right)
        return
    ours, theirs = levels[0].findall(search), levels[0].findall(replace)
    runs = shared_runs(ours, theirs)
    our_starts, their_starts = _starts(ours), _starts(theirs)
    joints = sorted(
        [(run.left, run.left + run.size, run.right, run.right + run.size, True) for run in runs]
        + [
            (gap.start, gap.stop, other.start, other.stop, False)
            for gap, other in gaps_between(runs, len(ours), len(theirs))
        ]
    )
    for first, stop, other, other_stop, same in joints:
        start, end = our_starts[first], our_starts[stop]
        there, there_end = their_starts[other], their_starts[other_stop]
        if same:
            yield Shared(left + start, right + there, end - start)
        else:
            yield from _refine(
                search[start:end],
                replace[there:there_end],
                left + start,
                right + there,
                levels[1:],
            )


def _shared_ends(search: str, replace: str, left: int, right: int) -> Iterator[Shared]:
    prefix = common_prefix(search, replace)
    limit = min(len(search), len(replace)) - prefix
    suffix = common_suffix(search, replace, limit)
    if prefix:
        yield Shared(left, right, prefix)
    if suffix:
        yield Shared(left + len(search) - suffix, right + len(replace) - suffix, suffix)


def _starts(tokens: Sequence[str]) -> list[int]:
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    return starts
