"""Which files matter for a question, and why. Pure: what the index knows comes in as a `Picture`.

A question's words are looked for in the text of files, in the names they define and in their
paths (BM25 over these fields together). The best of these, files that are named, and files that
define or use a name that is mentioned are where a walk over the graph begins; it lifts the files
they lean on. What git saw change lately, and what is open, weighs a little.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from steersman.operations.code.index import fulltext
from steersman.operations.code.index.fulltext import Hits
from steersman.operations.code.index.graph import Graph, rank
from steersman.operations.code.index.recency import Touch, ago
from steersman.operations.code.index.terms import Question, pieces, understand

# What a word counts for in a name that is defined, in a file's name, in a folder's name.
DEFINED = 3
FILE_NAME = 6
FOLDER_NAME = 2
# Shares of the final score, beside 1 for the words.
WALK = 0.6
RECENT = 0.15
OPEN = 0.3
MENTIONED = 0.8
NAMED = 1.5
SEEDS = 40
LEAST = 0.02
MOST = 200
# What a question is rarely about, unless it says so.
ASIDE = {"test": 0.55, "doc": 0.5, "vendor": 0.5, "change": 0.3}
_TESTS = frozenset({"test", "tests", "testing", "spec", "specs", "__tests__", "conftest"})
_DOCS = frozenset({"doc", "docs", "documentation", "examples", "example", "demo", "demos"})
_VENDORED = frozenset({"_vendor", "vendor", "vendored", "third_party", "node_modules", "dist"})
_WRITTEN_OF_ITSELF = (".egg-info/", ".dist-info/", "pkg-info", "project_index.")
_SEAMS = re.compile(r"[._-]")
_PROSE = (".md", ".rst", ".txt", ".po", ".html", ".json", ".lock", ".cfg", ".ini", ".svg", ".csv")
_CHANGES = ("change", "history", "news", "release", "newsfragment")


class Picture:
    """What the index knows of a workspace, laid out for ranking; files go by number."""

    def __init__(
        self,
        paths: Sequence[str],
        words: Sequence[bytes],
        defines: Mapping[str, Sequence[int]],
        graph: Graph,
        touches: Mapping[str, Touch] | None = None,
    ) -> None:
        self.paths = paths
        self.words = words
        self.defines = defines
        self.graph = graph
        self.touches = touches or {}
        self.numbers = {path: number for number, path in enumerate(paths)}
        self.asides = [aside(path) for path in paths]
        self._names = list(defines)
        self._starts = [0]
        lower = []
        for name in self._names:
            lower.append(name.lower())
            self._starts.append(self._starts[-1] + len(lower[-1]) + 1)
        self._lower = "\n".join(lower)
        self._path_terms = [_path_terms(path) for path in paths]

    def named_like(self, term: str) -> Iterable[str]:
        """Names that are defined and of which a term is a part."""
        at = self._lower.find(term)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            name = self._names[number]
            if term in pieces(name):
                yield name
            at = self._lower.find(term, self._starts[number + 1])

    def in_names(self, terms: Iterable[str]) -> dict[str, dict[int, int]]:
        """What terms count for in the names and paths of files."""
        found: dict[str, dict[int, int]] = {}
        for term in terms:
            counts = found[term] = {}
            for name in self.named_like(term):
                for file in self.defines[name]:
                    counts[file] = min(counts.get(file, 0) + DEFINED, 5 * DEFINED)
            for file, path_terms in enumerate(self._path_terms):
                if term in path_terms:
                    counts[file] = counts.get(file, 0) + path_terms[term]
        return found


class Ranked(Struct, frozen=True):
    """A file with what it is worth, 1 being the best, and why."""

    file: int
    score: float
    why: tuple[str, ...]


class Order(Struct, frozen=True):
    """Files best first, and what the question's terms weigh."""

    files: tuple[Ranked, ...]
    weights: Mapping[str, float]
    question: Question


def order(
    picture: Picture,
    text: str,
    *,
    files: Iterable[int] = (),
    symbols: Iterable[str] = (),
    opened: Iterable[int] = (),
    now: float = 0.0,
) -> Order:
    """The files that matter; `files` and `symbols` are hints, `opened` is what is at hand."""
    question = understand(text)
    named = _named(picture, question, symbols)
    terms = dict.fromkeys(question.terms, 1.0)
    for symbol in symbols:
        for term in pieces(last_part(symbol)):
            terms.setdefault(term, 1.0)
    hits = fulltext.search(picture.words, terms, picture.in_names(terms))
    hinted = {*files, *_paths(picture, question)}
    base = _base(picture, question, hits, named)
    seeds = dict(sorted(base.items(), key=lambda one: -one[1])[:SEEDS])
    top = max(seeds.values(), default=1.0)
    for file in hinted:
        seeds[file] = seeds.get(file, 0.0) + top
    if terms and not seeds:
        return Order((), hits.weights, question)
    walk = rank(picture.graph, {file: score**2 for file, score in seeds.items()})
    return Order(
        tuple(_final(picture, base, walk, Reasons(question, hits, named, hinted, {*opened}, now))),
        hits.weights,
        question,
    )


