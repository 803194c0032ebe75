"""The same conversation in every format gives the same events, apart from usage and ids."""

from typing import Any

import msgspec
import pytest

from steersman.records.dialogue import Completed, Event, TextDelta, ThoughtDelta, Tokens
from steersman.records.errors import DriverProblem
from tests.intelligence.drivers.talking import WIRES, Talk

SCRIPT: tuple[dict[str, Any], ...] = (
    {
        "reasoning": "Two files may hold it.",
        "text": "I look at both.",
        "chunk": 5,
        "tool_calls": [
            {"name": "read_file", "arguments": {"path": "a.py"}},
            {"name": "read_file", "arguments": {"path": "ünï.py", "deep": {"x": [1, None]}}},
        ],
        "usage": {"input": 100, "cached": 40, "output": 30, "reasoning": 10},
    },
    {"error": {"status": 429, "message": "slow down", "retry_after": 0.25}},
    {"error": {"status": 500, "message": "oops"}},
    {"expect": "return a - b", "text": "Found it.", "usage": {"input": 150, "output": 4}},
)


def shown(event: Event) -> Any:
    """An event without what may differ."""
    if not isinstance(event, Completed):
        return event
    calls = tuple(msgspec.structs.replace(call, id="") for call in event.calls)
    return msgspec.structs.replace(event, calls=calls, state=None)


def played(stage: Any, wire: str) -> list[Any]:
    stage.play(*SCRIPT)
    talk = Talk(stage.url, wire)
    talk.answer("return a - b", "nothing")
    seen = [shown(event) for event in talk.events]
    for _ in range(2):
        with pytest.raises(DriverProblem) as caught:
            talk.ask()
        problem = caught.value
        seen.append((problem.kind, problem.status, problem.retryable, problem.retry_after))
    talk.answer()
    return seen + [shown(event) for event in talk.events]


def test_all_formats_tell_the_same(stage) -> None:
    told = {wire: played(stage, wire) for wire in WIRES}
    first = told["openai"]
    assert told == dict.fromkeys(WIRES, first)
    assert first[:2] == [ThoughtDelta("Two f"), ThoughtDelta("iles ")]
    assert first[5:8] == [TextDelta("I loo"), TextDelta("k at "), TextDelta("both.")]
    final = first[8]
    assert (final.text, final.reasoning) == ("I look at both.", "Two files may hold it.")
    assert [call.arguments for call in final.calls] == [
        {"path": "a.py"},
        {"path": "ünï.py", "deep": {"x": [1, None]}},
    ]
    assert (final.stop, final.tokens) == ("tool_calls", Tokens(100, 40, 30, 10))
    assert first[9:11] == [("rate_limit", 429, True, 0.25), ("server", 500, True, None)]
    assert first[11:] == [TextDelta("Found it."), Completed("Found it.", tokens=Tokens(150, 0, 4))]


def test_ids_join_a_call_and_its_result(stage, wire) -> None:
    stage.play(*SCRIPT[:1], {"expect": "second", "text": "Done."})
    talk = Talk(stage.url, wire)
    answer = talk.answer("first", "second")
    assert len({call.id for call in answer.calls}) == 2
    assert talk.answer().text == "Done."


def test_a_failed_result_says_so_where_the_format_can(stage, wire) -> None:
    from steersman.records.dialogue import ResultItem

    stage.play({"tool_calls": [{"name": "read_file"}]}, {"expect": "no such file", "text": "Ah."})
    talk = Talk(stage.url, wire)
    answer = talk.answer("")
    talk.items[-1] = ResultItem(answer.calls[0].id, "no such file", failed=True)
    assert talk.ask().text == "Ah."
    last = str(stage.log[-1]["body"])
    marks = {"anthropic": "'is_error': True", "gemini": "'error': 'no such file'"}
    assert marks.get(wire, "no such file") in last


def test_arguments_that_are_not_json_are_kept(stage, talk) -> None:
    stage.play({"tool_calls": [{"name": "read_file", "arguments": '{"path": '}]}, {"text": "Ah."})
    [call] = talk.answer("That was no JSON.").calls
    if talk.wire == "gemini":  # its calls cannot be anything but objects
        assert call.arguments == {"_raw": '{"path": '}
    else:
        assert (call.arguments, call.malformed) == ({}, '{"path": ')
    assert talk.answer().text == "Ah."  # and the conversation goes on


def test_a_call_without_arguments(stage, talk) -> None:
    stage.play({"tool_calls": [{"name": "read_file", "arguments": ""}]}, {"text": "Ah."})
    [call] = talk.answer("ok").calls
    assert (call.arguments or {"_raw": ""}) == {"_raw": ""}
    assert talk.answer().text == "Ah."
