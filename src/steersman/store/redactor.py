"""The door of the log: no secret passes it. Which values are secret is decided elsewhere."""

import os
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal, get_origin

import msgspec
from msgspec import Struct

from steersman.records.message import MASK, Body, encode_body


class Redactor:
    """Replaces every known secret value in whatever goes into the log."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = sorted({readable(secret) for secret in secrets}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._secrets)))
        escaped = (msgspec.json.encode(secret)[1:-1] for secret in self._secrets)
        self._encoded = re.compile(b"|".join(map(re.escape, escaped)))

    @property
    def knows_any(self) -> bool:
        """True when there is anything to hide."""
        return bool(self._secrets)

    def text(self, text: str) -> str:
        """The text without secrets."""
        return self._pattern.sub(MASK, text) if self._secrets else text

    def body(self, body: Body) -> tuple[Body, bytes]:
        """A body without secrets, and its stored form."""
        try:
            data = encode_body(body)
            if not self._secrets or self._encoded.search(data) is None:
                return body, data
        except UnicodeEncodeError:
            pass  # a name of a file that is not UTF-8; cleaning makes it so
        clean: Body = self._clean(body)
        return clean, encode_body(clean)

    def json(self, value: Any) -> Any:
        """Whatever JSON can say, without secrets."""
        return self._of_json(value)

    def stream(self) -> "StreamRedactor":
        """A redactor for text that arrives in pieces."""
        return StreamRedactor(self._pattern, self._secrets)

    def _clean(self, value: Any) -> Any:
        """The value without secrets; the names and fixed words of our own records stay."""
        match value:
            case str():
                return self.text(readable(value))
            case Struct():
                free = {name: self._clean(getattr(value, name)) for name in _free(type(value))}
                return msgspec.structs.replace(value, **free)
            case dict():
                return {self._clean(key): self._of_json(item) for key, item in value.items()}
            case list() | tuple():
                return type(value)(map(self._of_json, value))
            case _:
                return value

    def _of_json(self, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            written = msgspec.json.encode(value).decode()
            return MASK if self.text(written) != written else value
        return self._clean(value)


def readable(text: str) -> str:
    """The text as UTF-8 can say it; bytes of another encoding become replacement characters."""
    try:
        return os.fsencode(text).decode("utf-8", errors="replace")
    except UnicodeEncodeError:
        return text.encode("utf-8", errors="replace").decode()


@cache
def _free(record: type[Struct]) -> tuple[str, ...]:
    """The fields of a record that are not one of a few fixed words."""
    fields = msgspec.structs.fields(record)
    return tuple(field.name for field in fields if get_origin(field.type) is not Literal)


class StreamRedactor:
    """Holds back the end of a piece while it might be the beginning of a secret."""

    def __init__(self, pattern: re.Pattern[str], secrets: list[str]) -> None:
        self._pattern = pattern
        self._secrets = secrets
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be shown now."""
        if not self._secrets:
            return piece
        text, shown = self._held + piece, ""
        while True:
            open_at = self._possible_beginning(text)
            match = self._pattern.search(text)
            if match is None or match.start() >= open_at:
                break
            shown += text[: match.start()] + MASK
            text = text[match.end() :]
        self._held = text[open_at:]
        return shown + text[:open_at]

    def flush(self) -> str:
        """What was held back, now that nothing can follow."""
        held, self._held = self._held, ""
        return self._pattern.sub(MASK, held) if self._secrets else held

    def _possible_beginning(self, text: str) -> int:
        """Where a secret may have begun that is not complete; the end of the text if nowhere."""
        for at in range(max(len(text) - len(self._secrets[0]) + 1, 0), len(text)):
            tail = text[at:]
            if any(len(tail) < len(s) and s.startswith(tail) for s in self._secrets):
                return at
        return len(text)
