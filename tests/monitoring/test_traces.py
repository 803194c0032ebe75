"""Turns as traces of OpenTelemetry: made from the log, and sent to a collector of ten lines."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from steersman.monitoring.traces import trace_of
from steersman.records.clock import now
from steersman.records.message import Body, Message, ToolCall, TurnEnd, TurnStart, UsageReport
from tests.cli.kit import DONE, FIX, READ, shell

SECRET_WORDS = "mend the add function"


class Collector:
    """A collector: what it was sent, and by which requests."""

    def __init__(self, status: int = 200) -> None:
        taken: list[tuple[str, dict[str, str], Any]] = []

        class Taking(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                named = {name.lower(): value for name, value in self.headers.items()}
                taken.append((self.path, named, json.loads(body)))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.taken = taken
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def spans(self) -> list[dict[str, Any]]:
        """All spans, with plain attributes."""
        return [
            {**span, "attributes": {one["key"]: plain(one["value"]) for one in span["attributes"]}}
            for _, _, sent in self.taken
            for resource in sent["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()


def plain(value: dict[str, Any]) -> Any:
    """A value without its type."""
    ((kind, found),) = value.items()
    if kind == "arrayValue":
        return [plain(one) for one in found["values"]]
    return int(found) if kind == "intValue" else found


@pytest.fixture
def collector() -> Iterator[Collector]:
    """One that takes everything."""
    made = Collector()
    yield made
    made.close()


def configured(environ: dict[str, str], *lines: str) -> None:
    """Write a person's settings."""
    folder = Path(environ["HOME"]) / ".config" / "steersman"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text("\n".join(lines) + "\n")


def test_a_turn_is_one_trace_of_requests_and_calls(steer, environ, script, collector):
    configured(environ, f'otel = "{collector.url}"')
    work = [READ, FIX, shell("false")]
    model = script({"tool_calls": work}, DONE)

    steer("run", "--yes", "--model", model, SECRET_WORDS)

    ((path, headers, sent),) = collector.taken
    assert (path, headers["content-type"]) == ("/v1/traces", "application/json")
    about = sent["resourceSpans"][0]["resource"]["attributes"]
    assert {"key": "service.name", "value": {"stringValue": "steersman"}} in about
    root, *below = collector.spans()
    assert {one["traceId"] for one in (root, *below)} == {root["traceId"]}
    assert (len(root["traceId"]), len(root["spanId"])) == (32, 16)
    assert {one["parentSpanId"] for one in below} == {root["spanId"]}
    assert len({one["spanId"] for one in (root, *below)}) == 1 + len(below)
    name = Path(model.partition(":")[2]).name
    assert root["name"] == "invoke_agent steersman"
    assert sorted(one["name"].replace(model.partition(":")[2], name) for one in below) == [
        f"chat {name}",
        f"chat {name}",
        "execute_tool workspace_edit_files",
        "execute_tool workspace_read_file",
        "execute_tool workspace_run_command",
    ]
    assert root["attributes"]["steersman.ending"] == "done"
    assert len(root["attributes"]["gen_ai.conversation.id"]) == 10
    for one in below:
        told = one["attributes"]
        assert one["startTimeUnixNano"] <= one["endTimeUnixNano"]
        if one["name"].startswith("chat"):
            assert (one["kind"], told["gen_ai.provider.name"]) == (3, "scripted")
            assert told["gen_ai.operation.name"] == "chat"
            assert told["gen_ai.usage.input_tokens"] >= 0
            assert len(told["gen_ai.response.finish_reasons"]) == 1
        else:
            assert told["gen_ai.operation.name"] == "execute_tool"
            assert one["name"] == f"execute_tool {told['gen_ai.tool.name']}"
            assert told["gen_ai.tool.call.id"]
            assert "gen_ai.tool.call.arguments" not in told
    assert SECRET_WORDS not in json.dumps(sent)
    assert "calc.py" not in json.dumps(sent)


def test_what_was_said_is_sent_only_where_a_setting_says_so(steer, environ, script, collector):
    configured(environ, f'otel = "{collector.url}"', 'otel_content = "on"')
    steer("run", "--yes", "--model", script({"tool_calls": [READ]}, DONE), SECRET_WORDS)
    root, *below = collector.spans()
    (said,) = json.loads(root["attributes"]["gen_ai.input.messages"])
    assert said == {"role": "user", "parts": [{"type": "text", "content": SECRET_WORDS}]}
    (call,) = [one for one in below if "gen_ai.tool.name" in one["attributes"]]
    assert "calc.py" in call["attributes"]["gen_ai.tool.call.arguments"]
    assert "add" in call["attributes"]["gen_ai.tool.call.result"]


