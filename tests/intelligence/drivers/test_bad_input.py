"""Wrong key, wrong name, no network, a proxy, an address that is no API: each its own sentence."""

import asyncio
import gzip
import socket
from collections.abc import Callable
from typing import Any

import pytest

from steersman.intelligence.drivers import open_endpoint
from steersman.intelligence.drivers.endpoint import endpoint_for
from steersman.intelligence.drivers.line import Cut, Late, LineError, Refused, Unreached
from steersman.intelligence.drivers.network import of_transport
from steersman.intelligence.drivers.problems import Where
from steersman.records.dialogue import Completed, Image, Prompt, UserItem
from steersman.records.errors import DriverProblem
from tests.intelligence.drivers.talking import WIRES, Talk, hear, http, loopback, sse

PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head></html>"
WHERE = Where("OpenAI", "m", "https://api.example/v1")


def problem(act: Callable[[], Any]) -> DriverProblem:
    with pytest.raises(DriverProblem) as caught:
        act()
    return caught.value


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (http(PAGE, "text/html; charset=utf-8"), "It answered with a web page."),
        (http(PAGE, "text/plain"), "a web page (“Welcome”)"),
        (http(PAGE, "text/html", "404 Not Found"), "status 404 and a web page (“Welcome”)"),
        (http(b'{"hello": 1}', "application/json"), 'begins with “{"hello": 1}”'),
        (http(b'{\n "hello": 1\n}\n', "application/json"), "begins with"),
        (http(b"", "text/plain", "405 Method Not Allowed"), "status 405 and nothing"),
        (http(b"", "text/html", "301 Moved", "location: https://x/"), "redirects to https://x/"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "does not speak HTTP"),
    ],
)
def test_an_address_that_is_no_api(wire, reply, why) -> None:
    told = problem(lambda: hear(wire, reply))
    assert (told.kind, told.retryable) == ("not_an_api", False)
    assert "is not an API of" in told.what
    assert why in told.why
    assert "base_url" in told.try_this


def test_an_error_in_place_of_a_stream(wire) -> None:
    body = b'{"error": {"message": "the engine is overloaded"}}'
    assert problem(lambda: hear(wire, http(body, "application/json"))).kind == "overloaded"


def test_nothing_at_all(wire) -> None:
    assert problem(lambda: hear(wire, http(b""))).kind == "dropped"
    assert problem(lambda: hear(wire, b"")).kind == "dropped"


def test_events_that_are_not_json(wire) -> None:
    told = problem(lambda: hear(wire, http(sse('{"choices": [}'))))
    assert (told.kind, told.retryable) == ("server", True)
    assert "cannot be read" in told.what
    assert '{"choices": [}' in told.why


def test_nobody_listens(wire) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    told = problem(Talk(f"http://127.0.0.1:{port}", wire).ask)
    assert (told.kind, told.retryable) == ("network", False)
    assert told.why == "Nothing is listening there."
    assert told.try_this.startswith("Start the model server")


def test_https_where_only_http_is_spoken(stage, wire) -> None:
    told = problem(Talk(stage.url.replace("http:", "https:"), wire).ask)
    assert told.kind == "not_an_api"
    assert "Try http://" in told.why


def chained(error: LineError, cause: BaseException) -> LineError:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "retryable", "words"),
    [
        (
            chained(Unreached("x"), socket.gaierror(socket.EAI_AGAIN, "temporary")),
            "network",
            True,
            "Names cannot be looked up",
        ),
        (
            chained(Unreached("x"), socket.gaierror(socket.EAI_NONAME, "unknown")),
            "network",
            False,
            "no host with this name",
        ),
        (
            chained(Unreached("x"), OSError(101, "Network is unreachable")),
            "network",
            True,
            "network is unreachable",
        ),
        (Late("x"), "timeout", True, "did not answer in time"),
        (Cut("reset"), "dropped", True, "reset"),
        (Cut(), "dropped", True, "The server closed the connection."),
        (Refused("403 Forbidden"), "network", False, "403 Forbidden"),
    ],
)
def test_no_network(error, kind, retryable, words) -> None:
    told = of_transport(WHERE, error, place="before the answer started", answered=False)
    assert (told.kind, told.retryable) == (kind, retryable)
    assert words in told.why


