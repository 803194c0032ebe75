"""Which parts of the best files are shown, within a budget of tokens. Pure.

A file is cut into units: a function, a class down to its first method, what is before the
first definition; where there are no definitions, runs of lines between empty ones. Units are
weighed by the question's words in them and taken best first.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from steersman.operations.code.index.terms import pieces

# Code has about 3.6 characters a token; counting 3.2 leaves a tenth of a budget in reserve.
CHARACTERS = 3.2
OVERHEAD = 24
LONGEST_UNIT = 60
SHORTEST_CUT = 8
PARAGRAPH = 25
WIDEST = 400
NEIGHBOURS = 3
# What a word counts for in a name, and the lines over which a unit loses half its weight.
IN_NAME = 3
LONG = 80
# No file takes more than this share of a budget while others wait.
SHARE = 0.4
# Definitions that are not part of their own.
SMALL = frozenset({"variable", "constant", "property", "field", "key"})
_ATTACHED = ("@", "#", "//", "/*", "*", "--")
_WORDS = re.compile(r"\w+")


class Span(Struct, frozen=True):
    """A definition's place: its name path, its kind, and its lines, from 1, both counted."""

    name_path: str
    kind: str
    line: int
    end_line: int


class Unit(Struct, frozen=True):
    """A part of a file: lines from 1, both counted; `name` is what it defines."""

    name: str
    kind: str
    line: int
    end_line: int


class Piece(Struct, frozen=True):
    """A unit of a file with what it is worth to a question."""

    file: int
    unit: Unit
    worth: float


def tokens(text: str) -> int:
    """About how many tokens a text is, rather more than less."""
    return int(len(text.encode("utf-8", "replace")) / CHARACTERS) + 1


def units(spans: Iterable[Span], lines: Sequence[str]) -> list[Unit]:
    """The parts of a file, in order and without gaps; what is right above a definition is of
    it."""
    known = {s.line: s for s in spans if s.kind not in SMALL and 0 < s.line <= len(lines)}
    if not known:
        return list(_paragraphs(lines))
    starts = sorted({_above(line, lines): known[line] for line in reversed(known)}.items())
    found = []
    if starts[0][0] > 1:
        found.append(Unit("", "head", 1, starts[0][0] - 1))
    for place, (start, span) in enumerate(starts):
        end = starts[place + 1][0] - 1 if place + 1 < len(starts) else len(lines)
        found.append(Unit(span.name_path, span.kind, start, end))
    return [_trimmed(unit, lines) for unit in found]


def _above(line: int, lines: Sequence[str]) -> int:
    while line > 1 and lines[line - 2].lstrip().startswith(_ATTACHED):
        line -= 1
    return line


def _trimmed(unit: Unit, lines: Sequence[str]) -> Unit:
    end = unit.end_line
    while end > unit.line and not lines[end - 1].strip():
        end -= 1
    return Unit(unit.name, unit.kind, unit.line, end)


def _paragraphs(lines: Sequence[str]) -> Iterable[Unit]:
    start = 0
    for number, line in enumerate(lines):
        long = number - start >= PARAGRAPH
        if (long and not line.strip()) or number - start >= 2 * PARAGRAPH:
            yield Unit("", "text", start + 1, number)
            start = number
    if start < len(lines):
        yield Unit("", "text", start + 1, len(lines))


class Scale:
    """Weighs units by a question's terms; a word is taken apart once."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self.heaviest = max(weights.values(), default=1.0)
        self._known: dict[str, tuple[str, ...]] = {}

    def terms(self, text: str) -> list[str]:
        """The terms that are in a text, as often as they do."""
        found: list[str] = []
        known = self._known
        for word in _WORDS.findall(text[:WIDEST]):
            terms = known.get(word)
            if terms is None:
                terms = known[word] = tuple(t for t in pieces(word) if t in self._weights)
            if terms:
                found += terms
        return found

    def weigh(self, unit: Unit, lines: Sequence[str]) -> tuple[float, list[str]]:
        """What a unit is worth, and the terms that are in it, best first."""
        counts: Counter[str] = Counter()
        for line in lines[unit.line - 1 : unit.end_line]:
            counts.update(self.terms(line))
        for term in self.terms(unit.name.rpartition("/")[2]):
            counts[term] += IN_NAME
        long = 1.0 + (unit.end_line - unit.line) / LONG
        gains = {term: self._weights[term] * n / (n + long) for term, n in counts.items()}
        return sum(gains.values()), sorted(gains, key=gains.__getitem__, reverse=True)

    def cut(self, unit: Unit, lines: Sequence[str], most: int) -> tuple[int, int]:
        """The lines of a unit that are shown: all of them, or the stretch where its words are."""
        size = unit.end_line - unit.line + 1
        if size <= most:
            return unit.line, unit.end_line
        hits = [float(bool(self.terms(line))) for line in lines[unit.line - 1 : unit.end_line]]
        hits[0] += 0.5  # a signature is worth more than half a line
        now = best = sum(hits[:most])
        at = 0
        for start in range(1, size - most + 1):
            now += hits[start + most - 1] - hits[start - 1]
            if now > best:
                best, at = now, start
        return unit.line + at, unit.line + at + most - 1


class Chosen(Struct, frozen=True):
    """Lines of a file that are shown, and for which pieces."""

    file: int
    line: int
    end_line: int
    pieces: tuple[Piece, ...]


def choose(
    found: Sequence[Piece], texts: Mapping[int, Sequence[str]], scale: Scale, budget: int
) -> list[Chosen]:
    """The pieces that fit a budget, best first, neighbours merged."""
    taken: dict[int, list[Chosen]] = {}
    spent: dict[int, int] = {}
    left = budget
    for piece in sorted(found, key=lambda piece: -piece.worth):
        lines = texts[piece.file]
        room = min(left, int(budget * SHARE) - spent.get(piece.file, 0))
        placed = _fitted(piece, lines, scale, room)
        if placed is None:
            continue
        chosen, cost = placed
        taken.setdefault(piece.file, []).append(chosen)
        spent[piece.file] = spent.get(piece.file, 0) + cost
        left -= cost
        if left < OVERHEAD * 2:
            break
    merged = [one for file, parts in taken.items() for one in _merged(parts)]
    return sorted(merged, key=lambda one: -max(piece.worth for piece in one.pieces))


def _fitted(
    piece: Piece, lines: Sequence[str], scale: Scale, room: int
) -> tuple[Chosen, int] | None:
    most = LONGEST_UNIT
    while most >= SHORTEST_CUT:
        first, last = scale.cut(piece.unit, lines, most)
        cost = OVERHEAD + tokens("\n".join(lines[first - 1 : last]))
        if cost <= room:
            return Chosen(piece.file, first, last, (piece,)), cost
        most = min(most, last - first + 1) // 2
    return None


def _merged(parts: Iterable[Chosen]) -> list[Chosen]:
    merged: list[Chosen] = []
    for part in sorted(parts, key=lambda part: part.line):
        last = merged[-1] if merged else None
        if last is not None and part.line <= last.end_line + 1 + NEIGHBOURS:
            end = max(last.end_line, part.end_line)
            merged[-1] = Chosen(part.file, last.line, end, last.pieces + part.pieces)
        else:
            merged.append(part)
    return merged
