"""What a model sees of a tool, and what it is told about arguments that do not fit."""

import json
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from steersman.operations.tool import Arguments, Malformed, schema
from steersman.records.dialogue import Call
from steersman.threads.capsule import AgentArgs
from tests.operations.workshop import our_tools

TOOLS = our_tools()
FIRST_FORM = {
    "workspace_status", "workspace_list_files", "workspace_read_file", "workspace_write_file",
    "workspace_edit_files", "workspace_run_command",
}  # fmt: skip


def test_the_tools_of_the_first_form_are_there():
    assert set(TOOLS) >= FIRST_FORM


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_is_described_in_a_way_every_provider_takes(tool):
    spec = tool.spec()
    assert spec == tool.spec()
    assert spec.description
    assert spec.parameters["type"] == "object"
    text = json.dumps(spec.parameters)
    assert "$ref" not in text
    assert "$defs" not in text
    required = spec.parameters.get("required", [])
    assert set(required) <= set(spec.parameters["properties"])
    assert spec.parameters.get("additionalProperties") is False


class Leaf(Struct):
    """A part of a part."""

    name: str


class Branch(Struct):
    """A part."""

    leaves: list[Leaf]
    best: Leaf | None = None


class TreeArgs(Arguments, frozen=True):
    """Parts of parts."""

    branches: Annotated[list[Branch], Meta(min_length=1)]
    root: Leaf


def test_references_are_written_out_however_deep_they_go():
    found = schema(TreeArgs)
    assert "$ref" not in json.dumps(found)
    branch = found["properties"]["branches"]["items"]
    assert branch["properties"]["leaves"]["items"]["properties"]["name"] == {"type": "string"}
    assert found["properties"]["root"]["properties"]["name"] == {"type": "string"}


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("workspace_read_file", {}, "path"),
    ("workspace_read_file", {"path": 7}, "path"),
    ("workspace_read_file", {"path": "x", "offset": 0}, "offset"),
    ("workspace_read_file", {"path": "x", "offset": "1"}, "offset"),
    ("workspace_read_file", {"path": "x", "line": 3}, "line"),
    ("workspace_list_files", {"path": []}, "path"),
    ("workspace_write_file", {"path": "x"}, "content"),
    ("workspace_write_file", {"path": "x", "content": None}, "content"),
    ("workspace_edit_files", {"files": []}, "files"),
    ("workspace_edit_files", {"files": {}}, "files"),
    ("workspace_run_command", {"command": ""}, "command"),
    ("workspace_run_command", {"command": "ls", "cwd": 1}, "cwd"),
]


@pytest.mark.parametrize(("name", "arguments", "names"), WRONG)
def test_arguments_that_do_not_fit_are_refused_with_what_is_wrong_and_what_fits(
    name, arguments, names
):
    with pytest.raises(Malformed) as refusal:
        TOOLS[name].parse(Call("c", name, arguments))
    text = str(refusal.value)
    assert name in refusal.value.what
    assert names in text
    assert all(field in text for field in TOOLS[name].spec().parameters["properties"])
    assert "Struct" not in text
    assert refusal.value.try_this


def test_arguments_that_are_no_json_are_shown_back_cut_to_size():
    with pytest.raises(Malformed) as refusal:
        TOOLS["workspace_status"].parse(Call("c", "workspace_status", malformed="{" * 5000))
    assert "{{{" in str(refusal.value)
    assert len(str(refusal.value)) < 1000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
    max_leaves=5,
)
fields = st.sampled_from(["path", "content", "files", "command", "cwd", "depth", "limit", "x"])


@given(st.sampled_from(sorted(TOOLS)), st.dictionaries(fields, json_values, max_size=4))
def test_whatever_a_model_sends_is_taken_or_refused_with_a_sentence(name, arguments):
    refusal = refused(name, arguments)
    assert refusal is None or (refusal.what and refusal.try_this)


def refused(name: str, arguments: dict[str, Any]) -> Malformed | None:
    """What is wrong with the arguments of a call, if anything."""
    try:
        TOOLS[name].parse(Call("c", name, arguments))
    except Malformed as refusal:
        return refusal
    return None


def test_an_agent_as_a_tool_takes_a_task():
    assert list(schema(AgentArgs)["properties"]) == ["task"]
