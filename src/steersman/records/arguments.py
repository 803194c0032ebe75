"""Typed arguments of a tool, and the JSON Schema that they are shown as. Pure."""

from typing import Any

import msgspec
from msgspec import Struct


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of every tool's arguments."""


def schema(arguments: type[Struct]) -> dict[str, Any]:
    """A JSON Schema object with every reference written out, as all providers take it."""
    (root,), components = msgspec.json.schema_components([arguments])
    found: dict[str, Any] = _inline(root, components)
    found.pop("title", None)
    return found


def _inline(node: Any, components: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(item, components) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = dict(components[node["$ref"].rsplit("/", 1)[-1]])
        target.pop("title", None)
        return _inline(target, components)
    return {name: _inline(item, components) for name, item in node.items()}
