"""Whatever a server says, a driver answers with an answer or a problem, never with a crash."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from steersman.intelligence.drivers.answers import Broken, Gathering
from steersman.intelligence.drivers.failures import read_failure
from steersman.intelligence.drivers.reading.anthropic import MessagesReader
from steersman.intelligence.drivers.reading.gemini import GeminiReader
from steersman.intelligence.drivers.reading.openai_chat import ChatReader
from steersman.intelligence.drivers.reading.openai_responses import ResponsesReader
from steersman.records.call_ids import distinct
from steersman.records.dialogue import Completed, TextDelta, ThoughtDelta
from steersman.records.errors import DriverProblem
from tests.intelligence.drivers.test_reading import (
    block,
    chat,
    completed,
    done,
    ending,
    message,
    parts,
    say,
    text,
)

CALL = {"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"}
TOOL = {"index": 0, "id": "c", "function": {"name": "a", "arguments": "{}"}}
THOUGHT = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
ANSWERS: dict[type[Gathering], list[Any]] = {
    ResponsesReader: [
        done(0, **THOUGHT),
        {"type": "response.output_item.added", "output_index": 1, "item": CALL},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{"},
        {"type": "response.reasoning_summary_text.delta", "delta": "Hm."},
        {"type": "response.refusal.delta", "delta": "No."},
        text("Hi."),
        done(1, **CALL),
        done(2, **message("Hi.", "commentary")),
        completed(usage={"input_tokens": 1, "output_tokens": 2}, output=[message("Hi.")]),
    ],
    ChatReader: [
        chat(content="Hi.", reasoning="Hm.", reasoning_details=[{"type": "x", "text": "y"}]),
        chat(content=[{"type": "text", "text": "x"}, {"type": "thinking", "thinking": [{}]}]),
        chat(tool_calls=[TOOL, {"function": {"arguments": "x"}}]),
        {"choices": [{"delta": {"refusal": "No."}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 1, "prompt_tokens_details": {}}},
    ],
    MessagesReader: [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        *block(
            0,
            {"type": "thinking", "thinking": "a"},
            {"type": "thinking_delta", "thinking": "Hm."},
            {"type": "signature_delta", "signature": "s"},
        ),
        *block(1, {"type": "text", "text": "a"}, say("Hi.")),
        *block(
            2,
            {"type": "tool_use", "id": "c", "name": "a", "input": {"x": 1}},
            {"type": "input_json_delta", "partial_json": "{}"},
        ),
        *ending("tool_use", output_tokens=3),
    ],
    GeminiReader: [
        parts({"text": "Hm.", "thought": True}, {"text": "Hi.", "thoughtSignature": "s"}),
        parts({"functionCall": {"name": "a", "args": {"x": 1}}}, finishReason="STOP"),
        {"usageMetadata": {"promptTokenCount": 1}},
        {"promptFeedback": {"blockReason": "SAFETY"}},
    ],
}
ODD = st.recursive(
    st.sampled_from([None, True, 0, -1, 1.5, "", "x", 10**12]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=3,
)


@st.composite
def strange(draw: st.DrawFn) -> tuple[type[Gathering], list[Any]]:
    """An answer whose events are mixed up, with some values replaced."""
    reader = draw(st.sampled_from(list(ANSWERS)))
    events = draw(st.lists(st.sampled_from(ANSWERS[reader]), max_size=8))
    return reader, [bent(draw, event) for event in events]


def bent(draw: st.DrawFn, value: Any, depth: int = 0) -> Any:
    """The same value, perhaps with something else in a place of it."""
    if depth and draw(st.integers(0, 9)) == 0:
        return draw(ODD)
    if isinstance(value, dict):
        return {name: bent(draw, item, depth + 1) for name, item in value.items()}
    return [bent(draw, item, depth + 1) for item in value] if isinstance(value, list) else value


@given(strange())
def test_no_answer_is_too_strange(given_answer) -> None:
    kind, events = given_answer
    reader = kind("p", "m")
    shown: list[Any] = []
    try:
        for event in events:
            shown += reader.take(msgspec.json.encode(event))
        said = reader.completed()
    except (msgspec.DecodeError, Broken, DriverProblem):
        return
    assert isinstance(said, Completed)
    assert all(isinstance(delta, TextDelta | ThoughtDelta) for delta in shown)
    assert "".join(d.text for d in shown if isinstance(d, TextDelta)) == said.text
    calls = distinct(said.calls, set())
    assert len({call.id for call in calls}) == len(said.calls)
    assert isinstance(reader.place(), str)
    msgspec.json.encode(said)


@given(ODD)
def test_no_error_is_too_strange(value) -> None:
    read_failure(msgspec.json.encode(value))
    read_failure(msgspec.json.encode({"error": value, "message": value}))
