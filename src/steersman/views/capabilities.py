"""Arguments of a tool as people type them, from its schema: as JSON or as flags. Pure.

Whatever can be called is in `Host.tools`; how it is asked for and explained is the same everywhere.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from steersman.records import validation
from steersman.records.dialogue import ToolSpec
from steersman.records.errors import UsageProblem

Json = dict[str, Any]
EXAMPLE = """For example: steer call workspace_read_file '{"path": "README.md"}'"""


def fields(spec: ToolSpec) -> str:
    """The names of a tool's arguments; those that may be left out in brackets."""
    needed = spec.parameters.get("required", [])
    return ", ".join(name if name in needed else f"[{name}]" for name in _properties(spec))


def sample(spec: ToolSpec) -> str:
    """Arguments to begin with: everything that is needed, still empty."""
    blanks: Json = {"string": "", "integer": 1, "number": 1, "boolean": False,
                    "array": [], "object": {}}  # fmt: skip
    named = _properties(spec)
    needed = spec.parameters.get("required", [])
    start = {name: blanks.get(named.get(name, {}).get("type", ""), "") for name in needed}
    return msgspec.json.encode(start).decode()


def flags(spec: ToolSpec) -> Iterator[tuple[str, str]]:
    """Each argument as a flag, and what it is."""
    needed = spec.parameters.get("required", [])
    for name, about in _properties(spec).items():
        kind = _kind(about)
        shown = flag(name) if kind == "boolean" else f"{flag(name)} {kind.upper() or 'JSON'}"
        parts = [about.get("description", "")] + ["required"] * (name in needed)
        if "enum" in about:
            parts.append(f"one of {', '.join(map(str, about['enum']))}")
        if about.get("default") not in (None, "", [], False):
            parts.append(f"default {about['default']}")
        yield shown, "; ".join(filter(None, parts))


def flag(name: str) -> str:
    """An argument as a flag."""
    return f"--{name.replace('_', '-')}"


def given(spec: ToolSpec | None, text: str) -> Json:
    """Arguments as a person typed them in a line."""
    if text.lstrip().startswith("{"):
        return _json(text)
    try:
        return arguments(spec, shlex.split(text))
    except ValueError as error:
        raise UsageProblem("The arguments cannot be read: a quote is not closed.") from error


def arguments(spec: ToolSpec | None, words: Sequence[str]) -> Json:
    """Arguments as words: one JSON object, or flags with values. Of no known tool, only JSON."""
    if not words:
        return {}
    if len(words) == 1 and not words[0].startswith("--"):
        return _json(words[0], EXAMPLE)
    if spec is None:
        raise UsageProblem("The arguments of this tool are given as one JSON object.")
    found: Json = {}
    left = list(words)
    while left:
        name, equals, value = left.pop(0).partition("=")
        about = _argument(spec, name)
        key = name.removeprefix("--").replace("-", "_")
        kind = _kind(about)
        if not equals:
            plain = kind == "boolean" and (not left or left[0] not in ("true", "false"))
            if not plain and not left:
                raise UsageProblem(f"{name} needs a value.")
            value = "true" if plain else left.pop(0)
        said = _value(kind, value)
        if kind == "array" and not isinstance(said, list):
            said = [*found.get(key, []), said]  # given once for each
        found[key] = said
    return found


def _argument(spec: ToolSpec, name: str) -> Json:
    for known, about in _properties(spec).items():
        if name in (flag(known), f"--{known}"):
            return dict(about)
    every = ", ".join(map(flag, _properties(spec))) or "none"
    raise UsageProblem(f"{spec.name} has no argument {name}.", f"It has: {every}.")


def _value(kind: str, text: str) -> Any:
    """A value of a kind; what does not fit is left for the tool to refuse in its own words."""
    if kind == "string":
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _kind(about: Json) -> str:
    """The type of an argument that has one; several are alike if the rest is null."""
    kind = about.get("type")
    if kind is None:
        parts = [one.get("type") for one in about.get("anyOf", ())]
        kinds = [one for one in parts if one not in (None, "null")]
        kind = kinds[0] if len(kinds) == 1 else ""
    if not kind and "enum" in about:
        kind = "string"
    return kind if isinstance(kind, str) else ""


def _properties(spec: ToolSpec) -> Json:
    named: Json = spec.parameters.get("properties", {})
    return named


def _json(text: str, example: str = "") -> Json:
    try:
        return msgspec.json.decode(text, type=Json)
    except msgspec.DecodeError as error:
        raise UsageProblem(
            "The arguments are not a JSON object.", validation.sentence(error), example
        ) from error
