"""How answers are read: as the providers give them, and as servers that speak like them do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.intelligence.drivers.events import Events
from steersman.records.dialogue import (
    Call,
    Completed,
    ProviderState,
    TextDelta,
    ThoughtDelta,
    Tokens,
)
from steersman.records.errors import DriverProblem
from tests.intelligence.drivers.talking import hear, http, sse


def answer(wire: str, *events: Any, **settings: Any) -> Completed:
    last = hear(wire, http(sse(*events)), **settings)[-1]
    assert isinstance(last, Completed)
    return last


# --- server-sent events -----------------------------------------------------------------------

LINES = st.lists(
    st.sampled_from([b"one", b'{"a": "b"}', "ünï".encode(), b"x" * 300]), min_size=1, max_size=6
)


@given(LINES, st.sampled_from([b"\n", b"\r\n"]), st.integers(1, 40), st.booleans())
def test_events_are_the_same_however_they_are_cut(data, end, size, named) -> None:
    head = b"event: e" + end if named else b": a comment" + end
    stream = b"".join(head + b"data: " + one + end + end for one in data)
    events = Events()
    heard: list[bytes] = []
    for start in range(0, len(stream), size):
        heard += events.feed(stream[start : start + size])
    assert heard == data


def test_an_event_may_have_many_lines() -> None:
    assert Events().feed(b"data: {\ndata:}\n\ndata: 2\n\n") == [b"{\n}", b"2"]


# --- Chat Completions, and who speaks like it -------------------------------------------------


def chat(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta}]}


STOP = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_has_two_names(field) -> None:
    events = hear("openai-chat", http(sse(chat(**{field: "Hm."}), chat(content="Hi."), STOP)))
    assert events == [ThoughtDelta("Hm."), TextDelta("Hi."), Completed("Hi.", "Hm.")]


def test_calls_without_index_or_id() -> None:
    one = {"function": {"name": "a", "arguments": '{"x":1}'}, "id": ""}
    two = {"function": {"name": "b", "arguments": "{}"}, "id": "call_0"}
    again = {"function": {"name": "c"}, "id": "call_0"}
    made = answer("openai-chat", chat(tool_calls=[one]), chat(tool_calls=[two, again]), STOP).calls
    assert [(call.name, call.arguments) for call in made] == [("a", {"x": 1}), ("b", {}), ("c", {})]
    assert [call.id for call in made] == ["", "call_0", "call_0"]  # told apart in their thread


def test_a_stream_may_end_without_saying_so() -> None:
    assert answer("openai-chat", chat(content="Hi."), STOP).text == "Hi."


def test_done_without_a_reason_is_fine_too() -> None:
    assert answer("openai-chat", chat(content="Hi."), "[DONE]").text == "Hi."


def test_usage_in_other_words() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_cache_hit_tokens": 4}
    said = answer("openai-chat", chat(content="Hi."), STOP, {"choices": [], "usage": usage})
    assert said.tokens == Tokens(9, 4, 3)


def test_content_in_parts() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    parts = [thought, {"type": "text", "text": "Hi."}]
    assert answer("openai-chat", chat(content=parts), STOP) == Completed("Hi.", "Hm.")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("stop", "end"), ("length", "length"), ("content_filter", "content_filter"), ("eos", "end")],
)
def test_stop_reasons_of_chat(reason, stop) -> None:
    end = {"choices": [{"delta": {}, "finish_reason": reason}]}
    assert answer("openai-chat", chat(content="Hi."), end, "[DONE]").stop == stop


def test_a_refusal_of_chat() -> None:
    said = answer("openai-chat", chat(refusal="I will not."), STOP)
    assert (said.text, said.stop) == ("I will not.", "refusal")


@pytest.mark.parametrize("arguments", ['{"path": "a', None])
def test_a_call_cut_short_is_never_whole(arguments) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "read_file", "arguments": arguments}}
    end = {"choices": [{"delta": {}, "finish_reason": "length"}]}
    said = answer("openai-chat", chat(tool_calls=[call]), end)
    assert said.calls == (Call("c", "read_file", malformed=arguments or ""),)
    assert said.stop == "length"


def test_what_a_server_wants_to_see_again() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "a"}, "extra_content": {"google": "sig"}}
    pieces = [{"type": "reasoning.text", "index": 0, "text": text} for text in ("Hm", "m.")]
    sealed = {"type": "reasoning.encrypted", "index": 1, "data": "xyz", "format": None}
    said = answer(
        "openai-chat",
        *(chat(reasoning=one["text"], reasoning_details=[one]) for one in pieces),
        chat(reasoning_details=[sealed]),
        chat(tool_calls=[call]),
        STOP,
    )
    details = [
        {"type": "reasoning.text", "index": 0, "text": "Hmm."},
        {"type": "reasoning.encrypted", "index": 1, "data": "xyz"},
    ]
    kept = ({"details": details}, {"call": 0, "extra_content": {"google": "sig"}})
    assert said.state == ProviderState("openai-chat", "m-1", kept)


# --- Responses --------------------------------------------------------------------------------


def done(index: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def text(delta: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "delta": delta}


def completed(status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, **more}}


def message(said: str, phase: str | None = None) -> dict[str, Any]:
    content = [{"type": "output_text", "text": said}]
    return {"type": "message", "content": content, "phase": phase}


def test_encrypted_reasoning_is_kept_in_its_place() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    call = {"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"}
    said = answer(
        "openai",
        done(0, **thought),
        text("I look."),
        done(1, **message("I look.", "commentary")),
        done(2, **call),
        completed(),
    )
    kept = (
        thought,
        {"type": "message", "length": 7, "phase": "commentary"},
        {"type": "function_call"},
    )
    assert said.state == ProviderState("openai-responses", "m-1", kept)
    assert (said.calls, said.stop) == ((Call("c", "a"),), "tool_calls")


def test_reasoning_that_cannot_go_back_is_not_kept() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    assert answer("openai", done(0, **thought), text("Hi."), completed()).state is None


def test_a_server_that_says_everything_at_the_end() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"}
    events = hear("openai", http(sse(completed(output=[message("Hi."), call]))))
    assert events == [
        TextDelta("Hi."),
        Completed("Hi.", calls=(Call("c", "a"),), stop="tool_calls"),
    ]


@pytest.mark.parametrize(
    ("reason", "stop"), [("max_output_tokens", "length"), ("content_filter", "content_filter")]
)
def test_an_incomplete_response(reason, stop) -> None:
    added = {"type": "function_call", "call_id": "c", "name": "a", "arguments": ""}
    piece = {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"x'}
    said = answer(
        "openai",
        text("Hi."),
        {"type": "response.output_item.added", "output_index": 1, "item": added},
        piece,
        completed("incomplete", incomplete_details={"reason": reason}),
    )
    assert (said.stop, said.calls) == (stop, (Call("c", "a", malformed='{"x'),))


def test_a_refusal_of_responses() -> None:
    said = answer("openai", {"type": "response.refusal.delta", "delta": "No."}, completed())
    assert (said.text, said.stop) == ("No.", "refusal")


def test_summaries_of_reasoning_are_paragraphs() -> None:
    def part(index: int, said: str) -> list[dict[str, Any]]:
        name = "response.reasoning_summary"
        return [
            {"type": f"{name}_part.added", "summary_index": index},
            {"type": f"{name}_text.delta", "summary_index": index, "delta": said},
        ]

    said = answer("openai", *part(0, "One."), *part(1, "Two."), text("Hi."), completed())
    assert said.reasoning == "One.\n\nTwo."


# --- Anthropic --------------------------------------------------------------------------------


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    grown = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *grown,
        {"type": "content_block_stop", "index": index},
    ]


def ending(reason: str, **usage: Any) -> list[dict[str, Any]]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def say(said: str) -> dict[str, Any]:
    return {"type": "text_delta", "text": said}


def test_signed_thinking_is_kept_in_its_place() -> None:
    said = answer(
        "anthropic",
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Hmm"},
            {"type": "signature_delta", "signature": "c2ln"},
        ),
        *block(1, {"type": "redacted_thinking", "data": "zzz"}),
        *block(2, {"type": "text", "text": ""}, say("Hi.")),
        *block(3, {"type": "tool_use", "id": "t", "name": "a", "input": {}}),
        *ending("tool_use"),
    )
    assert said.state is not None
    assert [part["type"] for part in said.state.items] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
    ]
    assert said.state.items[0]["signature"] == "c2ln"
    assert (said.reasoning, said.calls) == ("Hmm", (Call("t", "a"),))


def test_counts_of_anthropic_are_put_together() -> None:
    first = {"input_tokens": 10, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 5}
    said = answer(
        "anthropic",
        {"type": "message_start", "message": {"usage": {**first, "output_tokens": 1}}},
        {"type": "ping"},
        *block(0, {"type": "text", "text": "H"}, say("i.")),
        *ending("end_turn", output_tokens=7, output_tokens_details={"thinking_tokens": 2}),
    )
    assert (said.text, said.tokens) == ("Hi.", Tokens(45, 30, 7, 2, written=5))


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("pause_turn", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
    ],
)
def test_stop_reasons_of_anthropic(reason, stop) -> None:
    hi = block(0, {"type": "text", "text": ""}, say("Hi."))
    assert answer("anthropic", *hi, *ending(reason)).stop == stop


# --- Gemini -----------------------------------------------------------------------------------


def parts(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": given}, **more}]}


def test_signatures_of_thoughts_are_kept_in_their_place() -> None:
    call = {"functionCall": {"name": "a", "args": {"x": 1}}}
    events = hear(
        "gemini",
        http(
            sse(
                parts({"text": "Hm.", "thought": True}, {"text": "I "}),
                parts({"text": "look."}),
                parts(call | {"thoughtSignature": "c2ln"}, call),
                parts({"text": "", "thoughtSignature": "ZW5k"}, finishReason="STOP"),
            ).replace(b"\n", b"\r\n")
        ),
    )
    assert events[:-1] == [ThoughtDelta("Hm."), TextDelta("I "), TextDelta("look.")]
    said = events[-1]
    assert isinstance(said, Completed)
    assert said.state == ProviderState(
        "gemini",
        "m-1",
        (
            {"type": "text", "length": 7},
            {"type": "call", "length": 0, "signature": "c2ln"},
            {"type": "call", "length": 0},
            {"type": "text", "length": 0, "signature": "ZW5k"},
        ),
    )
    assert [call.id for call in said.calls] == ["", ""]  # Gemini gave none


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("STOP", "end"), ("MAX_TOKENS", "length"), ("SAFETY", "content_filter"), ("OTHER", "end")],
)
def test_stop_reasons_of_gemini(reason, stop) -> None:
    assert answer("gemini", parts({"text": "Hi."}, finishReason=reason)).stop == stop


@pytest.mark.parametrize(
    ("event", "kind", "why"),
    [
        (
            {"promptFeedback": {"blockReason": "SAFETY"}},
            "refusal",
            "The prompt was blocked: SAFETY.",
        ),
        (
            {"candidates": [{"finishReason": "SAFETY"}]},
            "refusal",
            "Gemini ended the answer: SAFETY.",
        ),
        (
            {
                "candidates": [
                    {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed: x("}
                ]
            },
            "empty",
            "Malformed: x(",
        ),
    ],
)
def test_an_answer_that_was_stopped(event, kind, why) -> None:
    with pytest.raises(DriverProblem) as caught:
        answer("gemini", event)
    assert (caught.value.kind, caught.value.why) == (kind, why)


# --- all --------------------------------------------------------------------------------------

REFUSALS: dict[str, list[Any]] = {
    "openai": [completed("incomplete", incomplete_details={"reason": "content_filter"})],
    "openai-chat": [{"choices": [{"delta": {}, "finish_reason": "content_filter"}]}, "[DONE]"],
    "anthropic": ending("refusal"),
    "gemini": [parts(finishReason="PROHIBITED_CONTENT")],
}
LIMITS: dict[str, list[Any]] = {
    "openai": [completed("incomplete", incomplete_details={"reason": "max_output_tokens"})],
    "openai-chat": [{"choices": [{"delta": {}, "finish_reason": "length"}]}, "[DONE]"],
    "anthropic": ending("max_tokens"),
    "gemini": [parts(finishReason="MAX_TOKENS")],
}


def test_a_refusal_without_words(wire) -> None:
    with pytest.raises(DriverProblem) as caught:
        answer(wire, *REFUSALS[wire])
    assert (caught.value.kind, caught.value.retryable) == ("refusal", False)


def test_a_limit_that_leaves_nothing(wire) -> None:
    with pytest.raises(DriverProblem) as caught:
        answer(wire, *LIMITS[wire])
    assert (caught.value.kind, caught.value.retryable) == ("empty", False)
    assert "max_output" in caught.value.try_this
