"""Fixes what sloppy servers send, so that one bad tool does not lose a server.

The protocol library refuses a whole list for one wrong field. These functions are before it: they
take the JSON of a result, give back what the library accepts, and say what was wrong. What is right
passes unchanged. Pure; they never raise, whatever they are given.
"""

from collections.abc import Callable, Mapping
from typing import Any

from steersman.operations.mcp import shapes
from steersman.operations.mcp.shapes import Fits, Json, shown, without_odd

Checked = tuple[Any, str]  # a value that can be used, and what was wrong with it

HINTS: Mapping[str, Fits] = {
    "readOnlyHint": shapes.flag,
    "destructiveHint": shapes.flag,
    "idempotentHint": shapes.flag,
    "openWorldHint": shapes.flag,
    "title": shapes.text,
}
TOOL: Mapping[str, Fits] = {
    "title": shapes.text,
    "_meta": shapes.record,
    "icons": shapes.icons,
    "execution": shapes.execution,
}
RESULT: Mapping[str, Fits] = {"_meta": shapes.record, "instructions": shapes.text}
IDENTITY: Mapping[str, Fits] = {
    "title": shapes.text,
    "description": shapes.text,
    "websiteUrl": shapes.text,
    "icons": shapes.icons,
}
NEEDED: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("name", "uri"),
    "resource": (),
}
BLOCK: Mapping[str, Fits] = {"_meta": shapes.record, "annotations": shapes.remarks}
LINK: Mapping[str, Fits] = {
    **BLOCK,
    "mimeType": shapes.text,
    "size": shapes.whole,
    "title": shapes.text,
    "description": shapes.text,
    "icons": shapes.icons,
}
NEWER: Mapping[str, Fits] = {
    "resultType": lambda value: isinstance(value, str),
    "ttlMs": lambda value: value is not None and shapes.whole(value) and value >= 0,
    "cacheScope": lambda value: value in ("private", "public"),
}
NO_ARGUMENTS: Json = {"type": "object", "properties": {}}


def repair_tools(result: Any, *, modern: bool) -> tuple[Json, dict[str, str]]:
    """A list of tools that can be read, and by name what was wrong with some of them.

    Under the empty name is what is said of the list itself.
    """
    found = without_odd(
        result if isinstance(result, dict) else {},
        {"nextCursor": shapes.text, "_meta": shapes.record},
    )
    listed = found.get("tools")
    tools: dict[str, Json] = {}
    wrong: dict[str, list[str]] = {}
    if not isinstance(listed, list):
        listed = []
        wrong[""] = ["it is not a list"]
    for entry in listed:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name:
            wrong.setdefault("", []).append("a tool without a name was left out")
        elif name in tools:
            wrong.setdefault(name, []).append("another tool of this name was left out")
        else:
            tools[name], remarks = _repair_tool(entry, modern=modern)
            if remarks:
                wrong.setdefault(name, []).extend(remarks)
    found["tools"] = list(tools.values())
    said = {name: "; ".join(dict.fromkeys(remarks)) for name, remarks in wrong.items()}
    return _complete(found, modern=modern), said


def repair_call(result: Any, *, modern: bool) -> Json:
    """The result of a call that can be read; what has no place in it becomes text."""
    found: Json = dict(result) if isinstance(result, dict) else {"content": result}
    if modern and found.get("resultType") == "input_required":
        return found  # the server asks for something first
    content = found.get("content")
    if not isinstance(content, list):
        content = [] if content is None else [content]
    found["content"] = [repair_block(block) for block in content]
    if not isinstance(found.get("isError", False), bool):
        found["isError"] = bool(found["isError"])
    structured = found.get("structuredContent")
    if not modern and not shapes.record(structured):
        del found["structuredContent"]
        if not found["content"]:
            found["content"] = [_text(shown(structured))]
    found = without_odd(found, {"_meta": shapes.record})
    return _complete(found, modern=modern, cached=False)


def repair_greeting(result: Any) -> Json:
    """The answer to the handshake that can be read."""
    found: Json = dict(result) if isinstance(result, dict) else {}
    about = found.get("serverInfo")
    about = dict(about) if isinstance(about, dict) else {}
    for field in ("name", "version"):
        value = about.get(field)
        if not isinstance(value, str):
            about[field] = "" if value is None else shown(value)[:100]
    found["serverInfo"] = without_odd(about, IDENTITY)
    found["capabilities"] = _repair_capabilities(found.get("capabilities"))
    return without_odd(found, RESULT)


def repair_discovery(result: Any) -> Json:
    """The answer to the question what a server speaks; one that names no version stays wrong."""
    found: Json = dict(result) if isinstance(result, dict) else {}
    versions = found.get("supportedVersions")
    if not isinstance(versions, list):
        return found
    found["supportedVersions"] = [one for one in versions if isinstance(one, str)]
    found["capabilities"] = _repair_capabilities(found.get("capabilities"))
    return _complete(without_odd(found, RESULT), modern=True)


