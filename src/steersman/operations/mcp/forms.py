"""Forms that servers want filled in, as questions with words for answers. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from steersman.records.patterns import pattern

MOST_FIELDS = 20
MOST_WORDS = 500
MOST_OPTIONS = 100
LONGEST_NAME = 80  # that is shown
YES = ("yes", "no")
_SECRET = pattern(
    r"passw(?:or)?d|passphrase|passcode|secret|credential|api[ _-]?key|private[ _-]?key"
    r"|(?<![a-z])(?:token|pin|otp|cvv)(?![a-z])|(?:access|auth|bearer|refresh|github)[ _-]?token",
    re.IGNORECASE,
)


class Field(Struct, frozen=True):
    """One field of a form as a question."""

    name: str
    question: str
    options: tuple[str, ...] = ()
    default: str = ""
    kind: str = "string"
    required: bool = False
    values: tuple[Any, ...] = ()  # what the options stand for


def fields(schema: Mapping[str, Any]) -> list[Field]:
    """The questions of a form; what is not a flat form has none."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    required = schema.get("required") or ()
    return [
        _field(str(name), about, str(name) in required)
        for name, about in list(properties.items())[:MOST_FIELDS]
        if isinstance(about, Mapping)
    ]


def legible(text: str, most: int = MOST_WORDS) -> str:
    """Words of a server that are shown to a person: so many, and nothing a screen would follow.

    Lines after the first are moved in, so that none looks like a question of someone else.
    """
    shown = "".join(one if one.isprintable() or one == "\n" else "\ufffd" for one in text[:most])
    return shown.replace("\n", "\n    ") + ("…" if len(text) > most else "")


def wants_secret(field: Field) -> bool:
    """Whether a field asks for what nobody should write into a form."""
    return not field.values and bool(_SECRET.search(f"{field.name} {field.question}"))


def _field(name: str, about: Mapping[str, Any], required: bool) -> Field:
    kind = str(about.get("type", "string"))
    values, options = _choices(about, kind)
    values, options = values[:MOST_OPTIONS], tuple(map(legible, options[:MOST_OPTIONS]))
    shown = _shown(about.get("default"), values, options)
    shown = shown if legible(shown) == shown else ""  # whoever only agrees must see with what
    short = legible(name, LONGEST_NAME)
    told = str(about.get("description") or about.get("title") or name)
    question = short if told == name else f"{short}: {legible(told)}"
    return Field(name, question, options, shown, kind, required, values)


def _choices(about: Mapping[str, Any], kind: str) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    if kind == "boolean":
        return (True, False), YES
    items = about.get("items")
    source = items if kind == "array" and isinstance(items, Mapping) else about
    titled = source.get("oneOf") or source.get("anyOf")
    if isinstance(titled, list):
        listed = [one for one in titled if isinstance(one, Mapping) and "const" in one]
        values = tuple(one["const"] for one in listed)
        return values, tuple(str(one.get("title", one["const"])) for one in listed)
    values = tuple(source["enum"]) if isinstance(source.get("enum"), list) else ()
    names = source.get("enumNames")
    named = isinstance(names, list) and len(names) == len(values)
    return values, tuple(map(str, names if named and names else values))


def _shown(default: Any, values: tuple[Any, ...], options: tuple[str, ...]) -> str:
    if default is None:
        return ""
    if isinstance(default, list):
        return ", ".join(_shown(one, values, options) for one in default)
    return options[values.index(default)] if default in values else str(default)


def filled(field: Field, answer: str) -> Any:
    """An answer as the form wants it; None where nothing was answered. Raises `ValueError`."""
    text = answer.strip()
    if not text:
        return None
    if field.kind == "array":
        return [_one(field, word.strip()) for word in text.split(",") if word.strip()]
    return _one(field, text)


def _one(field: Field, text: str) -> Any:
    if field.values:
        chosen = [
            value
            for value, option in zip(field.values, field.options, strict=True)
            if text in (option, str(value))
        ]
        if not chosen:
            raise ValueError(f"{field.name} must be one of: {', '.join(field.options)}")
        return chosen[0]
    if field.kind == "integer":
        return int(text)
    return float(text) if field.kind == "number" else text
