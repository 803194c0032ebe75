"""What a client of each format gets to hear: words, thoughts, calls, the next turn, usage."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.intelligence.model_server.model_clients import Results

USAGE = {"input": 100, "cached": 40, "output": 30, "reasoning": 10}
READ = {"name": "read_file", "arguments": {"path": "calc.py"}}
RUN = {"name": "run_shell_command", "arguments": {"command": "ls"}}
STOPS = {
    "chat": ("stop", "tool_calls"),
    "responses": ("completed", "completed"),
    "anthropic": ("end_turn", "tool_use"),
    "gemini": ("STOP", "STOP"),
}


def test_text(stage, client, stream) -> None:
    stage.play({"text": "Done.", "chunk": 2, "usage": USAGE})
    heard = client.ask(["go"], stream=stream)
    assert (heard.text, heard.reasoning, heard.calls) == ("Done.", "", [])
    assert heard.usage == USAGE
    assert heard.stop == STOPS[client.wire][0]


def test_an_empty_answer(stage, client, stream) -> None:
    stage.play({"text": ""})
    heard = client.ask(["go"], stream=stream)
    assert (heard.text, heard.reasoning, heard.calls) == ("", "", [])


def test_reasoning(stage, client, stream) -> None:
    stage.play({"reasoning": "Think first.", "text": "Done.", "chunk": 4})
    heard = client.ask(["go"], stream=stream)
    assert (heard.reasoning, heard.text) == ("Think first.", "Done.")
    assert bool(heard.signature) == (client.wire == "anthropic")


def test_two_calls_in_one_turn_and_what_follows(stage, client, stream) -> None:
    stage.play(
        {"text": "Looking.", "tool_calls": [READ, RUN], "chunk": 3},
        {"expect": "return a - b", "text": "Done."},
    )
    first = client.ask(["go"], stream=stream)
    assert first.text == "Looking."
    assert first.arguments == [
        ("read_file", READ["arguments"]),
        ("run_shell_command", {"command": "ls"}),
    ]
    assert len({call[0] for call in first.calls}) == 2
    assert first.stop == STOPS[client.wire][1]
    second = client.ask(["go", first, Results(first, ["return a - b", "x"])], stream=stream)
    assert (second.text, second.calls) == ("Done.", [])


def test_abstract_steps_become_calls_of_advertised_tools(stage, client, stream) -> None:
    stage.play({"do": "read", "path": "a.py"}, {"do": "edit", "path": "a", "search": "b"}, {})
    first = client.ask(["go"], stream=stream)
    assert first.arguments == [("read_file", {"path": "a.py"})]
    second = client.ask(["go", first, Results(first, ["x"])], stream=stream)
    assert [name for name, _ in second.arguments] == ["run_shell_command"]


def test_each_prompt_has_its_segment_and_after_the_last_it_begins_again(
    stage, client, stream
) -> None:
    stage.play({"tool_calls": [READ]}, {"text": "One."}, {"text": "Two."})
    call = client.ask(["a"], stream=stream)
    one = client.ask(talk := ["a", call, Results(call, ["x"])], stream=stream)
    two = client.ask(talk := [*talk, one, "b"], stream=stream)
    again = client.ask([*talk, two, "c"], stream=stream)
    assert (one.text, two.text) == ("One.", "Two.")
    assert again.arguments == [("read_file", READ["arguments"])]


def test_words_beside_results_steer_and_do_not_ask_anew(stage, client, stream) -> None:
    stage.play({"tool_calls": [READ]}, {"tool_calls": [RUN]}, {"text": "Done."}, {"text": "No."})
    first = client.ask(["go"], stream=stream)
    talk = ["go", first, Results(first, ["x"], beside="and hurry")]
    second = client.ask(talk, stream=stream)
    third = client.ask([*talk, second, Results(second, ["y"])], stream=stream)
    assert third.text == "Done."


def test_usage_is_estimated_when_the_script_does_not_say(stage, client, stream) -> None:
    stage.play({"reasoning": "r" * 40, "text": "t" * 80})
    usage = client.ask(["go " * 100], stream=stream).usage
    assert usage["input"] > 75
    assert (usage["cached"], usage["output"], usage["reasoning"]) == (0, 30, 10)


def test_the_model_name_of_the_request_comes_back(stage, clients) -> None:
    stage.play({"text": "Hi."})
    chat, messages = clients["chat"].sdk, clients["anthropic"].sdk
    said = [{"role": "user", "content": "go"}]
    assert chat.chat.completions.create(model="m-1", messages=said).model == "m-1"
    assert chat.responses.create(model="m-2", input="go").model == "m-2"
    assert messages.messages.create(model="m-3", max_tokens=9, messages=said).model == "m-3"
    made = clients["gemini"].sdk.models.generate_content(model="m-4", contents="go")
    assert made.model_version == "m-4"


def test_ids_are_unique_and_look_like_the_providers(stage, clients) -> None:
    stage.play({"tool_calls": [READ]})
    starts = {"chat": "call_", "responses": "call_", "anthropic": "toolu_", "gemini": "call_"}
    for wire, start in starts.items():
        ids = [clients[wire].ask(["go"], stream=False).calls[0][0] for _ in range(2)]
        assert len(set(ids)) == 2
        assert all(name.startswith(start) for name in ids)


@pytest.mark.parametrize("raw", ['{"path": ', "not json", "[1, 2]"])
def test_arguments_given_as_text_are_sent_raw(stage, client, stream, raw) -> None:
    stage.play({"tool_calls": [{"name": "read_file", "arguments": raw}], "chunk": 2})
    said = client.ask(["go"], stream=stream).calls[0][2]
    text_on_the_wire = client.wire in ("chat", "responses") or (client.wire, stream) == (
        "anthropic",
        True,
    )
    assert said == raw if text_on_the_wire else json.loads(said) == {"_raw": raw}


def test_valid_arguments_given_as_text_keep_their_spaces(stage, clients, stream) -> None:
    raw = '{ "path" :  "a" }'
    stage.play({"tool_calls": [{"name": "read_file", "arguments": raw}]})
    assert clients["chat"].ask(["go"], stream=stream).calls[0][2] == raw
    assert clients["gemini"].ask(["go"], stream=stream).arguments == [("read_file", {"path": "a"})]


def test_the_stream_helpers_of_the_clients_agree(stage, clients) -> None:
    stage.play({"reasoning": "Think.", "text": "Looking.", "tool_calls": [READ, RUN], "chunk": 3})
    said = [{"role": "user", "content": "go"}]
    tools = [{"name": "read_file", "input_schema": {"type": "object"}}]
    sdk = clients["anthropic"].sdk
    with sdk.messages.stream(model="m", max_tokens=9, messages=said, tools=tools) as events:
        message = events.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[2].input == READ["arguments"]
    function = {"type": "function", "name": "read_file", "parameters": {}, "strict": False}
    with clients["responses"].sdk.responses.stream(
        model="m", input="go", tools=[function]
    ) as events:
        response = events.get_final_response()
    assert [item.type for item in response.output] == [
        "reasoning", "message", "function_call", "function_call",
    ]  # fmt: skip
    assert response.output_text == "Looking."


def test_a_tool_that_takes_text_is_called_with_text(stage, clients, stream) -> None:
    patch = "*** Begin Patch\n*** End Patch"
    stage.play({"tool_calls": [{"name": "apply_patch", "arguments": patch}], "chunk": 5})
    tools = [{"type": "custom", "name": "apply_patch"}]
    answer = clients["responses"].sdk.responses.create(
        model="m", input="go", tools=tools, stream=stream
    )
    if stream:
        events = list(answer)
        deltas = [e.delta for e in events if e.type == "response.custom_tool_call_input.delta"]
        assert "".join(deltas) == patch
        answer = events[-1].response
    assert (answer.output[0].type, answer.output[0].input) == ("custom_tool_call", patch)


def test_a_tool_of_a_namespace_is_called_with_it(stage, clients) -> None:
    stage.play({"tool_calls": [{"name": "post", "arguments": {}}, READ]})
    inner = {"type": "function", "name": "post", "parameters": {}, "strict": False}
    space = {"type": "namespace", "name": "board", "description": "cards", "tools": [inner]}
    create = clients["responses"].sdk.responses.create
    answer = create(model="m", input="go", tools=[space])
    assert [(item.name, item.namespace) for item in answer.output] == [
        ("post", "board"),
        (READ["name"], None),
    ]


def test_gemini_streams_one_json_array_without_sse(stage, http) -> None:
    stage.play({"text": "Done.", "chunk": 2})
    body = {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}
    reply = http("POST", "/v1beta/models/m:streamGenerateContent", body)
    chunks = json.loads(reply.body)
    texts = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in chunks]
    assert texts == ["Do", "ne", "."]
    assert chunks[-1]["candidates"][0]["finishReason"] == "STOP"
    assert reply.headers["content-type"] == "application/json"


def test_chat_streams_tell_usage_only_when_asked(stage, clients) -> None:
    stage.play({"text": "Done.", "usage": USAGE})
    said = [{"role": "user", "content": "go"}]
    chunks = clients["chat"].sdk.chat.completions.create(model="m", messages=said, stream=True)
    assert [chunk.usage for chunk in chunks if chunk.usage] == []


def test_line_ends_of_all_kinds_arrive(stage, client, stream) -> None:
    text = "a\nb\r\nc\x85d\u2028e\u2029f\\\u2028g\x0b\x0c\x1c"
    stage.play({"text": text, "reasoning": text})
    heard = client.ask(["go"], stream=stream)
    assert (heard.text, heard.reasoning) == (text, text)


words = st.text(st.characters(codec="utf-8"), max_size=40)
arguments = st.dictionaries(st.text(max_size=5), words | st.integers(-9, 9) | st.none(), max_size=3)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=words,
    reasoning=words,
    calls=st.lists(arguments, max_size=3),
    chunk=st.integers(0, 50),
)
def test_what_is_streamed_is_what_the_script_says(
    stage, client, text: str, reasoning: str, calls: list[dict[str, Any]], chunk: int
) -> None:
    scripted = [{"name": "read_file", "arguments": given} for given in calls]
    stage.play({"text": text, "reasoning": reasoning, "tool_calls": scripted, "chunk": chunk})
    heard = client.ask(["go"], stream=True)
    assert (heard.text, heard.reasoning) == (text, reasoning)
    assert heard.arguments == [("read_file", given) for given in calls]
