"""The door of the log: no secret passes it. Which values are secret is decided elsewhere.

Besides known values and encodings of them (`known.py`), what looks like a secret is masked: tokens
of known issuers (`shapes.py`) and random values beside a word that says so (`beside.py`).
"""

import math
import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import Struct

from steersman.records.change import Change
from steersman.records.dialogue import Image, ProviderState
from steersman.records.message import MASK, Body, ConfirmRequest, encode_body
from steersman.records.patterns import pattern
from steersman.store import beside, shapes
from steersman.store.known import Known, Span, known
from steersman.store.shapes import view

CONTEXT = 128  # how much of what was shown is kept, to know what the next piece is beside
AT_ONCE = 256  # when more is held back, it is not looked at again for every character
# Named by digests, signed or drawn: what only looks like a secret there must stay as it is.
_EXACT = (Change, Image, ProviderState)
_PATHS = frozenset({"path", "file", "moved_from", "target"})
# A password such as `postgres` is found by guessing, but a mask of it in the names of files and of
# arguments hides which ones are meant. There it stays; everywhere else it is masked.
_PLAIN = pattern(r"[A-Z]?[a-z ./_-]+|[A-Z ./_-]+")
PLAIN_MOST = 15
_WORDS = pattern(r"([\s()`“”\",;]+)")
_WORDLESS = (int, float, bool, type(None), ...)
HUNK = "\n@@ "  # what comes before the first in a diff only names files


