"""Requests beside the conversation (titles, routers, counts), unmet expectations, bad requests."""

import json

import pytest

from tests.intelligence.model_server.model_clients import Results

READ = {"name": "read_file", "arguments": {"path": "calc.py"}}
SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "new": {"type": "boolean"}},
    "required": ["title", "new"],
    "additionalProperties": False,
}
SAID = [{"role": "user", "content": "go"}]
CONTENTS = [{"role": "user", "parts": [{"text": "go"}]}]


def test_a_request_without_tools_gets_filler_for_a_turn_that_calls(stage, client, stream) -> None:
    stage.play({"text": "Looking.", "tool_calls": [READ]}, {"text": "Done."})
    heard = client.ask(["a title, please"], stream=stream, tools=False)
    assert (heard.text, heard.calls) == ("A scripted conversation", [])
    assert stage.log[0]["turn"] is None
    assert client.ask(["go"], stream=stream).arguments == [("read_file", READ["arguments"])]


def test_a_request_without_tools_gets_the_text_of_a_turn_that_only_talks(
    stage, client, stream
) -> None:
    stage.play({"text": "One."}, {"text": "Two."})
    one = client.ask(["a"], stream=stream, tools=False)
    two = client.ask(["a", one, "b"], stream=stream, tools=False)
    assert (one.text, two.text) == ("One.", "Two.")


def test_a_request_without_tools_gets_what_the_script_says_aside(stage, client, stream) -> None:
    stage.play({"text": "One."}, aside="A title")
    heard = client.ask(["a title, please"], stream=stream, tools=False)
    assert (heard.text, stage.log[0]["turn"]) == ("A title", None)
    assert client.ask(["go"], stream=stream).text == "One."


def test_a_request_for_a_schema_gets_a_value_that_fits_it(stage, client, stream) -> None:
    stage.play({"error": {"status": 500}, "text": "Done."})
    heard = client.ask(["go"], stream=stream, tools=False, schema=SCHEMA)
    assert json.loads(heard.text) == {"title": "scripted", "new": False}


def test_with_tools_and_a_schema_the_script_goes_on(stage, client, stream) -> None:
    stage.play({"text": '{"title": "mine", "new": true}'})
    heard = client.ask(["go"], stream=stream, schema=SCHEMA)
    assert heard.text == '{"title": "mine", "new": true}'


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        (
            "/v1/chat/completions",
            {"model": "m", "messages": SAID, "response_format": {"type": "json_object"}},
            lambda answer: answer["choices"][0]["message"]["content"],
        ),
        (
            "/v1/responses",
            {"model": "m", "input": "go", "text": {"format": {"type": "json_object"}}},
            lambda answer: answer["output"][0]["content"][0]["text"],
        ),
        (
            "/v1/messages",
            {"model": "m", "max_tokens": 9, "messages": SAID, "output_format": {"type": "json"}},
            lambda answer: answer["content"][0]["text"],
        ),
        (
            "/v1beta/models/m:generateContent",
            {"contents": CONTENTS, "generationConfig": {"responseMimeType": "application/json"}},
            lambda answer: answer["candidates"][0]["content"]["parts"][0]["text"],
        ),
    ],
)
def test_any_json_object_will_do(stage, http, path, body, said) -> None:
    stage.play({"text": "Done."})
    assert said(http("POST", path, body).json) == "{}"


def test_gemini_schemas_may_be_written_in_capitals(stage, http) -> None:
    stage.play({"text": "Done."})
    schema = {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}, "required": ["n"]}
    body = {"contents": CONTENTS, "generationConfig": {"responseSchema": schema}}
    answer = http("POST", "/v1beta/models/m:generateContent", body).json
    assert answer["candidates"][0]["content"]["parts"][0]["text"] == '{"n":0}'


def test_an_expectation_that_is_not_met(stage, client, stream) -> None:
    stage.play({"tool_calls": [READ]}, {"expect": "return a - b", "text": "Done."})
    first = client.ask(["go"], stream=stream)
    with pytest.raises(client.refused) as caught:
        client.ask(["go", first, Results(first, ["No such file."])], stream=stream)
    for sentence in ("expected 'return a - b'", "No such file.", "Fix the script"):
        assert sentence in str(caught.value)
        assert sentence in stage.complaints[0]
        assert sentence in stage.log[-1]["problem"]
    assert stage.log[-1]["status"] == 400


