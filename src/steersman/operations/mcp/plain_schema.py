"""Schemas of other people's tools, made such that every provider takes them. Pure, never raises.

References are written out, words that providers refuse are left out, and what cannot be saved
becomes an object of anything: a call is then checked by the server, as every call is.
"""

import re
from typing import Any

import msgspec

Json = dict[str, Any]

LARGEST = 24_000  # characters; a schema is paid for in every request
DEEPEST = 12
MOST_NODES = 4_000  # parts of a schema that are written out; more would be too large anyway
ANYTHING: Json = {"type": "object", "properties": {}, "additionalProperties": True}
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
# What a schema may say; anything else is about documents, not about what to send.
_WORDS = frozenset((
    "type", "title", "description", "enum", "const", "default", "examples", "format", "pattern",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    "properties", "required", "additionalProperties", "items", "prefixItems", "anyOf", "oneOf",
    "allOf", "nullable",
))  # fmt: skip
_NUMBERS = frozenset((
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
))  # fmt: skip


def plain(schema: Any) -> Json:
    """A schema of arguments: an object at the top, no references, nothing that is refused."""
    if not isinstance(schema, dict):
        return dict(ANYTHING)
    found = _flat(_Writing(schema).node(schema, 0, ()))
    properties = found.get("properties")
    found = {
        **found,
        "type": "object",
        "properties": properties if isinstance(properties, dict) else {},
    }
    for refused in ("title", "enum", "const", "default"):
        found.pop(refused, None)
    if not all(_PROPERTY.fullmatch(name) for name in found["properties"]):
        return dict(ANYTHING)
    if len(msgspec.json.encode(found)) > LARGEST:
        found = _bare(found)
    return found if len(msgspec.json.encode(found)) <= LARGEST else dict(ANYTHING)


class _Writing:
    """Writes a schema again, with what its references mean."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._left = MOST_NODES

    def node(self, node: Any, depth: int, seen: tuple[str, ...]) -> Json:
        """One schema in a schema."""
        self._left -= 1  # a few references to one another can stand for millions of parts
        if not isinstance(node, dict) or depth > DEEPEST or self._left < 0:
            return {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            rest = {key: value for key, value in node.items() if key != "$ref"}
            if reference in seen:
                return self.node(rest, depth + 1, seen)  # it holds itself: anything, from here on
            target = self._target(reference)
            return self.node({**target, **rest}, depth + 1, (*seen, reference))
        found = {
            key: self._value(key, value, depth, seen)
            for key, value in node.items()
            if key in _WORDS and _right(key, value)
        }
        return _repaired(found)

    def _value(self, key: str, value: Any, depth: int, seen: tuple[str, ...]) -> Any:
        match key:
            case "properties":
                return {str(name): self.node(one, depth + 1, seen) for name, one in value.items()}
            case "items" | "additionalProperties" if not isinstance(value, bool):
                return self.node(value, depth + 1, seen)
            case "items":
                return {}
            case "prefixItems" | "anyOf" | "oneOf" | "allOf":
                return [self.node(one, depth + 1, seen) for one in value]
            case _:
                return value

    def _target(self, reference: str) -> Json:
        if not reference.startswith("#"):
            return {}
        node: Any = self._root
        for part in reference[1:].split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            node = node.get(name) if isinstance(node, dict) else None
        return node if isinstance(node, dict) else {}


def _right(key: str, value: Any) -> bool:
    """Whether a word of a schema has a value of the kind it needs."""
    if key in _NUMBERS:
        return isinstance(value, int | float) and not isinstance(value, bool)
    match key:
        case "type":
            return value in _TYPES if isinstance(value, str) else _all_types(value)
        case "properties":
            return isinstance(value, dict)
        case "required" | "enum" | "examples" | "prefixItems" | "anyOf" | "oneOf" | "allOf":
            return isinstance(value, list) and bool(value)
        case "items" | "additionalProperties":
            return isinstance(value, dict | bool)
        case "title" | "description" | "format" | "pattern":
            return isinstance(value, str)
        case _:
            return True


def _all_types(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, str) and one in _TYPES for one in value)
    )


def _repaired(node: Json) -> Json:
    """A schema with what providers miss: items of an array, names in `required` that exist."""
    kinds = node.get("type")
    if kinds == "array" or (isinstance(kinds, list) and "array" in kinds):
        node.setdefault("items", {})
    if "required" in node:
        known = node.get("properties", {})
        names = [one for one in node["required"] if isinstance(one, str) and one in known]
        node["required"] = list(dict.fromkeys(names))
        if not names:
            del node["required"]
    return node


def _flat(node: Json) -> Json:
    """The top without choices, which providers refuse there: every property of every choice."""
    found = dict(node)
    properties = dict(found.get("properties", {}))
    required = set(found.get("required", ()))
    for key in ("allOf", "anyOf", "oneOf"):
        branches = [branch for branch in found.pop(key, ()) if isinstance(branch, dict)]
        wanted = [set(branch.get("required", ())) for branch in branches]
        for branch in branches:
            for name, one in branch.get("properties", {}).items():
                properties.setdefault(name, one)
        if wanted:
            required |= set.union(*wanted) if key == "allOf" else set.intersection(*wanted)
    found["properties"] = properties
    if required & set(properties):
        found["required"] = [name for name in properties if name in required]
    return found


def _bare(node: Any) -> Any:
    """The same without words for people, when there is too much of it."""
    if isinstance(node, list):
        return [_bare(one) for one in node]
    if not isinstance(node, dict):
        return node
    drop = ("description", "examples", "title", "default")
    return {
        key: {name: _bare(one) for name, one in value.items()}
        if key == "properties"
        else _bare(value)
        for key, value in node.items()
        if key not in drop or not isinstance(value, str | list | int | float)
    }
