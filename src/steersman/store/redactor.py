"""The door of the log: no secret passes it. Which values are secret is decided elsewhere."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from steersman.message import Body, decode_body, encode_body

MASK = "[redacted]"


class Redactor:
    """Replaces every known secret value in whatever goes into the log."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = sorted(set(secrets), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._secrets)))
        escaped = (msgspec.json.encode(secret)[1:-1] for secret in self._secrets)
        self._encoded = re.compile(b"|".join(map(re.escape, escaped)))

    def text(self, text: str) -> str:
        """The text without secrets."""
        return self._pattern.sub(MASK, text) if self._secrets else text

    def body(self, body: Body) -> tuple[Body, bytes]:
        """A body without secrets, and its stored form."""
        data = encode_body(body)
        if not self._secrets or self._encoded.search(data) is None:
            return body, data
        clean = msgspec.json.encode(self._walk(msgspec.json.decode(data)))
        return decode_body(body.kind, clean), clean

    def stream(self) -> "StreamRedactor":
        """A redactor for text that arrives in pieces."""
        return StreamRedactor(self, self._secrets)

    def _walk(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(key): self._walk(item) for key, item in value.items()}
            case list():
                return [self._walk(item) for item in value]
            case _:
                return value


class StreamRedactor:
    """Holds back the end of a piece while it might be the beginning of a secret."""

    def __init__(self, redactor: Redactor, secrets: list[str]) -> None:
        self._redactor = redactor
        self._secrets = secrets
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be shown now."""
        if not self._secrets:
            return piece
        text = self._redactor.text(self._held + piece)
        keep = self._possible_beginning(text)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def flush(self) -> str:
        """What was held back and turned out to be harmless."""
        held, self._held = self._held, ""
        return held

    def _possible_beginning(self, text: str) -> int:
        longest = min(len(text), len(self._secrets[0]) - 1)
        for size in range(longest, 0, -1):
            tail = text[-size:]
            if any(secret.startswith(tail) for secret in self._secrets):
                return size
        return 0
