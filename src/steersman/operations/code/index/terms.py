"""Words as they are compared: identifiers split at their seams, ends cut off, the empty left out.

`max_form_memory_size`, `MaxFormMemorySize` and "the maximum memory of a form" meet in the terms
`form`, `memory` and `max`. The ends of English words are cut by a few rules that need only be the
same on both sides; no term is ever shown to a person.
"""

import re
from functools import lru_cache

from msgspec import Struct

LONGEST = 48
_SEAMS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\x00-\x7f]+")
_WORD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_PATHLIKE = re.compile(r"[\w.@+-]*/[\w./@+-]+|\b[\w-]+\.[a-z]{1,5}\b")
_INNER = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]|\w_+\w")

_EMPTY_WORDS = """
a about above after again all also although always an and any anything are as at away be because
been before being below between both but by can cannot could did do does doing done dont down each
either else even ever every everything for from get gets give given gives go goes going got had has
have having he her here him his how however i if in instead into is it its itself just let lets like
made make makes making many may me might mine more most much must my name need needs never no none
nor not nothing now of off on once one only onto or other others our out over own please put rather
really same see seem seems several shall she should since so some something still such take takes
than that the their them then there these they thing things this those through to too toward under
until up upon us use used uses using very via want wants was way we well were what when where
whether which while who whose why will with within without work works would yet you your
"""
EMPTY = frozenset(_EMPTY_WORDS.split())


class Question(Struct, frozen=True):
    """What is asked: terms with the words they come from, names as they are written, and what looks
    like a path."""

    terms: dict[str, str]
    names: frozenset[str]
    paths: tuple[str, ...]


def understand(text: str) -> Question:
    """Take a question apart."""
    quoted = {word for part in _QUOTED.findall(text) for word in _WORD.findall(part)}
    terms: dict[str, str] = {}
    names: set[str] = set()
    for match in _WORD.finditer(text):
        whole = match[0]
        called = text.startswith("()", match.end())
        for word in whole.split("."):
            if called or whole in quoted or _INNER.search(word):
                names.add(word)
            for term in pieces(word):
                if word.lower() not in EMPTY:
                    terms.setdefault(term, word)
    return Question(terms, frozenset(names), tuple(_PATHLIKE.findall(text)))


def pieces(identifier: str) -> tuple[str, ...]:
    """The terms of an identifier; one of several parts is also a term as a whole."""
    if len(identifier) > LONGEST or len(identifier) < 2:
        return ()
    if identifier.isalpha() and identifier.islower():
        return (stem(identifier),)
    parts = [stem(part.lower()) for part in _SEAMS.findall(identifier) if len(part) > 1]
    whole = identifier.replace("_", "").lower()
    if len(parts) > 1 or (parts and not whole.isalpha()):
        parts.append(whole)
    return tuple(dict.fromkeys(parts))


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """A word in lower case without its commonest ends."""
    if len(word) > 4:
        if word.endswith("ies") or word.endswith(("sses", "shes", "ches", "xes", "zes")):
            word = word[:-2]
        elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    for end in ("ing", "ed"):
        if word.endswith(end) and len(word) > len(end) + 2 and _spoken(word[: -len(end)]):
            word = word[: -len(end)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
                word = word[:-1]
            break
    if word.endswith("tion") and len(word) > 6:
        word = word[:-3]
    if word.endswith("e") and len(word) > 4:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


def _spoken(word: str) -> bool:
    return not word.isascii() or any(letter in "aeiouy" for letter in word)
