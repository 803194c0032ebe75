"""What sloppy servers send is repaired: the library accepts it, and what was wrong is said."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import methods

from steersman.operations.mcp.repair import (
    repair_block,
    repair_call,
    repair_discovery,
    repair_greeting,
    repair_schema,
    repair_tools,
)

LEGACY, MODERN = "2025-11-25", "2026-07-28"
OBJECT = {"type": "object", "properties": {}}
PNG = {"type": "image", "data": "eHg=", "mimeType": "image/png"}

json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def mostly(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Objects whose fields are right, wrong or missing."""
    return st.fixed_dictionaries(
        {}, optional={name: st.just(v) | json for name, v in fields.items()}
    )


schemas = mostly(
    type="object", properties={"a": {"type": "string"}}, required=["a"], **{"$schema": "x"}
)
tools = mostly(
    name="look",
    description="Looks.",
    inputSchema=OBJECT,
    outputSchema=OBJECT,
    annotations={"readOnlyHint": True, "title": "Look"},
    title="Look",
    icons=[{"src": "x", "sizes": ["1x1"], "theme": "dark"}],
    execution={"taskSupport": "optional"},
    _meta={"a": 1},
) | st.builds(lambda schema: {"name": "s", "inputSchema": schema}, schemas)
lists = mostly(tools=[], nextCursor="2", ttlMs=5, cacheScope="public", resultType="complete") | (
    st.builds(lambda listed: {"tools": listed}, st.lists(tools | json, max_size=4))
)
resources = mostly(uri="file:///a", text="a", blob="eA==", mimeType="text/plain", _meta={})
blocks = (
    mostly(type="text", text="a", annotations={"audience": ["user"], "priority": 0.5}, _meta={})
    | mostly(type="image", data="eA==", mimeType="image/png")
    | mostly(type="audio", data="eA==", mimeType="audio/wav")
    | mostly(type="resource_link", name="a", uri="file:///a", size=3, icons=[], title="t")
    | st.builds(lambda resource: {"type": "resource", "resource": resource}, resources | json)
)
results = mostly(
    content=[], structuredContent={}, isError=True, _meta={}, resultType="complete"
) | st.builds(lambda content: {"content": content}, st.lists(blocks | json, max_size=4))
capabilities = mostly(
    tools={"listChanged": True}, resources={"subscribe": True}, logging={}, experimental={"a": {}}
)
greetings = st.fixed_dictionaries(
    {"protocolVersion": st.just(LEGACY)},
    optional={
        "capabilities": capabilities | json,
        "serverInfo": mostly(name="a", version="1", icons=[], title="t") | json,
        "instructions": st.just("a") | json,
        "_meta": json,
    },
)


def accepted(method: str, version: str, result: dict[str, Any]) -> None:
    """The library reads it, as strictly as it reads anything."""
    methods.validate_server_result(method, version, result)
    methods.parse_server_result(method, version, result)


@given(lists | json)
def test_any_list_of_tools_can_be_read_once_it_is_repaired(listed):
    for version in (LEGACY, MODERN):
        result, _ = repair_tools(listed, modern=version == MODERN)
        accepted("tools/list", version, result)


@given(results | json)
def test_any_result_of_a_call_can_be_read_once_it_is_repaired(given):
    accepted("tools/call", LEGACY, repair_call(given, modern=False))
    if not isinstance(given, dict) or given.get("resultType") != "input_required":
        accepted("tools/call", MODERN, repair_call(given, modern=True))


@given(greetings)
def test_any_greeting_that_names_its_version_can_be_read_once_it_is_repaired(greeting):
    accepted("initialize", LEGACY, repair_greeting(greeting))


@given(json, json)
def test_any_answer_about_versions_can_be_read_once_it_is_repaired(said, more):
    for found in (said, {"supportedVersions": [MODERN, said], "capabilities": more}):
        repaired = repair_discovery(found)
        if "supportedVersions" in repaired and isinstance(found, dict):
            accepted("server/discover", MODERN, repaired)


@given(lists | json)
def test_what_was_repaired_needs_no_more_repair(listed):
    result, _ = repair_tools(listed, modern=False)
    assert repair_tools(result, modern=False) == (result, {})


@given(results | json)
def test_a_repaired_result_needs_no_more_repair(given):
    result = repair_call(given, modern=False)
    assert repair_call(result, modern=False) == result


RIGHT: list[dict[str, Any]] = [
    {"name": "bare", "inputSchema": {"type": "object"}},
    {
        "name": "full",
        "title": "Full",
        "description": "Does all.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": True},
            "required": ["a"],
            "additionalProperties": False,
            "$defs": {"x": {}},
        },
        "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "annotations": {"title": "F", "readOnlyHint": True, "destructiveHint": None, "own": 1},
        "icons": [{"src": "a.png", "sizes": ["48x48"], "mimeType": "image/png"}],
        "execution": {"taskSupport": "forbidden"},
        "_meta": {"a": 1},
        "unknown": [1],
    },
    {"name": "nulls", "inputSchema": OBJECT, "description": None, "annotations": None},
]


