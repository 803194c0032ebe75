"""What goes wrong on purpose, as the official clients see it."""

import socket
import struct
import time
from typing import Any

import pytest

from tests.intelligence.model_server.model_clients import Results

READ = {"name": "read_file", "arguments": {"path": "calc.py"}}


def lost_line(error: BaseException) -> bool:
    """Whether an error, or what caused it, says that the connection broke."""
    names = ("RemoteProtocolError", "ReadError", "APIConnectionError")
    seen: BaseException | None = error
    while seen is not None:
        if type(seen).__name__ in names:
            return True
        seen = seen.__cause__
    return False


def headers_of(error: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in error.response.headers.items()}


@pytest.mark.parametrize(
    ("status", "kind"), [(429, "rate_limited"), (401, "unauthorized"), (500, "broken")]
)
def test_an_error_has_the_right_class_and_comes_once(stage, client, stream, status, kind) -> None:
    stage.play({"error": {"status": status, "message": "scripted trouble"}, "text": "Done."})
    with pytest.raises(getattr(client, kind)) as caught:
        client.ask(["go"], stream=stream)
    assert "scripted trouble" in str(caught.value)
    seen = caught.value
    assert (seen.code if client.wire == "gemini" else seen.status_code) == status
    assert client.ask(["go"], stream=stream).text == "Done."


def test_an_error_says_when_to_try_again(stage, client, stream) -> None:
    stage.play({"error": {"status": 429, "retry_after": 2.5}, "text": "Done."})
    with pytest.raises(client.rate_limited) as caught:
        client.ask(["go"], stream=stream)
    assert headers_of(caught.value)["retry-after"] == "2.5"
    if client.wire in ("chat", "responses"):
        assert headers_of(caught.value)["retry-after-ms"] == "2500"
    if client.wire == "gemini":
        details = caught.value.details["error"]["details"]
        assert [detail["retryDelay"] for detail in details] == ["2.5s"]
        assert caught.value.status == "RESOURCE_EXHAUSTED"


def test_a_client_that_tries_again_gets_through(stage, client, stream, patient) -> None:
    stage.play({"error": {"status": 429, "retry_after": 0.01, "times": 2}}, {"text": "Done."})
    assert patient(2).ask(["go"], stream=stream).text == "Done."
    assert [line["status"] for line in stage.log] == [429, 429, 200]
    assert [line["turn"] for line in stage.log] == [1, 1, 2]


def test_an_error_uses_no_turn_up(stage, client, stream) -> None:
    stage.play({"tool_calls": [READ]}, {"error": {"status": 500}}, {"text": "Done."})
    first = client.ask(["go"], stream=stream)
    talk = ["go", first, Results(first, ["x"])]
    with pytest.raises(client.broken):
        client.ask(talk, stream=stream)
    assert client.ask(talk, stream=stream).text == "Done."


def test_a_script_of_nothing_but_an_error_stays_with_it(stage, client, stream) -> None:
    stage.play({"error": {"status": 401}})
    for _ in range(3):
        with pytest.raises(client.unauthorized):
            client.ask(["go"], stream=stream)


def test_streamed_or_not_each_sees_the_fault(stage, client) -> None:
    stage.play({"error": {"status": 500}, "text": "Done."})
    for stream in (False, True):
        with pytest.raises(client.broken):
            client.ask(["go"], stream=stream)
    assert client.ask(["go"], stream=False).text == "Done."


@pytest.mark.parametrize("chunk", [0, 3])
@pytest.mark.parametrize("drop", [True, 4, 1000])
def test_a_cut_line(stage, client, stream, drop, chunk) -> None:
    stage.play({"text": "0123456789", "drop": drop, "chunk": chunk})
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each client has its own class
        client.ask(["go"], stream=stream)
    assert lost_line(caught.value)
    assert client.ask(["go"], stream=stream).text == "0123456789"


@pytest.mark.parametrize(
    ("turn", "arrives"),
    [
        ({"drop": True}, "01234"),
        ({"drop": 3}, "012"),
        ({"drop": True, "chunk": 2}, "012345"),
        ({"drop": 3, "chunk": 2}, "0123"),
        ({"drop": 1000}, "0123456789"),
        ({"drop": 7, "reasoning": "abcdef", "chunk": 1}, "0"),
    ],
)
def test_a_stream_is_cut_where_the_script_says(stage, clients, turn, arrives) -> None:
    stage.play({"text": "0123456789", **turn})
    heard = ""

    def listen() -> None:
        nonlocal heard
        said = [{"role": "user", "content": "go"}]
        for chunk in clients["chat"].sdk.chat.completions.create(
            model="m", messages=said, stream=True
        ):
            heard += chunk.choices[0].delta.content or ""

    with pytest.raises(clients["chat"].lost):
        listen()
    assert heard == arrives


def test_a_call_can_be_cut_in_its_arguments(stage, clients) -> None:
    stage.play({"tool_calls": [READ], "drop": True})
    heard = ""

    def listen() -> None:
        nonlocal heard
        tool = {"type": "function", "name": "read_file", "parameters": {}, "strict": False}
        for event in clients["responses"].sdk.responses.create(
            model="m", input="go", tools=[tool], stream=True
        ):
            heard += getattr(event, "delta", "")

    with pytest.raises(clients["responses"].lost):
        listen()
    assert heard == '{"path":"'


def test_a_stall_and_a_delay_change_nothing_but_time(stage, client, stream) -> None:
    stage.play({"text": "0123456789", "delay_ms": 20, "stall_ms": 30, "chunk": 4})
    assert client.ask(["go"], stream=stream).text == "0123456789"


def test_a_stall_comes_in_the_middle(stage, clients) -> None:
    stage.play({"text": "0123456789", "stall_ms": 60_000})
    said = [{"role": "user", "content": "go"}]
    events = clients["anthropic"].sdk.messages.create(
        model="m", max_tokens=9, messages=said, stream=True
    )
    heard = ""
    for event in events:
        if event.type == "content_block_delta":
            heard += event.delta.text
            break
    assert heard == "01234"
    events.close()
    nothing_left_running(stage)


@pytest.mark.parametrize("wait", ["delay_ms", "stall_ms"])
@pytest.mark.parametrize("how", ["closes", "resets"])
def test_a_client_that_hangs_up_ends_its_answer(stage, wait, how) -> None:
    stage.play({"text": "Done.", wait: 60_000})
    body = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "go"}]}'
    host, port = stage.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
            % len(body)
            + body
        )
        until(lambda: stage.running_answers() == 1)
        if how == "resets":
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    nothing_left_running(stage)


def nothing_left_running(stage: Any) -> None:
    until(lambda: stage.running_answers() == 0)


def until(holds: Any) -> None:
    """Wait for a condition; only the far end of the wait is a failure."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