def test_a_call_that_was_denied_is_a_failed_span(steer, environ, script, collector):
    configured(environ, f'otel = "{collector.url}"')
    steer("run", "--model", script({"tool_calls": [shell("rm -rf /")]}, DONE), "go")
    (call,) = [one for one in collector.spans() if one["name"].startswith("execute_tool")]
    assert call["status"] == {"code": 2}
    assert call["attributes"]["error.type"] == call["attributes"]["steersman.status"] == "denied"


def test_the_usual_variables_count_only_where_it_is_on(steer, environ, script, collector):
    environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"{collector.url}/"
    environ["OTEL_EXPORTER_OTLP_HEADERS"] = "x-team=blue%20one,authorization=Bearer%20t"
    environ["OTEL_SERVICE_NAME"] = "night"
    steer("run", "--model", script(DONE), "go")
    assert collector.taken == []
    configured(environ, 'otel = "on"')
    steer("run", "--model", script(DONE), "go")
    ((path, headers, sent),) = collector.taken
    assert path == "/v1/traces"
    assert (headers["x-team"], headers["authorization"]) == ("blue one", "Bearer t")
    about = sent["resourceSpans"][0]["resource"]["attributes"]
    assert {"key": "service.name", "value": {"stringValue": "night"}} in about


def test_neither_a_folder_nor_a_variable_says_where_traces_go(
    steer, environ, script, collector, workspace
):
    environ["STEERSMAN_OTEL"] = collector.url
    own = workspace / ".steersman"
    own.mkdir()
    (own / "config.toml").write_text(f'otel = "{collector.url}"\n')
    steer("run", "--model", script(DONE), "go")
    assert collector.taken == []


def test_a_collector_that_never_answers_is_left(steer, environ, script):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        configured(environ, f'otel = "{url}"')
        done = steer("run", "--model", script(DONE), "go")
    assert done.returncode == 0
    assert f"Traces cannot be sent to {url}/v1/traces: it did not answer in time." in done.stderr


@pytest.mark.parametrize("where", ["nobody", "refusing"])
def test_a_collector_that_takes_nothing_costs_a_sentence(steer, environ, script, where):
    made = Collector(503)
    if where == "nobody":
        made.close()
    configured(environ, f'otel = "{made.url}"')
    done = steer("run", "--model", script(DONE), "go")
    assert done.returncode == 0
    assert done.stderr.count(f"Traces cannot be sent to {made.url}/v1/traces: ") == 1
    assert "Traceback" not in done.stderr
    if where == "refusing":
        made.close()


def logged(*bodies: Body) -> list[Message]:
    """A turn as it is in a log."""
    return [
        Message("k3v9x2m7qa", 5 + at, now(), 2, one.kind, "steersman", "call_1", one)
        for at, one in enumerate(bodies)
    ]


def test_a_turn_that_was_cut_off_has_what_the_log_has_of_it():
    turn = logged(
        TurnStart("code", "openai-chat:gpt"), ToolCall("web_fetch"), TurnEnd("interrupted")
    )
    found = trace_of(turn)
    assert found is not None
    assert [(one.name, one.error) for one in found.spans] == [
        ("invoke_agent steersman", "interrupted"),
        ("execute_tool web_fetch", "unfinished"),
    ]
    assert found.spans[0].attributes["gen_ai.provider.name"] == "openai"
    assert trace_of(turn) == found
    assert trace_of(turn[:2]) is trace_of(turn[1:]) is None


def test_a_request_beside_the_conversation_is_a_span_too():
    aside = UsageReport("gemini:flash", input=3, output=1, ms=250, aside=True)
    found = trace_of(logged(TurnStart(), aside, TurnEnd("done")))
    assert found is not None
    root, request = found.spans
    assert (request.name, request.parent) == ("chat flash", root.id)
    assert (request.end - request.start).total_seconds() == 0.25
    assert request.attributes["gen_ai.provider.name"] == "gcp.gemini"
    assert "gen_ai.response.finish_reasons" not in request.attributes


def test_only_an_address_is_set(steer):
    done = steer("config", "set", "otel", "collector")
    assert done.returncode == 2
    assert "“collector” is not the address of a collector." in done.stderr
    steer("config", "set", "otel", "https://collector.example:4318")
