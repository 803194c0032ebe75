"""When two lines count as equal: the tiers, their line keys, and the fold of typography.

Only blanks, typographic punctuation and Unicode composition are ever folded: never case, look-alike
letters or full-width forms.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from msgspec import Struct

from steersman.operations.matching.lines import BLANKS
from steersman.operations.matching.records import TierName

_SPACES = (
    "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
_PLAIN = (
    ("\u2018\u2019\u201a\u201b", "'"),
    ("\u201c\u201d\u201e\u201f", '"'),
    ("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    (_SPACES, " "),
    ("\u2026", "..."),
)
_FOLDS = tuple((odd, plain) for odds, plain in _PLAIN for odd in odds)

ALL_BLANKS = BLANKS + _SPACES


class Tier(Struct, frozen=True):
    """A way to compare whole lines, and so a name for how an edit was matched."""

    name: TierName
    trims: bool = True
    folds: bool = False
    reindents: bool = False
    squeezes: bool = False


EXACT = Tier("exact", trims=False)
TRAILING = Tier("trailing-blanks")
TYPOGRAPHY = Tier("typography", folds=True)
INDENTATION = Tier("indentation", reindents=True)
ALL = Tier("all-blanks", folds=True, reindents=True, squeezes=True)

LINE_TIERS = (EXACT, TRAILING, TYPOGRAPHY, INDENTATION, ALL)
BYTE_TIERS = (EXACT, TRAILING, INDENTATION, Tier("all-blanks", reindents=True, squeezes=True))


class Atom(Struct, frozen=True):
    """The smallest piece of a line that folds as one: its own text and its folded text."""

    source: str
    folded: str


def fold(text: str) -> str:
    """Typographic punctuation and blanks in their plain form, letters composed."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    for odd, plain in _FOLDS:
        text = text.replace(odd, plain)
    return text


def line_keys(bodies: Sequence[str], tier: Tier) -> list[str]:
    """One key for each line; lines with the same key are equal in this tier."""
    keys = [body.rstrip(BLANKS) for body in bodies] if tier.trims else list(bodies)
    if tier.folds:
        keys = _folded(keys)
    if tier.reindents:
        keys = [key.lstrip(BLANKS) for key in keys]
    return [squeeze(key) for key in keys] if tier.squeezes else keys


def squeeze(text: str) -> str:
    """Every run of blanks as one space."""
    if "  " not in text and "\t" not in text:
        return text
    words = text.replace("\t", " ").split(" ")
    inner = " ".join(filter(None, words))
    return " " * (not words[0]) + inner + " " * (bool(inner) and not words[-1])


def atoms(text: str, tier: Tier) -> list[Atom]:
    """A line's content in pieces, so that file and search can be cut at the same places."""
    pieces = [Atom(part, fold(part) if tier.folds else part) for part in _clusters(text)]
    return list(_joined_blanks(pieces)) if tier.squeezes else pieces


def _folded(keys: list[str]) -> list[str]:
    joined = "\n".join(keys)
    if not keys or joined.isascii():
        return keys
    return [key.rstrip(BLANKS) for key in fold(joined).split("\n")]


def _clusters(text: str) -> Iterable[str]:
    if text.isascii():
        yield from text
        return
    cluster = ""
    for character in text:
        if cluster and not unicodedata.combining(character):
            yield cluster
            cluster = ""
        cluster += character
    if cluster:
        yield cluster


def _joined_blanks(pieces: Iterable[Atom]) -> Iterable[Atom]:
    run = ""
    for piece in pieces:
        if piece.folded in BLANKS:
            run += piece.source
            continue
        if run:
            yield Atom(run, " ")
            run = ""
        yield piece
    if run:
        yield Atom(run, " ")
