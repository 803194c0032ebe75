"""Secrets in what would leave the machine by an address or a search.

The log's redactor knows which values are secret. Here they are looked for more freely than in the
log, where a mask too many would hide what happened: without regard to case and to the marks between
letters, for a name of a host has neither, and behind several layers of `%`.
"""

import re
from base64 import b32encode
from collections.abc import Iterator, Mapping
from urllib.parse import unquote_plus

from msgspec import Struct

from steersman.governance.secrets import SHORTEST, secret_variables
from steersman.records.patterns import pattern
from steersman.store.known import encodings
from steersman.store.redactor import Redactor

LAYERS = 4
_BETWEEN = pattern(r"[\W_]+", re.ASCII)


class Leak(Struct, frozen=True):
    """A secret in a text, in words; one that is not `known` only looks like it."""

    what: str
    known: bool


class Leaks:
    """Finds the secrets of a thread in a text that would be sent."""

    def __init__(self, redactor: Redactor, environ: Mapping[str, str]) -> None:
        self._redactor = redactor
        self._names = {value: name for name, value in secret_variables(environ).items()}
        self._values = frozenset[str]()
        self._forms: dict[str, str] = {}  # each with the secret that it is a form of

    def __call__(self, text: str) -> Leak | None:
        """The secret that is in a text, if there is one."""
        layers = [text]
        while len(layers) < LAYERS and (inner := unquote_plus(layers[-1])) != layers[-1]:
            layers.append(inner)
        said = "\n".join(map(_squeezed, layers))
        for form, secret in self._known().items():
            if form in said:
                name = self._names.get(secret)
                return Leak(f"the value of {name}" if name else "a secret of the user", known=True)
        if any(map(self._redactor.finds_shapes, layers)):
            return Leak("what looks like a key or token", known=False)
        return None

    def _known(self) -> Mapping[str, str]:
        if (values := self._redactor.values) != self._values:
            self._values = values
            self._forms = {form: one for one in values for form in _forms(one)}
        return self._forms


def _forms(secret: str) -> Iterator[str]:
    plain = _squeezed(secret)
    base32 = b32encode(secret.encode("utf-8", "replace")).decode()
    written = {plain, plain[::-1], *map(_squeezed, (base32, *encodings(secret)))}
    yield from (form for form in written if len(form) >= SHORTEST)


def _squeezed(text: str) -> str:
    return _BETWEEN.sub("", text).lower()