def test_a_script_that_is_over(stage, client, stream) -> None:
    stage.play({"tool_calls": [READ]})
    first = client.ask(["go"], stream=stream)
    with pytest.raises(client.refused, match="no turn"):
        client.ask(["go", first, Results(first, ["x"])], stream=stream)
    assert len(stage.complaints) == 1


def test_a_step_no_tool_can_do(stage, clients, stream) -> None:
    stage.play({"do": "shell", "command": "ls"})
    tool = {"type": "function", "name": "paint", "parameters": {}, "strict": False}
    with pytest.raises(clients["responses"].refused, match="paint"):
        clients["responses"].sdk.responses.create(
            model="m", input="go", tools=[tool], stream=stream
        )


def test_token_counts_use_nothing_up(stage, clients) -> None:
    stage.play({"error": {"status": 500}, "text": "Done."})
    words = "word " * 100
    said = [{"role": "user", "content": words}]
    counts = [
        clients["anthropic"].sdk.messages.count_tokens(model="m", messages=said).input_tokens,
        clients["gemini"].sdk.models.count_tokens(model="m", contents=words).total_tokens,
        clients["responses"].sdk.responses.input_tokens.count(model="m", input=words).input_tokens,
    ]
    assert all(125 <= count <= 200 for count in counts)


def test_the_list_of_models(stage, clients, http) -> None:
    stage.play({"text": "Done."})
    assert [model.id for model in clients["chat"].sdk.models.list()] == ["scripted"]
    assert [model.id for model in clients["anthropic"].sdk.models.list()] == ["scripted"]
    assert [model.name for model in clients["gemini"].sdk.models.list()] == ["models/scripted"]
    assert http("GET", "/models").json["data"][0]["id"] == "scripted"


OPENAI = {"authorization": "Bearer no-key"}
ANTHROPIC = {"anthropic-version": "2023-06-01", "x-api-key": "no-key"}
GOOGLE = {"x-goog-api-key": "no-key"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "where"),
    [
        ("POST", "/v1/embeddings", OPENAI, ("error", "code", "not_found")),
        ("GET", "/v1/messages", ANTHROPIC, ("error", "type", "not_found_error")),
        ("POST", "/v1beta/models/m:embedContent", GOOGLE, ("error", "status", "NOT_FOUND")),
        ("POST", "/v1beta/cachedContents", {}, ("error", "status", "NOT_FOUND")),
        ("POST", "/v1/models/m", {}, ("error", "code", "not_found")),
        ("GET", "/", {}, ("error", "code", "not_found")),
        ("GET", "//[", {}, ("error", "code", "not_found")),
    ],
)
def test_an_unknown_path(stage, http, method, path, headers, where) -> None:
    stage.play({"text": "Done."})
    reply = http(method, path, None, headers)
    outer, inner, value = where
    assert (reply.status, reply.json[outer][inner]) == (404, value)
    assert path in reply.json["error"]["message"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
    ],
)
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}", b'{"model": 3}', b'{"model": "\xff"}', b"[" * 100_000]
)
def test_a_malformed_request(stage, http, path, body) -> None:
    stage.play({"text": "Done."})
    reply = http("POST", path, body)
    assert (reply.status, reply.headers["content-type"]) == (400, "application/json")
    error = reply.json["error"]
    assert error["message"].startswith("The request cannot be read")
    if "v1beta" in path:
        assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    else:
        assert error["type"] == "invalid_request_error"


def test_fields_that_must_be_there(stage, http) -> None:
    stage.play({"text": "Done."})
    missing = http("POST", "/v1/messages", {"model": "m", "messages": SAID})
    assert (missing.status, "max_tokens" in missing.json["error"]["message"]) == (400, True)
    body = {"model": "m", "input": "go", "previous_response_id": "resp_1"}
    stored = http("POST", "/v1/responses", body)
    assert (stored.status, "whole input" in stored.json["error"]["message"]) == (400, True)


@pytest.mark.parametrize(
    "path",
    [
        "/chat/completions",
        "/v1/chat/completions",
        "/v1/v1/chat/completions",
        "//v1/chat/completions",
    ],
)
def test_base_urls_with_and_without_a_version(stage, http, path) -> None:
    stage.play({"text": "Done."})
    answer = http("POST", path, {"model": "m", "messages": SAID}).json
    assert answer["choices"][0]["message"]["content"] == "Done."