class Redactor:
    """Replaces secrets in whatever goes into the log; `news` gives those that came meanwhile."""

    def __init__(
        self,
        secrets: Iterable[str] = (),
        *,
        by_shape: bool = True,
        news: Callable[[], Iterable[str]] = tuple,
        in_names: bool = False,
    ) -> None:
        self._values = frozenset[str]()
        self._in_names = in_names
        self._exact = self._named = self
        self._by_shape = by_shape
        self._news = news
        self.learn(secrets)

    def refresh(self) -> None:
        """Learn what became a secret meanwhile, which may mean to read files."""
        if more := self._news():
            self.learn(more)

    def learn(self, secrets: Iterable[str]) -> None:
        """Mask these as well."""
        self._values |= {readable(secret) for secret in secrets}
        self._known = known(self._values)
        if self._in_names:
            return
        named = {value for value in self._values if not plain(value)}
        self._exact = Redactor(named, by_shape=False, in_names=True)
        self._named = self._exact if not self._by_shape else Redactor(named, in_names=True)

    @property
    def values(self) -> frozenset[str]:
        """The known secrets, but for words that anyone guesses."""
        return self._exact._values

    def finds_shapes(self, text: str) -> bool:
        """Whether something in a text looks like a secret, known or not."""
        return bool(_alike(text))

    def text(self, text: str) -> str:
        """The text without secrets."""
        alike = _alike(text) if self._by_shape else []
        return _masked(text, _merged(self._known.spans(text), alike))

    def body(self, body: Body) -> tuple[Body, bytes]:
        """A body without secrets, and its stored form."""
        try:
            data = encode_body(body)
            if not self._known.may_be_in(data) and not _alike(data.decode("latin-1")):
                return body, data
        except UnicodeEncodeError:
            pass  # a name of a file that is not UTF-8; cleaning makes it so
        clean: Body = self._clean(body)
        if isinstance(body, ConfirmRequest):
            clean = msgspec.structs.replace(clean, reason=self._reason(body))
        return clean, encode_body(clean)

    def json(self, value: Any) -> Any:
        """Whatever JSON can say, without secrets."""
        return self._of_json(value)

    def stream(self, shapes_in: float = math.inf) -> "StreamRedactor":
        """A redactor for text that arrives in pieces.

        In so many characters what looks like a secret is masked; behind them, known ones are.
        """
        return StreamRedactor(self._known, shapes_in)

    def _clean(self, value: Any) -> Any:
        """The value without secrets; the names and fixed words of our own records stay."""
        match value:
            case str():
                return self.text(readable(value))
            case Struct():
                door = self._exact if isinstance(value, _EXACT) else self
                free = {
                    name: door._of_member(name, getattr(value, name)) for name in _free(type(value))
                }
                return msgspec.structs.replace(value, **free)
            case dict():
                return {self._of_key(key): self._of_field(key, item) for key, item in value.items()}
            case list() | tuple():
                return type(value)(map(self._of_json, value))
            case _:
                return value

    def _reason(self, request: ConfirmRequest) -> str:
        """Why a person is asked; names of the files that this is about are masked as such."""
        paths = [f"/{path}" for one in request.actions if (path := getattr(one, "path", ""))]
        told = rest = ""
        for word in _WORDS.split(readable(request.reason)):
            if word and any(path.endswith(f"/{word}") for path in paths):
                told, rest = told + self.text(rest) + self._named.text(word), ""
            else:
                rest += word
        return told + self.text(rest)

    def _of_member(self, name: str, value: Any) -> Any:
        """A value of a record; paths, and those at the head of a diff, are masked as names are."""
        if name in _PATHS:
            return self._named._clean(value)
        if name != "diff" or not isinstance(value, str):
            return self._clean(value)
        head, first, hunks = value.partition(HUNK)
        return self._named._clean(head) + (self._clean(first + hunks) if first else "")

    def _of_key(self, key: Any) -> Any:
        """A key without secrets; a word that is nothing but a name stays."""
        name = isinstance(key, str) and key.isidentifier()
        return self._named._clean(key) if name else self._clean(key)

    def _of_field(self, name: Any, value: Any) -> Any:
        """A value without secrets; its name may say that it is one."""
        if self._by_shape and isinstance(name, str) and isinstance(value, str):
            said = beside.names_a_secret(view(name)) and beside.random_value(value)
            return MASK if said else self._of_member(name, value)
        return self._of_json(value)

    def _of_json(self, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            written = msgspec.json.encode(value).decode()
            return MASK if self.text(written) != written else value
        return self._clean(value)


def plain(value: str) -> bool:
    """Whether a secret is one that anyone guesses: a short word or two, without a digit."""
    return len(value) <= PLAIN_MOST and _PLAIN.fullmatch(value) is not None


def _alike(text: str) -> list[Span]:
    """Where something looks like a secret."""
    seen = view(text)
    return [*shapes.spans(seen), *beside.spans(seen)]


def readable(text: str) -> str:
    """The text as UTF-8 can say it; bytes of another encoding become replacement characters."""
    try:
        return os.fsencode(text).decode("utf-8", errors="replace")
    except UnicodeEncodeError:
        return text.encode("utf-8", errors="replace").decode()


@cache
def _free(record: type[Struct]) -> tuple[str, ...]:
    """The fields of a record that have room for words: neither fixed ones nor only numbers."""
    fields = msgspec.structs.fields(record)
    return tuple(field.name for field in fields if not _fixed(field.type))


def _fixed(kind: Any) -> bool:
    """Whether no value of a type can hold a text of its own, so that a mask would break it."""
    if get_origin(kind) is Literal or kind in _WORDLESS:
        return True
    parts = get_args(kind)
    return bool(parts) and all(map(_fixed, parts))


class StreamRedactor:
    """Holds back the end of a piece while it might be the beginning of a secret."""

    def __init__(self, known: Known, shapes_in: float) -> None:
        self._known = known
        self._shapes_in = shapes_in
        self._before = ""
        self._held = ""
        self._next = 0

    def feed(self, piece: str) -> str:
        """What may be shown now."""
        self._held += piece
        if AT_ONCE < len(self._held) < self._next:
            return ""
        text, start = self._before + self._held, len(self._before)
        end, alike = self._known.open_from(text, start), list[Span]()
        if self._shapes_in > 0:
            self._shapes_in -= len(piece)
            seen = view(text)
            values = beside.values(seen)
            open_from = shapes.open_from(seen, start), beside.open_from(seen, start, values)
            end, alike = min(end, *open_from), [*shapes.spans(seen), *beside.among(seen, values)]
        found = self._found(text, start, alike)
        end = min([end, *(begins for begins, ends in found if begins < end < ends)])
        self._before, self._held = text[max(end - CONTEXT, 0) : end], text[end:]
        self._next = len(self._held) * 9 // 8
        return _masked(text[:end], [span for span in found if span[1] <= end], start)

    def flush(self) -> str:
        """What was held back, now that nothing can follow."""
        text, start = self._before + self._held, len(self._before)
        self._before = self._held = ""
        alike = _alike(text) if self._shapes_in > 0 else []
        return _masked(text, self._found(text, start, alike), start)

    def _found(self, text: str, start: int, alike: list[Span]) -> list[Span]:
        known = [(at + start, ends + start) for at, ends in self._known.spans(text[start:])]
        return _merged(known, [span for span in alike if span[0] >= start])


def _merged(*found: list[Span]) -> list[Span]:
    """Places in order; those that overlap become one."""
    merged: list[Span] = []
    for begins, ends in sorted(span for spans in found for span in spans):
        if merged and begins < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(ends, merged[-1][1]))
        else:
            merged.append((begins, ends))
    return merged


def _masked(text: str, found: list[Span], start: int = 0) -> str:
    """A text from a place on, with the mask where something was found."""
    parts = []
    for begins, ends in found:
        parts += [text[start:begins], MASK]
        start = ends
    return "".join([*parts, text[start:]])
