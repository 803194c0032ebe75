"""What looks like a secret though nobody knows it: tokens of known issuers, and private keys.

A token has a long run of letters and digits. Runs are found without a regular expression, and only
where one begins it is looked closely. What is read in vain is counted, and bounded where it becomes
much, so time is linear in the text whatever it holds. Values beside a word such as `password` are
in `beside.py`.
"""

import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from steersman.records.patterns import Pattern, pattern
from steersman.store.known import Span

SHORTEST_RUN = 16
LONGEST_TOKEN = 4096
LONGEST_KEY = 32_768
SHORT_PREFIX = 3
IN_VAIN = 4096  # so many characters, and a few of those before, may be read in vain
KEY_BEGINS = "-----BEGIN "
NEARBY = 80  # how far before a run the public part of a token may begin

_IN_RUN = string.ascii_letters + string.digits + "_-"
_KINDS = bytes(97 if chr(code) in _IN_RUN else 32 for code in range(256))
_MARKS = bytes(
    49 if chr(code) in string.ascii_uppercase + string.digits else 32 for code in range(256)
)
_RUN = b"a" * SHORTEST_RUN
_BEFORE = frozenset(".:/~\\%[;")  # before the secret part of a token, or an escape
# Escapes whose last letters seem to join what follows: \n, \u001b, %0A, colours of a terminal.
_ESCAPE = pattern(r"(?<=\\)(?:[nrtbf]|u[0-9a-fA-F]{4})|(?<=%)[0-9A-Fa-f]{2}|(?<=[\[;])\d*[mK]")
_PRIVATE_KEY = pattern(
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<body>(?:[A-Za-z0-9+/=\s:,\\\"'|.>()]++|-(?!----))*+)"
    r"(?P<end>-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?"
)
_KEY_LINES = pattern(r"(?:\s|\\[nr])*+(?:[A-Za-z0-9+/=]{16,}+(?:\s|\\[nr])*+)++")
_OPEN_KEY = pattern(r"-----BEGIN (?:[A-Z0-9]{0,16} ){0,3}[A-Z0-9]{0,16}-{0,5}\Z")
_HEADER_BEGUN = pattern(r"-{1,5}(?:(?<=-{5})B(?:E(?:G(?:IN?)?)?)?)?\Z")
_OPEN_END = pattern(r"-{1,5}(?:END (?:[A-Z0-9]{0,16} ){0,3}[A-Z0-9]{0,16}-{0,5})?|-----E?N?D?")
_LAST_WORD = pattern(r"[\w.+/=~%:-]+\Z", re.ASCII)
_SEPARATOR = pattern(r"[^A-Za-z0-9]")
_NAMES = pattern(r"(?:[A-Za-z]+\d{0,4}|\d+)?(?:[/_.=%+~-]+(?:[A-Za-z]+\d{0,4}|\d+))*[=.]*")
_TWO_DIGITS = pattern(r"[0-9][^0-9]*+[0-9]")
_WORD = pattern(r"[a-z]{5}")
_CHANGE_OF_CASE = pattern(r"[a-z](?=[A-Z])|[A-Z](?=[A-Z]?[a-z])")


class _Follows(NamedTuple):
    """A token with a public part: words near it, that part, and the secret part after it."""

    near: str
    before: str
    token: str


class _Table(NamedTuple):
    """The shapes of `token_shapes.txt`, ready to be looked up."""

    begins: dict[str, list[tuple[str, str]]]  # by prefix: it and shorter ones, what follows them
    here: Pattern  # a prefix
    inside: Pattern  # a longer prefix behind a - or _
    anywhere: Pattern  # a longer prefix behind anything but a letter or digit
    heads: frozenset[str]  # the first two characters of prefixes
    parts: frozenset[str]  # beginnings of prefixes
    longest: int
    follows: dict[str, list[_Follows]]  # by the last character before the secret part


@cache
def _table() -> _Table:
    text = Path(__file__).with_name("token_shapes.txt").read_text("utf-8")
    begins, follows = (
        [line.split(maxsplit=3) for line in part.splitlines() if line and line[0] != "#"]
        for part in text.partition("[begins]\n")[2].split("[follows]\n")
    )
    by_last: dict[str, list[_Follows]] = {}
    for near, before, token, _ in follows:
        whole = rf"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-F]{{2}}))(?:{before})\Z"
        by_last.setdefault(before.rstrip(")?")[-1], []).append(_Follows(near, whole, token))
    rests = {row[0]: row[1] for row in sorted(begins, key=lambda row: -len(row[0]))}
    prefixes = list(rests)
    longer = _any_of([p for p in prefixes if len(p) > SHORT_PREFIX])
    return _Table(
        {
            p: [(q, rests[q]) for size in range(len(p), 0, -1) if (q := p[:size]) in rests]
            for p in prefixes
        },
        pattern(_any_of(prefixes)),
        pattern("(?<=[_-])" + longer),
        pattern("(?<![A-Za-z0-9])" + longer),
        frozenset(p[:2] for p in prefixes),
        frozenset(p[:size] for p in prefixes for size in range(1, len(p))),
        len(prefixes[0]),
        by_last,
    )


def _any_of(words: list[str]) -> str:
    """A regular expression for one of some words, by their first characters."""
    heads: dict[str, list[str]] = {}
    for word in words:
        heads.setdefault(word[:2], []).append(re.escape(word[2:]))
    marks = ("".join(sorted({head[n] for head in heads})) for n in range(2))
    either = "|".join(f"{head}(?:{'|'.join(tails)})" for head, tails in heads.items())
    return "(?=" + "".join(f"[{mark}]" for mark in marks) + f")(?:{either})"


@cache
def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(text)


def view(text: str) -> str:
    """The text in ASCII, character by character; no secret is looked for among the others."""
    return text if text.isascii() else text.encode("ascii", "replace").decode("ascii")


def spans(text: str) -> list[Span]:
    """Where in an ASCII text something looks like a token or a private key."""
    return Search(text).spans()


class Search:
    """One search for tokens and private keys in an ASCII text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[Span] = []
        self._next = 0
        self.in_vain = 0  # characters of what had the shape of a token, and was a name

    def spans(self) -> list[Span]:
        """Where they are."""
        text, found, data = self._text, self._found, self._text.encode("ascii")
        kinds = data.translate(_KINDS)
        at = kinds.find(_RUN)
        if at >= 0:
            marks, heads = data.translate(_MARKS), _table().heads
        while at >= 0:
            ends = kinds.find(b" ", at)
            ends = len(text) if ends < 0 else ends
            # A name in lower case is no token.
            if marks.find(b"1", at, ends) >= 0:
                if text[at : at + 2] in heads or text[at - 1 : at] in _BEFORE:
                    self._at_start(at)
                if text.find("_", at, ends) >= 0 or text.find("-", at, ends) >= 0:
                    self._inside(at, ends)
            at = kinds.find(_RUN, max(ends, found[-1][1]) if found else ends)
        if "PRIVATE KEY" in text:
            found += _private_keys(text)
        return found

    def _at_start(self, at: int) -> None:
        """Add the token that a run begins with."""
        if token := _following(self._text, at):
            self._found.append(token)
            return
        if escape := _ESCAPE.match(self._text, at):
            at = escape.end()
        begun = _table().here.match(self._text, at)
        if begun and (end := self._token(begun)):
            self._found.append((at, end))

    def _inside(self, at: int, ends: int) -> None:
        """Add the tokens that begin behind a - or _ in a run."""
        if self._found and self._found[-1][1] > at:
            at = self._found[-1][1]
        search = _table().inside.search
        begun = search(self._text, at, ends)
        while begun:
            end = self._token(begun, SHORT_PREFIX + 1)
            if end:
                self._found.append((begun.start(), end))
            begun = search(self._text, end or begun.start() + 1, ends)

    def _token(self, begun: re.Match[str], shortest: int = 1) -> int:
        """Where a token ends that begins with a prefix; 0 if it is none."""
        for prefix, rest in _table().begins[begun[0]]:
            if len(prefix) < shortest:
                continue
            at = begun.start() + len(prefix)
            found = _compiled(rest).match(self._text, at, self._limit(at))
            if not found:
                continue
            token = found[0]
            if "EXAMPLE" not in token and (prefix.isupper() or irregular(token)):
                return found.end()
            self.in_vain += len(token)
        return 0

    def _limit(self, at: int) -> int:
        """How far the rest of a token is read: where much was read in vain, to the next one."""
        if self.in_vain <= at // 8 + IN_VAIN:
            return at + LONGEST_TOKEN
        if self._next < at:
            found = _table().anywhere.search(self._text, at)
            self._next = found.start() if found else len(self._text)
        return min(self._next, at + LONGEST_TOKEN)


def _following(text: str, at: int) -> Span | None:
    """The secret part of a token whose public part is right before."""
    shapes, before = _near(text, at)
    for shape in shapes:
        found = _compiled(shape.token).match(text, at)
        if found and _compiled(shape.before).search(before) and irregular(found[0]):
            return found.span()
    return None


def _near(text: str, at: int) -> tuple[list[_Follows], str]:
    """The shapes whose public part may be right before a place, and what is there."""
    shapes = _table().follows.get(text[at - 1 : at])
    before = text[max(at - NEARBY, 0) : at] if shapes else ""
    return [shape for shape in shapes or () if shape.near in before], before


def _private_keys(text: str) -> Iterator[Span]:
    """What is between the lines of a private key, and those lines; one that is cut off, too."""
    at = text.find("PRIVATE KEY")
    while at >= 0:
        begins = text.rfind(KEY_BEGINS, max(at - NEARBY, 0), at)
        found = _PRIVATE_KEY.match(text, begins, begins + LONGEST_KEY) if begins >= 0 else None
        if found and found["end"] and len(found["body"]) >= 40:
            yield found.span()
        elif found and (lines := _KEY_LINES.match(text, found.start("body"), found.end("body"))):
            yield found.start(), lines.end()
        at = text.find("PRIVATE KEY", max(found.end() if found else 0, at + 11))


def irregular(text: str) -> bool:
    """Whether a text is not a name: not words and numbers that are joined."""
    if _TWO_DIGITS.search(text) and not _NAMES.fullmatch(text):
        return True
    return not _WORD.search(text) and len(_CHANGE_OF_CASE.findall(text)) * 5 >= len(text)


def open_from(text: str, start: int) -> int:
    """Where a token or key begins that may continue when more has come; the end if nowhere."""
    end = len(text)
    word = _LAST_WORD.search(text, max(start, end - LONGEST_TOKEN))
    header = _HEADER_BEGUN.search(text, max(start, end - len(KEY_BEGINS)))
    opened = [header.start()] if header else []
    opened += [at for at in _beginnings(text, word.start()) if _may_go_on(text, at)] if word else []
    key = text.rfind(KEY_BEGINS, max(start, end - LONGEST_KEY))
    if key >= 0 and (_OPEN_KEY.match(text, key) or _is_open(_PRIVATE_KEY.match(text, key), end)):
        opened.append(key)
    return min(opened, default=end)


def _beginnings(text: str, start: int) -> Iterator[int]:
    """Where in the last word of a text, from a place on, a token may have begun."""
    yield start
    for found in _SEPARATOR.finditer(text, start):
        yield found.end()
    for found in _ESCAPE.finditer(text, max(start - 6, 0)):
        if found.end() >= start:
            yield found.end()


def _may_go_on(text: str, at: int) -> bool:
    """Whether a token may begin here, and may not yet be complete."""
    table, size = _table(), len(text) - at
    if size < table.longest and text[at:] in table.parts:
        return True
    if table.here.match(text, at):
        return True
    shapes, before = _near(text, at) if size else ([], "")
    return any(_compiled(shape.before).search(before) for shape in shapes)


def _is_open(key: re.Match[str] | None, end: int) -> bool:
    """Whether a private key reaches the end of the text, and may continue."""
    return key is not None and (
        key.end() == end or _OPEN_END.fullmatch(key.string, key.end()) is not None
    )
