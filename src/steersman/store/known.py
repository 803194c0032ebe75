"""Where known secrets are in a text, as they are or encoded: base64, hexadecimal, escaped.

However many there are, a text is gone through once, word by word of its bytes: wherever a secret
stands, one of a few words of it falls together with one of the text.
"""

import re
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import lru_cache
from struct import Struct
from typing import Literal
from urllib.parse import quote, quote_plus

import msgspec

from steersman.records.patterns import pattern

Span = tuple[int, int]

LONGEST_ENCODED = 8192
LONG_HEAD = 64
PART = 1 << 18
_FORMATS: dict[int, Literal["I", "Q"]] = {4: "I", 8: "Q"}
# Short texts are most: a view of their bytes would take longer than what is in them.
FEW = 64
_UNPACK = {
    size: [Struct(f"{count}{kind}").unpack_from for count in range(FEW)]
    for size, kind in _FORMATS.items()
}
_SHELL = pattern(r"[^\w@%+=:,./-]", re.ASCII)
_PERCENT = pattern(r"%[0-9A-F]{2}")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


@lru_cache(maxsize=16)
def known(secrets: frozenset[str]) -> "Known":
    """The same secrets are prepared once for all threads."""
    return Known(secrets)


class Known:
    """Known secrets and their encodings."""

    def __init__(self, secrets: Iterable[str]) -> None:
        every = {form for secret in secrets if secret for form in (secret, *encodings(secret))}
        self._literals = sorted(every, key=len, reverse=True)
        self._words: dict[int, dict[int, set[str]]] = {4: {}, 8: {}}
        self._tiny: set[str] = set()  # too short to hold a word at any alignment
        for literal in self._literals:
            for form in {literal.encode("utf-8", "surrogatepass"), _in_json(literal)}:
                self._enter(form, literal)
        self._tables = [(size, frozenset(words)) for size, words in self._words.items() if words]
        self._heads = frozenset(
            one[:size] for one in self._literals for size in range(1, min(len(one), LONG_HEAD + 1))
        )
        self._long = [one for one in self._literals if len(one) > LONG_HEAD]

    def _enter(self, form: bytes, literal: str) -> None:
        size = 8 if len(form) >= 15 else 4
        if len(form) < 7:
            self._tiny.add(literal)
        # As many words as there are alignments, from its end: tokens begin alike.
        for at in range(max(len(form) - 2 * size + 1, 0), len(form) - size + 1):
            word = int.from_bytes(form[at : at + size], sys.byteorder)
            self._words[size].setdefault(word, set()).add(literal)

    def may_be_in(self, data: bytes) -> bool:
        """Whether any secret may be in data, as it is or written as JSON."""
        if self._tiny:
            return True
        return not all(
            words.isdisjoint(part) for size, words in self._tables for part in _words(data, size)
        )

    def spans(self, text: str) -> list[Span]:
        """Where they are; of two that begin alike the longer, and none inside another."""
        if not self._literals:
            return []
        data = text.encode() if text.isascii() else text.encode("utf-8", "surrogatepass")
        if not self.may_be_in(data):
            return []
        there = frozenset(one for one in self._candidates(data) if one in text)
        return [found.span() for found in _pattern(there).finditer(text)] if there else []

    def open_from(self, text: str, start: int) -> int:
        """Where one may have begun that is not complete; the end of the text if nowhere."""
        places = range(max(len(text) - LONG_HEAD, start), len(text))
        begun = [at for at in places if text[at:] in self._heads][:1]
        for one in self._long if len(text) - start > LONG_HEAD else ():
            at = text.find(one[:LONG_HEAD], max(start, len(text) - len(one) + 1))
            while at >= 0 and not one.startswith(text[at:]):
                at = text.find(one[:LONG_HEAD], at + 1)
            begun += [at] if at >= 0 else []
        return min(begun, default=len(text))

    def _candidates(self, data: bytes) -> set[str]:
        found = set(self._tiny)
        for size, words in self._tables:
            for part in _words(data, size):
                found.update(*(self._words[size][word] for word in words.intersection(part)))
        return found


def _words(data: bytes, size: int) -> Iterator[Iterable[int]]:
    """The words of data, in parts that do not hold up other threads for long."""
    count = len(data) // size
    if count < FEW:
        yield _UNPACK[size][count](data)
        return
    view = memoryview(data)
    for at in range(0, count * size, PART):
        yield view[at : min(at + PART, count * size)].cast(_FORMATS[size])


def _in_json(text: str) -> bytes:
    try:
        return msgspec.json.encode(text)[1:-1]
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=64)
def _pattern(literals: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(literals, key=len, reverse=True))))


def encodings(secret: str) -> Iterator[str]:
    """The secret as other programs write it, wherever in their data it is."""
    import json

    data = secret.encode("utf-8", "surrogatepass")
    if not 8 <= len(data) <= LONGEST_ENCODED:
        return
    for before in range(3):
        # Characters that hold nothing but bits of the secret.
        begins, ends = (0, 2, 3)[before], (before + len(data)) * 8 // 6
        core = b64encode(bytes(before) + data).decode()[begins:ends]
        yield core
        yield core.replace("+", "-").replace("/", "_")
        if before == 0:
            yield from (_wrapped(core, width) for width in (64, 76))
    for written in (data.hex(), data.hex().upper()):
        yield written
        yield _wrapped(written, 60)  # as xxd writes it
    percent = {quote(data, safe=""), quote(data), quote_plus(data)}
    percent.add("".join(f"%{byte:02X}" for byte in data))
    for written in percent - {secret}:
        yield written
        yield _PERCENT.sub(lambda found: found[0].lower(), written)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield secret.replace("'", "'\\''")
    yield secret.replace("'", "'\"'\"'")
    yield _SHELL.sub(r"\\\g<0>", secret)
    yield secret.translate(_HTML)


def _wrapped(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))
