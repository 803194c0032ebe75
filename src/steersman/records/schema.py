"""The JSON Schema of a message line, made from the records themselves."""

from typing import Any

import msgspec

from steersman.records.message import BODIES


def message_schema() -> dict[str, Any]:
    """The schema that `--json` output, `replay` and `ledger export` keep to."""
    bodies = list(BODIES.values())
    schemas, components = msgspec.json.schema_components(bodies, ref_template="#/$defs/{name}")
    kinds = [
        {"properties": {"kind": {"const": body.kind}, "body": schema}}
        for body, schema in zip(bodies, schemas, strict=True)
    ]
    envelope = {
        "thread": {"type": "string", "description": "id of the thread"},
        "seq": {"type": "integer", "minimum": 0, "description": "dense; 0 when only broadcast"},
        "time": {"type": "string", "format": "date-time"},
        "turn": {"type": "integer", "minimum": 0, "description": "0 outside a turn"},
        "kind": {"type": "string"},
        "path": {"type": "string", "description": "the lane it happened in"},
        "corr": {"type": ["string", "null"], "description": "joins a call and its result"},
        "body": {"type": "object", "description": "by kind"},
        "hash": {"type": "string", "description": "base64; in exports only"},
    }
    found = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Steersman message",
        "type": "object",
        "properties": envelope,
        "required": [name for name in envelope if name != "hash"],
        "oneOf": kinds,
        "$defs": components,
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return plain
