"""The words of files, and which files a question's words are in.

What is kept of a file is one string of its terms and counts. A search looks for a handful of terms
in every such string, which for some thousand files takes less time than keeping an inverted index
in order would, and a file that changed is one row. Comments and docstrings count like code.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from steersman.operations.code.index.terms import pieces

LARGEST = 512 << 10
_OTHERS = bytes(b for b in range(128) if not (chr(b).isalnum() or b == ord("_")))
_SPACES = bytes.maketrans(_OTHERS, b" " * len(_OTHERS))
_MOST_KNOWN = 1 << 17
_pieces: dict[bytes, tuple[bytes, ...]] = {}

# The usual constants of BM25, and how much more a word says in a path than in the text.
SATURATION = 1.8
LENGTH = 0.6


class Hits(Struct, frozen=True):
    """Files by number: how well their words fit, and the terms that were found, best first."""

    scores: Mapping[int, float]
    found: Mapping[int, tuple[str, ...]]
    weights: Mapping[str, float]


def summary(content: bytes) -> bytes:
    """The words of a file as they are kept."""
    counts: dict[bytes, int] = {}
    known, so_far = _pieces.get, counts.get
    for word, count in Counter(content[:LARGEST].translate(_SPACES).split()).items():
        terms = known(word)
        if terms is None:
            terms = _learn(word)
        for term in terms:
            counts[term] = so_far(term, 0) + count
    lines = [b"%b %d" % entry for entry in counts.items()]
    return b"\n".join([b"%d" % sum(counts.values()), *lines, b""])


def _learn(word: bytes) -> tuple[bytes, ...]:
    """The terms of a word, remembered: files of one project share most of their words."""
    if len(_pieces) >= _MOST_KNOWN:
        _pieces.clear()
    terms = tuple(term.encode() for term in pieces(word.decode("utf-8", "replace")))
    _pieces[word] = terms
    return terms


def search(
    summaries: Sequence[bytes],
    weighed: Mapping[str, float],
    beside: Mapping[str, Mapping[int, int]] | None = None,
) -> Hits:
    """How well each file fits terms, each with what it weighs in the question.

    `beside` counts terms that are in a file's names; they count with those of its text.
    """
    total = max(len(summaries), 1)
    lengths = [int(text[: text.find(b"\n")] or b"0") if text else 0 for text in summaries]
    mean = max(sum(lengths) / total, 1.0)
    scores: dict[int, float] = {}
    found: dict[int, dict[str, float]] = {}
    weights: dict[str, float] = {}
    for term, weight in weighed.items():
        counts = _counts(summaries, term)
        for file, count in (beside or {}).get(term, {}).items():
            counts[file] = counts.get(file, 0) + count
        if not counts:
            continue
        rarity = math.log(1 + (total - len(counts) + 0.5) / (len(counts) + 0.5))
        weights[term] = weight * rarity
        for file, count in counts.items():
            long = SATURATION * (1 - LENGTH + LENGTH * lengths[file] / mean)
            gain = weights[term] * count * (SATURATION + 1) / (count + long)
            scores[file] = scores.get(file, 0.0) + gain
            found.setdefault(file, {})[term] = gain
    best = {
        file: tuple(sorted(gains, key=gains.__getitem__, reverse=True))
        for file, gains in found.items()
    }
    return Hits(scores, best, weights)


def _counts(summaries: Sequence[bytes], term: str) -> dict[int, int]:
    sought = f"\n{term} ".encode()
    length = len(sought)
    counts = {}
    for file, text in enumerate(summaries):
        at = text.find(sought)
        if at >= 0:
            counts[file] = int(text[at + length : text.find(b"\n", at + length)])
    return counts