def test_what_is_right_passes_unchanged():
    listed = {"tools": RIGHT, "nextCursor": "2", "_meta": {"a": 1}}
    assert repair_tools(listed, modern=False) == (listed, {})
    modern = {**listed, "resultType": "complete", "ttlMs": 3, "cacheScope": "public"}
    assert repair_tools(modern, modern=True) == (modern, {})


@pytest.mark.parametrize(
    "result",
    [
        {"content": []},
        {"content": [{"type": "text", "text": "a", "annotations": {"audience": ["user"]}}, PNG]},
        {"content": [], "structuredContent": {"a": 1}, "isError": False, "_meta": {}},
        {"content": [{"type": "resource", "resource": {"uri": "a://b", "blob": "eA=="}}]},
        {"content": [{"type": "resource_link", "uri": "a://b", "name": "b", "size": 4}]},
    ],
)
def test_a_result_that_is_right_passes_unchanged(result):
    assert repair_call(result, modern=False) == result


@pytest.mark.parametrize(
    ("schema", "repaired", "wrong"),
    [
        ({}, OBJECT, "does not say"),
        (None, OBJECT, "no schema"),
        ("text", OBJECT, "not an object"),
        ([], OBJECT, "not an object"),
        ({"type": "string"}, OBJECT, "not one of an object"),
        ({"type": ["object", "null"]}, OBJECT, "does not say"),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}, "does not say"),
        ({"anyOf": [{}]}, {"type": "object", "anyOf": [{}]}, "does not say"),
        ({"type": "object", "properties": []}, OBJECT, "properties are not"),
        (
            {"type": "object", "properties": {"a": "string"}},
            {"type": "object", "properties": {"a": {}}},
            "1 of its properties",
        ),
        ({**OBJECT, "required": "a"}, {**OBJECT, "required": []}, "requires"),
        ({**OBJECT, "required": ["a", 1]}, {**OBJECT, "required": ["a"]}, "requires"),
        ({**OBJECT, "$schema": 7}, OBJECT, "$schema"),
    ],
)
def test_a_schema_is_always_one_of_an_object(schema, repaired, wrong):
    found, said = repair_schema(schema)
    assert found == repaired
    assert wrong in said


@pytest.mark.parametrize(
    ("block", "repaired"),
    [
        ("just text", {"type": "text", "text": "just text"}),
        (7, {"type": "text", "text": "7"}),
        (None, {"type": "text", "text": "null"}),
        ({"type": "markdown", "text": "# a"}, {"type": "text", "text": "# a"}),
        ({"text": "a"}, {"type": "text", "text": "a"}),
        ({"type": "video", "url": "a"}, {"type": "text", "text": '{"type":"video","url":"a"}'}),
        ({"type": "text", "text": 5}, {"type": "text", "text": '{"type":"text","text":5}'}),
        ({"type": "image", "data": "eA=="}, {**PNG, "data": "eA==", "mimeType": "image/unknown"}),
        ({**PNG, "annotations": {"audience": ["nobody"]}}, PNG),
        ({**PNG, "_meta": 7}, PNG),
        (
            {"type": "resource_link", "name": "a", "uri": "a://b", "size": "big"},
            {"type": "resource_link", "name": "a", "uri": "a://b"},
        ),
    ],
)
def test_content_of_any_kind_becomes_a_block(block, repaired):
    assert repair_block(block) == repaired


def test_a_result_without_content_shows_its_structure():
    assert repair_call({"structuredContent": [1, 2]}, modern=False) == {
        "content": [{"type": "text", "text": "[1,2]"}]
    }
    assert repair_call({"structuredContent": [1, 2]}, modern=True) == {
        "content": [],
        "structuredContent": [1, 2],
        "resultType": "complete",
    }
    assert repair_call({"content": "yes", "isError": 1}, modern=False) == {
        "content": [{"type": "text", "text": "yes"}],
        "isError": True,
    }


def test_one_bad_tool_costs_no_other():
    listed = {
        "tools": [
            {"name": "good", "inputSchema": OBJECT},
            {"name": "bad", "inputSchema": {}, "annotations": "x", "description": 7},
            {"name": "good", "inputSchema": OBJECT},
            {"inputSchema": OBJECT},
            "tool",
        ]
    }
    result, wrong = repair_tools(listed, modern=False)
    assert [tool["name"] for tool in result["tools"]] == ["good", "bad"]
    assert wrong == {
        "good": "another tool of this name was left out",
        "bad": "its schema does not say that it is one of an object; "
        "its description is not a text; its annotations are not an object",
        "": "a tool without a name was left out",
    }
    assert repair_tools({"tools": "none"}, modern=False) == (
        {"tools": []},
        {"": "it is not a list"},
    )


def test_a_hint_that_is_not_true_or_false_is_not_believed():
    listed = {"tools": [{"name": "a", "inputSchema": OBJECT, "annotations": {"readOnlyHint": 1}}]}
    result, wrong = repair_tools(listed, modern=False)
    assert result["tools"][0]["annotations"] == {}
    assert wrong == {"a": "its readOnlyHint could not be read"}