def behind_proxy(wire: str, reply: bytes, monkeypatch: Any, base: str) -> DriverProblem:
    async def listen() -> None:
        async with loopback(reply) as server:
            address = server.url.replace("//", "//user:secret@")
            monkeypatch.setenv("HTTP_PROXY", address)
            monkeypatch.setenv("HTTPS_PROXY", address)
            endpoint = endpoint_for(wire, {}, {"base_url": base, "key": "k"})
            driver = open_endpoint(wire, "m", endpoint)
            async for _ in driver.stream(Prompt("", (), [UserItem("go")])):
                pass

    told = problem(lambda: asyncio.run(listen()))
    assert "secret" not in str(told)
    return told


@pytest.mark.parametrize("base", ["http://models.example", "https://models.example"])
@pytest.mark.parametrize("wire", WIRES[:1])
def test_a_proxy_that_wants_a_password(wire, base, monkeypatch) -> None:
    wanted = http(b"", "text/plain", "407 Proxy Authentication Required")
    told = behind_proxy(wire, wanted, monkeypatch, base)
    assert (told.kind, told.retryable) == ("network", False)
    assert told.what.startswith("The proxy http://127.0.0.1:")
    assert "HTTPS_PROXY" in told.try_this


def test_a_proxy_that_is_not_there(monkeypatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
    told = problem(Talk("http://models.example", "openai").ask)
    assert told.kind == "network"
    assert f"through the proxy http://127.0.0.1:{port}" in told.what


def test_a_proxy_of_an_unknown_kind(monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://127.0.0.1:70")
    told = problem(Talk("http://models.example", "openai").ask)
    assert told.kind == "network"
    assert "gopher" in told.why


def test_no_proxy_stands_before_this_machine(stage, wire, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    stage.play({"text": "Done."})
    assert Talk(stage.url, wire).ask().text == "Done."


def test_an_image_for_a_model_that_cannot_see(wire) -> None:
    seen = Prompt("", (), [UserItem("look", images=(Image("image/png", "AA=="),))])
    told = problem(lambda: hear(wire, http(b""), prompt=seen, sees=False))
    assert (told.kind, told.retryable) == ("unsupported_image", False)
    assert told.what == "m-1 cannot see images."


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_reply_that_is_compressed_all_the_same(line_end) -> None:
    chunk = {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}
    body = gzip.compress(sse(chunk, "[DONE]").replace(b"\n", line_end.encode()))
    reply = http(body, "text/event-stream", "200 OK", "content-encoding: gzip")
    assert hear("openai-chat", reply)[-1] == Completed("hi")


ERRORS_IN_A_STREAM = {
    "openai": {
        "type": "response.failed",
        "response": {
            "status": "failed",
            "error": {"code": "rate_limit_exceeded", "message": "Please try again in 1.5s."},
        },
    },
    "openai-chat": {"error": {"message": "rate_limit: please try again in 1500ms", "code": 429}},
    "anthropic": {
        "type": "error",
        "error": {"type": "rate_limit_error", "message": "Try again in 1.5 s"},
    },
    "gemini": {
        "error": {
            "code": 429,
            "message": "Quota",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"@type": "RetryInfo", "retryDelay": "1.5s"}],
        }
    },
}


def test_an_error_within_a_stream(wire) -> None:
    told = problem(lambda: hear(wire, http(sse(ERRORS_IN_A_STREAM[wire]))))
    assert (told.kind, told.retryable, told.retry_after) == ("rate_limit", True, 1.5)


def test_an_event_of_the_type_error_of_responses() -> None:
    event = {"type": "error", "code": "server_error", "message": "oops", "param": None}
    told = problem(lambda: hear("openai", http(sse(event))))
    assert (told.kind, told.why) == ("server", "oops")