def repair_schema(schema: Any) -> tuple[Json, str]:
    """The schema of a tool's arguments, always one of an object, and what was wrong with it."""
    if not isinstance(schema, dict):
        return dict(NO_ARGUMENTS), (
            "it has no schema" if schema is None else "its schema is not an object"
        )
    found: Json = dict(schema)
    wrong = []
    kind = found.get("type")
    if kind != "object":
        if kind is not None and not (isinstance(kind, list) and "object" in kind):
            return dict(NO_ARGUMENTS), "its schema is not one of an object"
        wrong.append("its schema does not say that it is one of an object")
        found["type"] = "object"
        if not any(key in found for key in ("anyOf", "oneOf", "allOf", "$ref")):
            found.setdefault("properties", {})
    wrong += _repair_members(found)
    return found, "; ".join(wrong)


def repair_block(block: Any) -> Json:
    """A block of content; what is not one becomes text."""
    if not isinstance(block, dict):
        return _text(block if isinstance(block, str) else shown(block))
    kind = block.get("type")
    needed = NEEDED.get(kind) if isinstance(kind, str) else None
    if needed is None:
        said = block.get("text")
        return _text(said if isinstance(said, str) else shown(block))
    if "mimeType" in needed and not isinstance(block.get("mimeType"), str):
        block = {**block, "mimeType": f"{kind}/unknown"}
    if not all(isinstance(block.get(field), str) for field in needed):
        return _text(shown(block))
    if kind == "resource" and not shapes.resource(block.get("resource")):
        return _text(shown(block))
    return without_odd(block, LINK if kind == "resource_link" else BLOCK)


def _repair_tool(entry: Json, *, modern: bool) -> tuple[Json, list[str]]:
    """A tool that has a name, and what was wrong with it."""
    tool = without_odd(entry, TOOL)
    remarks = [f"its {field} could not be read" for field in entry if field not in tool]
    tool["inputSchema"], wrong = repair_schema(entry.get("inputSchema"))
    if wrong:
        remarks.append(wrong)
    checks: dict[str, Callable[[Any], Checked]] = {
        "description": _repair_description,
        "annotations": _repair_hints,
        "outputSchema": _check_any_output if modern else _check_output,
    }
    for field, check in checks.items():
        value, wrong = check(entry.get(field))
        if wrong:
            remarks.append(wrong)
            tool[field] = value
    return tool, remarks


def _repair_members(schema: Json) -> list[str]:
    """Fix the fields of an object's schema in place; what was wrong."""
    wrong = []
    properties = schema.get("properties")
    if not shapes.record(properties):
        schema["properties"] = {}
        wrong.append("its properties are not an object")
    elif properties:
        odd = [name for name, value in properties.items() if not isinstance(value, dict | bool)]
        if odd:
            schema["properties"] = {**properties, **{name: {} for name in odd}}
            wrong.append(f"{len(odd)} of its properties have no schema")
    required = schema.get("required")
    if not shapes.texts(required):
        names = required if isinstance(required, list) else []
        schema["required"] = [name for name in names if isinstance(name, str)]
        wrong.append("what it requires is not a list of names")
    if not shapes.text(schema.get("$schema")):
        del schema["$schema"]
        wrong.append("its $schema is not a text")
    return wrong


def _repair_description(value: Any) -> Checked:
    return (value, "") if shapes.text(value) else (shown(value), "its description is not a text")


def _repair_hints(value: Any) -> Checked:
    """Annotations: only hints that are true or false are believed."""
    if not shapes.record(value):
        return None, "its annotations are not an object"
    kept = without_odd(value or {}, HINTS)
    odd = [name for name in value or {} if name not in kept]
    return (kept, f"its {' and '.join(odd)} could not be read") if odd else (value, "")


def _check_output(value: Any) -> Checked:
    """A schema of results: of an object, or none at all."""
    if value is None or (
        isinstance(value, dict)
        and value.get("type") == "object"
        and not _repair_members(dict(value))
    ):
        return value, ""
    return None, "the schema of its results could not be read"


def _check_any_output(value: Any) -> Checked:
    if value is None or (isinstance(value, dict) and shapes.text(value.get("$schema"))):
        return value, ""
    return None, "the schema of its results could not be read"


def _repair_capabilities(said: Any) -> Json:
    """What a server says it can do: objects, and flags that are true or false."""
    kept: Json = {}
    for name, value in said.items() if isinstance(said, dict) else ():
        if name in ("experimental", "extensions"):
            entries = value.items() if isinstance(value, dict) else ()
            kept[name] = {key: item for key, item in entries if isinstance(item, dict)}
        elif isinstance(value, dict):
            kept[name] = without_odd(value, {"listChanged": shapes.flag, "subscribe": shapes.flag})
        elif value is True:
            kept[name] = {}
    kept.pop("tasks", None)  # its shape changes from draft to draft, and nobody here uses it
    return kept


def _complete(found: Json, *, modern: bool, cached: bool = True) -> Json:
    """Without odd fields of the newer era, and with those that it wants in every result."""
    kept = without_odd(found, NEWER)
    if modern:
        kept.setdefault("resultType", "complete")
    if modern and cached:
        kept.setdefault("ttlMs", 0)
        kept.setdefault("cacheScope", "private")
    return kept


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
