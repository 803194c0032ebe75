"""What looks like a secret though nobody knows it: tokens of known issuers, and private keys.

A token has a long run of letters and digits. Runs are found without a regular expression, and only
where one begins it is looked closely, so time is linear in the text whatever it holds. Values
beside a word such as `password` are in `beside.py`.
"""

import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

Span = tuple[int, int]

SHORTEST_RUN = 16
LONGEST_TOKEN = 4096
LONGEST_KEY = 32_768
SHORT_PREFIX = 3
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
_ESCAPE = re.compile(r"(?<=\\)(?:[nrtbf]|u[0-9a-fA-F]{4})|(?<=%)[0-9A-Fa-f]{2}|(?<=[\[;])\d*[mK]")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<body>(?:[A-Za-z0-9+/=\s:,\\\"'|.>()]++|-(?!----))*+)"
    r"(?P<end>-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?"
)
_KEY_LINES = re.compile(r"(?:\s|\\[nr])*+(?:[A-Za-z0-9+/=]{16,}+(?:\s|\\[nr])*+)++")
_OPEN_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]{0,16} ){0,3}[A-Z0-9]{0,16}-{0,5}\Z")
_HEADER_BEGUN = re.compile(r"-{1,5}(?:(?<=-{5})B(?:E(?:G(?:IN?)?)?)?)?\Z")
_OPEN_END = re.compile(r"-{1,5}(?:END (?:[A-Z0-9]{0,16} ){0,3}[A-Z0-9]{0,16}-{0,5})?|-----E?N?D?")
_LAST_WORD = re.compile(r"[\w.+/=~%:-]+\Z", re.ASCII)
_SEPARATOR = re.compile(r"[^A-Za-z0-9]")
_NAMES = re.compile(r"(?:[A-Za-z]+\d{0,4}|\d+)?(?:[/_.=%+~-]+(?:[A-Za-z]+\d{0,4}|\d+))*[=.]*")
_WORD = re.compile(r"[a-z]{5}")
_CHANGE_OF_CASE = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[A-Z]?[a-z])")


class _Follows(NamedTuple):
    """A token with a public part: words near it, that part, and the secret part after it."""

    near: str
    before: str
    token: str


class _Table(NamedTuple):
    """The shapes of `token_shapes.txt`, ready to be looked up."""

    begins: dict[str, list[tuple[str, str]]]  # by two characters: prefixes and what follows them
    inner: re.Pattern[str]  # a - or _ behind which a prefix may begin
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
    by_two: dict[str, list[tuple[str, str]]] = {}
    for prefix, rest, *_ in sorted(begins, key=lambda row: -len(row[0])):
        by_two.setdefault(prefix[:2], []).append((prefix, rest))
    by_last: dict[str, list[_Follows]] = {}
    for near, before, token, _ in follows:
        whole = rf"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-F]{{2}}))(?:{before})\Z"
        by_last.setdefault(before.rstrip(")?")[-1], []).append(_Follows(near, whole, token))
    prefixes = [row[0] for row in begins]
    marks = (re.escape("".join({p[n] for p in prefixes})) for n in range(2))
    return _Table(
        by_two,
        re.compile("[_-](?=" + "".join(f"[{mark}]" for mark in marks) + ")"),
        frozenset(p[:size] for p in prefixes for size in range(1, len(p))),
        max(map(len, prefixes)),
        by_last,
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def view(text: str) -> str:
    """The text in ASCII, character by character; no secret is looked for among the others."""
    return text if text.isascii() else text.encode("ascii", "replace").decode("ascii")


def spans(text: str) -> list[Span]:
    """Where in an ASCII text something looks like a token or a private key."""
    found: list[Span] = []
    data = text.encode("ascii")
    kinds = data.translate(_KINDS)
    at = kinds.find(_RUN)
    if at >= 0:
        marks, begins = data.translate(_MARKS), _table().begins
    while at >= 0:
        ends = kinds.find(b" ", at)
        ends = len(text) if ends < 0 else ends
        # A name in lower case is no token.
        if marks.find(b"1", at, ends) >= 0:
            if text[at : at + 2] in begins or text[at - 1 : at] in _BEFORE:
                _at_start(text, at, found)
            if text.find("_", at, ends) >= 0 or text.find("-", at, ends) >= 0:
                _inside(text, at, ends, found)
        at = kinds.find(_RUN, max(ends, found[-1][1]) if found else ends)
    if "PRIVATE KEY" in text:
        found += _private_keys(text)
    return found


def _at_start(text: str, at: int, found: list[Span]) -> None:
    """Add the token that a run begins with."""
    if token := _following(text, at):
        found.append(token)
        return
    if escape := _ESCAPE.match(text, at):
        at = escape.end()
    if end := _token(text, at):
        found.append((at, end))


def _inside(text: str, at: int, ends: int, found: list[Span]) -> None:
    """Add the tokens that begin behind a - or _ in a run."""
    if found and found[-1][1] > at:
        at = found[-1][1]
    separator = _table().inner.search(text, at, ends)
    while separator:
        at = separator.end()
        if end := _token(text, at, SHORT_PREFIX + 1):
            found.append((at, end))
            at = end
        separator = _table().inner.search(text, at, ends)


def _token(text: str, at: int, shortest: int = 1) -> int:
    """Where a token ends that begins here; 0 if none does."""
    for prefix, rest in _table().begins.get(text[at : at + 2], ()):
        if len(prefix) >= shortest and text.startswith(prefix, at):
            found = _compiled(rest).match(text, at + len(prefix), at + LONGEST_TOKEN)
            if found and (prefix.isupper() or irregular(found[0])) and "EXAMPLE" not in found[0]:
                return found.end()
    return 0


def _following(text: str, at: int) -> Span | None:
    """The secret part of a token whose public part stands right before."""
    for shape in _after_public_part(text, at):
        found = _compiled(shape.token).match(text, at)
        if found and irregular(found[0]):
            return found.span()
    return None


def _after_public_part(text: str, at: int) -> Iterator[_Follows]:
    """The shapes whose public part stands right before a place."""
    shapes = _table().follows.get(text[at - 1 : at], ())
    window = text[max(at - NEARBY, 0) : at] if shapes else ""
    return (s for s in shapes if s.near in window and _compiled(s.before).search(window))


def _private_keys(text: str) -> Iterator[Span]:
    """What stands between the lines of a private key, and those lines; one that is cut off, too."""
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
    """Whether a text is no name: not words and numbers that are joined."""
    if sum(map(text.count, string.digits)) >= 2 and not _NAMES.fullmatch(text):
        return True
    return len(_CHANGE_OF_CASE.findall(text)) * 5 >= len(text) and not _WORD.search(text)


def open_from(text: str, start: int) -> int:
    """Where a token or key begins that may go on when more has come; the end if nowhere."""
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
    if any(text.startswith(prefix, at) for prefix, _ in table.begins.get(text[at : at + 2], ())):
        return True
    return size > 0 and any(True for _ in _after_public_part(text, at))


def _is_open(key: re.Match[str] | None, end: int) -> bool:
    """Whether a private key reaches the end of the text, and may go on."""
    return key is not None and (
        key.end() == end or _OPEN_END.fullmatch(key.string, key.end()) is not None
    )
