"""Tools, results and permissions in the protocol's words."""

import pytest

from steersman.ports.mcp.offer import Ended
from steersman.ports.mcp.words import NO, ONCE, WHILE, ended, offered, permission, permission_form
from steersman.records.action import Write
from steersman.records.dialogue import ToolSpec
from steersman.records.message import ConfirmRequest, ConfirmResponse, Lasting, ToolResult

SAME = Lasting("same", ("changes of ./a.txt",), ("thread", "here"))


def request(*lasting: Lasting) -> ConfirmRequest:
    wanted = Write(path="/w/a.txt", before="", after="0" * 64, diff="--- a\n+++ b\n+new\n")
    return ConfirmRequest("call_1", "workspace_write_file", (wanted,), "a change", lasting=lasting)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (
            ToolResult("t", "ok", {"lines": 3}),
            Ended([{"type": "text", "text": '{\n  "lines": 3\n}'}], {"lines": 3}),
        ),
        (
            ToolResult("t", "ok", "words"),
            Ended([{"type": "text", "text": "words"}], {"result": "words"}),
        ),
        (
            ToolResult("t", "ok", [1]),
            Ended([{"type": "text", "text": "[\n  1\n]"}], {"result": [1]}),
        ),
        (
            ToolResult("t", "ok", "words", note="and a remark"),
            Ended(
                [{"type": "text", "text": "words"}, {"type": "text", "text": "and a remark"}],
                {"result": "words"},
            ),
        ),
        (
            ToolResult("t", "denied", message="Denied: it is secret."),
            Ended([{"type": "text", "text": "Denied: it is secret."}], failed=True),
        ),
        (
            ToolResult("t", "interrupted"),
            Ended([{"type": "text", "text": "t did not end: interrupted."}], failed=True),
        ),
    ],
)
def test_a_result_is_text_and_a_record_and_a_problem_is_its_sentence(
    result: ToolResult, expected: Ended
) -> None:
    assert ended(result) == expected


@pytest.mark.parametrize(
    ("family", "reads"), [("read", True), ("edit", False), ("run", False), ("agents", False)]
)
def test_the_hints_follow_the_kind_of_tool(family: str, reads: bool) -> None:
    tool = offered(ToolSpec("t", "Does something.", {"type": "object"}, family))
    assert tool.hints["readOnlyHint"] is reads
    assert tool.hints.get("destructiveHint", False) is not reads


def test_a_tool_of_no_known_kind_is_not_said_to_only_read() -> None:
    tool = offered(ToolSpec("t", "Does something.", {"type": "object", "properties": {}}))
    assert tool.hints.get("readOnlyHint") is not True


def test_the_form_shows_what_is_wanted_and_has_nothing_filled_in() -> None:
    form = permission_form(request(SAME))
    assert "The agent wants to create `/w/a.txt`" in form["message"]
    assert "+new" in form["message"]
    assert "\x1b" not in form["message"]
    schema = form["requestedSchema"]
    assert schema["required"] == ["answer"]
    assert schema["properties"]["answer"]["enum"] == [ONCE, WHILE, NO]
    assert not any("default" in field for field in schema["properties"].values())


def test_an_answer_that_cannot_last_is_not_offered_to() -> None:
    form = permission_form(request())
    assert form["requestedSchema"]["properties"]["answer"]["enum"] == [ONCE, NO]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"action": "accept", "content": {"answer": ONCE}}, ConfirmResponse("allow")),
        (
            {"action": "accept", "content": {"answer": WHILE}},
            ConfirmResponse("allow", scope="thread"),
        ),
        (
            {"action": "accept", "content": {"answer": NO, "instead": "use b.txt"}},
            ConfirmResponse("deny", "use b.txt"),
        ),
        ({"action": "accept", "content": {}}, ConfirmResponse("deny")),
        ({"action": "accept", "content": {"answer": True}}, ConfirmResponse("deny")),
        ({"action": "accept"}, ConfirmResponse("deny")),
        ({"action": "decline", "content": {"answer": ONCE}}, ConfirmResponse("deny")),
        ({"action": "cancel"}, ConfirmResponse("deny")),
        (None, ConfirmResponse("deny")),
    ],
)
def test_only_a_clear_yes_is_a_yes(given: object, expected: ConfirmResponse) -> None:
    assert permission(request(SAME), given) == expected


def test_a_lasting_yes_that_was_not_offered_is_a_no() -> None:
    said = {"action": "accept", "content": {"answer": WHILE}}
    assert permission(request(), said) == ConfirmResponse("deny")
