"""The description of the API, made from the types that its operations take and answer."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from steersman import __version__
from steersman.host.terminals import TerminalFacts
from steersman.ports.http.layer import OTHERWISE, PREFIX, Operation
from steersman.ports.http.workspace import Executed
from steersman.records.problem import Problem
from steersman.records.schema import message_schema
from steersman.records.thread_facts import ThreadFacts

REF = "#/components/schemas/{name}"
SOURCES: Mapping[Any, tuple[str, str]] = {  # answers that name what other operations take
    ThreadFacts: ("thread", "id"),
    Executed: ("process", "background_process_id"),
    TerminalFacts: ("terminal", "id"),
}
FAILURES = {
    400: "The request is not valid.",
    401: "A token is needed.",
    403: "The token, the page it comes from or the gate does not allow it.",
    404: "There is no such thing.",
    405: "This cannot be done there.",
    409: "Someone else was first, or it cannot be done now.",
    408: "The request did not arrive in time.",
    413: "The request is too large.",
    415: "Only JSON is accepted.",
    421: "The server is not called that.",
    OTHERWISE: "It was understood, and could not be done.",
    429: "Too many wrong tokens.",
    502: "The model's provider did not answer as it should.",
    503: "The store cannot be used now.",
}


def described(operations: Iterable[Operation], *, server: str = "/") -> dict[str, Any]:
    """The OpenAPI document."""
    operations = list(operations)
    kinds = [kind for one in operations for kind in (one.params, one.body, one.answer) if kind]
    wanted = [*dict.fromkeys([*filter(_schematic, kinds), Problem])]
    schemas, components = msgspec.json.schema_components(wanted, ref_template=REF)
    known = dict(zip(wanted, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        entry = paths.setdefault(one.at, {})
        entry[one.method.lower()] = _operation(one, known, components)
    paths[f"{PREFIX}/threads/{{thread}}/events"] = {"get": _events("thread")}
    paths[f"{PREFIX}/events"] = {"get": _events()}
    for path, answer in (("/healthz", "The server runs."), ("/readyz", "It can be used.")):
        paths[path] = {"get": {"summary": answer, "security": [], "responses": _health(answer)}}
    links = _links(operations)
    for one in operations:
        if one.answer in SOURCES:
            made = paths[one.at][one.method.lower()]["responses"]["200"]
            made["links"] = {
                name: {"$ref": f"#/components/links/{name}"}
                for name, link in links.items()
                if SOURCES[one.answer][0] in link["parameters"]
            }
    components["Message"] = _message(components)
    if "Messages" in components:
        components["Messages"]["properties"]["messages"]["items"] = {
            "$ref": REF.format(name="Message")
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Steersman",
            "version": __version__,
            "description": "Threads of coding agents: every effect passes one gate, and lands in "
            "one log.",
            "license": {"name": "MIT"},
        },
        "servers": [{"url": server}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "links": links,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _links(operations: Iterable[Operation]) -> dict[str, Any]:
    """What can be done next with a thread or a process that an operation answers with."""
    return {
        one.name: {"operationId": one.name, "parameters": {name: f"$response.body#/{field}"}}
        for name, field in SOURCES.values()
        for one in operations
        if f"{{{name}}}" in one.path
    }


def _schematic(kind: Any) -> bool:
    return kind is not bytes


def _operation(
    made: Operation, known: Mapping[Any, Any], components: Mapping[str, Any]
) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": made.name,
        "summary": made.summary.partition("\n")[0],
        "description": f"{made.summary}\n\nRight: `{made.needs}`.",
        "responses": {"200": _answer(made, known), **_failures(known)},
    }
    if parameters := _parameters(made, components):
        told["parameters"] = parameters
    if made.body is not None:
        content = {made.takes: {"schema": known.get(made.body, {"type": "string"})}}
        told["requestBody"] = {"required": True, "content": content}
    return told


def _answer(made: Operation, known: Mapping[Any, Any]) -> dict[str, Any]:
    if made.answer is bytes:
        content = {made.gives: {"schema": {"type": "string"}}}
        return {"description": "What was asked for.", "content": content}
    content = {"application/json": {"schema": known[made.answer]}}
    return {"description": "Done.", "content": content}


def _failures(known: Mapping[Any, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": known[Problem]}}
    return {
        str(status): {"description": words, "content": content}
        for status, words in sorted(FAILURES.items())
    }


def _parameters(made: Operation, components: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A parameter for each field, in the path or in the query."""
    schema = components[made.params.__name__]
    required = schema.get("required", ())
    return [
        {
            "name": name,
            "in": "path" if f"{{{name}}}" in made.path else "query",
            "required": name in required,
            "schema": field,
        }
        for name, field in schema["properties"].items()
    ]


def _events(*names: str) -> dict[str, Any]:
    """Following one thread, or all of them."""
    followed = "a thread" if names else "all threads"
    place = {"type": "integer", "minimum": 0}
    content = {"text/event-stream": {"schema": {"type": "string"}}}
    return {
        "operationId": "follow_events" if names else "follow_all_events",
        "summary": f"Follow {followed} by server-sent events.",
        "description": "`Last-Event-ID` or `after` is the last message you have.",
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in names
            ),
            {"name": "after", "in": "query", "schema": place},
        ],
        "responses": {"200": {"description": "Frames, without end.", "content": content}},
    }


def _health(words: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"type": "object"}}}
    return {"200": {"description": words, "content": content}}


def _message(components: dict[str, Any]) -> dict[str, Any]:
    """The schema of a message; the records it is made of are among the components."""
    schema = message_schema()
    parts = schema.pop("$defs")
    schema.pop("$schema")
    text = msgspec.json.encode({"schema": schema, "parts": parts}).decode()
    moved = msgspec.json.decode(text.replace("#/$defs/", "#/components/schemas/"))
    for name, part in moved["parts"].items():
        components.setdefault(name, part)
    found: dict[str, Any] = moved["schema"]
    return found
