"""The smallest value that fits a JSON Schema, for requests that ask for one. Pure."""

import math
from collections.abc import Iterator
from typing import Any

WORD = "scripted"
FORMATS = {
    "date-time": "2000-01-01T00:00:00Z",
    "date": "2000-01-01",
    "time": "00:00:00Z",
    "duration": "PT0S",
    "email": "scripted@example.com",
    "hostname": "example.com",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "uri": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


class _Endless(Exception):
    """A schema that needs itself has no smallest value this way."""


def minimal_instance(schema: dict[str, Any]) -> Any:
    """A small value that fits the schema; `{}` for one that says nothing or cannot be met."""
    try:
        return _Maker(schema).make(schema, frozenset()) if schema else {}
    except (_Endless, RecursionError, TypeError, ValueError, AttributeError):
        # The last four: what the client sent is no schema.
        return {}


class _Maker:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root

    def make(self, schema: Any, above: frozenset[str]) -> Any:
        """A value for a schema; `above` are the references it is within."""
        if not isinstance(schema, dict):
            return None
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in above:
                raise _Endless
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return self.make(_merged(self._find(reference), rest), above | {reference})
        if "allOf" in schema:
            return self.make(self._all_of(schema), above)
        for options in (schema.get("anyOf"), schema.get("oneOf")):
            if options:
                return self._first_possible(schema, options, above)
        return self._typed(schema, above)

    def _find(self, reference: str) -> Any:
        found: Any = self._root
        for step in reference.removeprefix("#").strip("/").split("/"):
            if step:
                name = step.replace("~1", "/").replace("~0", "~")
                found = found.get(name, {}) if isinstance(found, dict) else {}
        return found

    def _all_of(self, schema: dict[str, Any]) -> dict[str, Any]:
        whole = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"]:
            if isinstance(part, dict) and isinstance(part.get("$ref"), str):
                whole = _merged(self._find(part["$ref"]), whole)
            else:
                whole = _merged(part, whole)
        return whole

    def _first_possible(self, schema: dict[str, Any], options: Any, above: frozenset[str]) -> Any:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
        for option in options:
            try:
                return self.make(_merged(option, rest), above)
            except _Endless:
                continue
        raise _Endless

    def _typed(self, schema: dict[str, Any], above: frozenset[str]) -> Any:
        fixed = [schema["const"]] if "const" in schema else schema.get("enum")
        if fixed:
            return fixed[0]
        match _type(schema):
            case "object":
                return dict(self._members(schema, above))
            case "array":
                return [self.make(item, above) for item in _item_schemas(schema)]
            case "string":
                return _string(schema)
            case "integer":
                return int(_number(schema, 1))
            case "number":
                return _number(schema, None)
            case "boolean":
                return False
            case _:
                return None

    def _members(self, schema: dict[str, Any], above: frozenset[str]) -> Iterator[tuple[str, Any]]:
        members = schema.get("properties") or {}
        for name in schema.get("required") or ():
            yield name, self.make(members.get(name, {"type": "string"}), above)


def _merged(one: Any, other: dict[str, Any]) -> dict[str, Any]:
    """Two schemas as one that means both."""
    if not isinstance(one, dict):
        return other
    both = {**one, **other}
    if "properties" in one and "properties" in other:
        both["properties"] = {**one["properties"], **other["properties"]}
    if "required" in one and "required" in other:
        both["required"] = [*one["required"], *other["required"]]
    return both


def _type(schema: dict[str, Any]) -> str:
    """The type; Gemini writes it in capitals, and it may be left out."""
    given = schema.get("type")
    if isinstance(given, list):
        given = next((name for name in given if name != "null"), "null")
    if isinstance(given, str):
        return given.lower()
    if "items" in schema:
        return "array"
    return "object" if "properties" in schema or "required" in schema else "string"


def _item_schemas(schema: dict[str, Any]) -> list[Any]:
    first = list(schema.get("prefixItems") or ())
    least = int(schema.get("minItems") or 0)
    missing = max(least - len(first), 0)
    return first + [schema.get("items") or {"type": "string"}] * missing


def _string(schema: dict[str, Any]) -> str:
    known = FORMATS.get(str(schema.get("format")))
    if known is not None:
        return known
    least = int(schema.get("minLength") or 0)
    most = schema.get("maxLength")
    return WORD.ljust(least, "-")[:most]


def _number(schema: dict[str, Any], step: float | None) -> float:
    """A number in bounds, 0 if that is one; a multiple of `step` if there is one."""
    low, above = _bound(schema, "minimum", -math.inf), _bound(schema, "exclusiveMinimum", -math.inf)
    high, below = _bound(schema, "maximum", math.inf), _bound(schema, "exclusiveMaximum", math.inf)
    floor, ceiling = max(low, above), min(high, below)
    step = schema.get("multipleOf") or step
    if step:
        up = math.ceil(floor / step) if math.isfinite(floor) else 0
        down = math.floor(ceiling / step) if math.isfinite(ceiling) else 0
        tries = [count * step for count in (0, up, up + 1, down, down - 1)]
    else:
        tries = [0, floor, ceiling, (floor + ceiling) / 2, floor + 1, ceiling - 1]
    return next((n for n in tries if low <= n <= high and above < n < below), 0)


def _bound(schema: dict[str, Any], name: str, default: float) -> float:
    value = schema.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else default