def aside(path: str) -> str:
    """What a file is besides the matter itself: `test`, `doc`, `vendor`, `change`, or nothing."""
    *folders, name = path.lower().split("/")
    if any(name.startswith(word) for word in _CHANGES) or "newsfragments" in folders:
        return "change"
    if not _VENDORED.isdisjoint(folders) or any(m in path.lower() for m in _WRITTEN_OF_ITSELF):
        return "vendor"
    if not _TESTS.isdisjoint((*folders, *_SEAMS.split(name))):
        return "test"
    if not _DOCS.isdisjoint(folders) or name.endswith(_PROSE):
        return "doc"
    return ""


def last_part(symbol: str) -> str:
    """The name at the end of a path of names: `send` of `Client/send` and of `client.send`."""
    return symbol.rpartition("/")[2].rpartition(".")[2]


def _named(picture: Picture, question: Question, symbols: Iterable[str]) -> dict[int, list[str]]:
    """The files that define a name which the question or a hint mentions."""
    wanted = {last_part(symbol) for symbol in symbols}
    found: dict[int, list[str]] = {}
    for name in sorted(wanted | question.names):
        definers = picture.defines.get(name, ())
        if len(definers) <= 12:
            for file in definers:
                found.setdefault(file, []).append(name)
    return found


def _paths(picture: Picture, question: Question) -> list[int]:
    """The files whose path a question names, whole or from its end; not when many end so."""
    found: list[int] = []
    for path in question.paths:
        clean = path.strip("./")
        ends = [n for n, known in enumerate(picture.paths) if f"/{known}".endswith(f"/{clean}")]
        if len(ends) <= 5:
            found += ends
    return found


def _base(
    picture: Picture, question: Question, hits: Hits, named: Mapping[int, list[str]]
) -> dict[int, float]:
    """What words alone say, with what a question is rarely about set aside."""
    spoken = set(question.terms)
    base = {}
    top = max(hits.scores.values(), default=1.0)
    for file in {*hits.scores, *named}:
        kind = picture.asides[file]
        score = hits.scores.get(file, 0.0) / top
        if file in named:
            score += MENTIONED / math.sqrt(len(picture.defines[named[file][0]]))
        base[file] = score * (1.0 if not kind or kind in spoken else ASIDE[kind])
    return base


class Reasons(Struct, frozen=True):
    """What there is to say about why a file matters."""

    question: Question
    hits: Hits
    named: Mapping[int, list[str]]
    hinted: set[int]
    opened: set[int]
    now: float

    def of(self, file: int, touch: Touch | None) -> tuple[str, ...]:
        """The reasons for one file, the strongest first."""
        why = []
        if file in self.hinted:
            why.append("named")
        if file in self.named:
            why.append(f"defines {', '.join(self.named[file][:3])}, mentioned")
        words = self.question.terms
        found = [words.get(term, term) for term in self.hits.found.get(file, ())]
        if found:
            why.append(f"full text: {', '.join(dict.fromkeys(found[:4]))}")
        elif not why:
            why.append("used by what fits" if words else "other files use it")
        if file in self.opened:
            why.append("open")
        if touch is not None and self.now:
            why.append(f"changed {ago(touch.last, self.now)}")
        return tuple(why)


def _final(
    picture: Picture, base: Mapping[int, float], walk: Sequence[float], reasons: Reasons
) -> list[Ranked]:
    top = max(base.values(), default=0.0) or 1.0
    furthest = max(walk, default=0.0) or 1.0
    warmest = max((touch.weight for touch in picture.touches.values()), default=0.0) or 1.0
    scores = []
    for file, path in enumerate(picture.paths):
        score = base.get(file, 0.0) / top + WALK * math.sqrt(walk[file] / furthest)
        if file in reasons.hinted:
            score += NAMED
        if score < LEAST:
            continue
        if file in reasons.opened:
            score += OPEN
        if path in picture.touches:
            score += RECENT * score * math.sqrt(picture.touches[path].weight / warmest)
        scores.append((-score, path, file))
    scores.sort()
    best = -scores[0][0] if scores else 1.0
    return [
        Ranked(file, -score / best, reasons.of(file, picture.touches.get(path)))
        for score, path, file in scores[:MOST]
    ]


def _path_terms(path: str) -> dict[str, int]:
    *folders, name = path.split("/")
    found = {term: FOLDER_NAME for folder in folders[-3:] for term in pieces(folder)}
    return found | dict.fromkeys(pieces(name.partition(".")[0]), FILE_NAME)
