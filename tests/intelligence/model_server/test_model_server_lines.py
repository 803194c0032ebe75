"""The HTTP side: kept connections, odd but legal requests, the log, the command itself."""

import json
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steersman.ports.cli.model_server import command
from steersman.records.errors import ScriptProblem, SteersmanError, UsageProblem

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "go"}]}).encode()
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
REQUEST = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


@contextmanager
def line(stage: Any) -> Any:
    host, port = stage.url.removeprefix("http://").split(":")
    with (
        socket.create_connection((host, int(port)), timeout=20) as raw,
        raw.makefile("rwb", buffering=0) as file,
    ):
        yield file


def reply(file: Any) -> tuple[int, dict[str, str], bytes]:
    status = int(file.readline().split()[1])
    headers = {}
    while (text := file.readline().strip()) != b"":
        name, _, value = text.decode().partition(": ")
        headers[name.lower()] = value
    body = b""
    while len(body) < int(headers.get("content-length", 0)):
        body += file.read(int(headers["content-length"]) - len(body))
    return status, headers, body


def said(file: Any) -> str:
    status, _, body = reply(file)
    assert status == 200
    return str(json.loads(body)["choices"][0]["message"]["content"])


def test_a_connection_is_kept_and_requests_may_come_together(stage) -> None:
    stage.play({"text": "Done."})
    with line(stage) as file:
        file.write(REQUEST)
        assert said(file) == "Done."
        file.write(REQUEST + REQUEST)
        assert [said(file), said(file)] == ["Done.", "Done."]


def test_a_client_may_wish_to_close(stage) -> None:
    stage.play({"text": "Done."})
    with line(stage) as file:
        file.write(REQUEST.replace(b"Host: x", b"Host: x\r\nConnection: close"))
        assert said(file) == "Done."
        assert file.read() == b""


def test_a_body_may_come_in_chunks_after_a_go_ahead(stage) -> None:
    stage.play({"text": "Done."})
    with line(stage) as file:
        file.write(HEAD + b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")
        assert reply(file)[0] == 100
        file.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY))
        assert said(file) == "Done."


def test_a_head_request_has_no_body(stage) -> None:
    stage.play({"text": "Done."})
    with line(stage) as file:
        file.write(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert file.readline().startswith(b"HTTP/1.1 404")
        while file.readline().strip():
            pass
        file.write(REQUEST)
        assert said(file) == "Done."


@pytest.mark.parametrize(
    ("sent", "status"), [(b"nonsense\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n\r\n", 400)]
)
def test_what_is_no_http_is_refused(stage, sent, status) -> None:
    stage.play({"text": "Done."})
    with line(stage) as file:
        file.write(sent)
        refused, _, body = reply(file)
        assert (refused, "error" in json.loads(body)) == (status, True)
        assert file.read() == b""


def test_a_request_that_is_too_large(stage, monkeypatch) -> None:
    monkeypatch.setattr("steersman.intelligence.scripted.server.LARGEST_BODY", 10)
    stage.play({"text": "Done."})
    with line(stage) as file:
        file.write(REQUEST)
        assert reply(file)[0] == 413


def test_the_log_has_every_request_and_no_secret(stage, http, clients) -> None:
    stage.play({"text": "Done."})
    contents = {"contents": [{"parts": [{"text": "go"}]}]}
    path = "/v1beta/models/m:streamGenerateContent"
    http("POST", f"{path}?alt=sse&key=SECRET", contents, {"x-goog-api-key": "SECRET"})
    http("GET", "/v1/models", None, {"x-api-key": "SECRET"})
    http("POST", "/v1/responses", b"{oh no", {"authorization": "Bearer SECRET"})
    clients["anthropic"].ask(["go"], stream=False, tools=False)
    assert "SECRET" not in json.dumps(stage.log)
    shown = [
        {name: line[name] for name in line if name not in ("time", "body")} for line in stage.log
    ]
    blank = {"model": None, "stream": None, "turn": None, "problem": None}
    assert shown == [
        {"method": "POST", "path": f"{path}?alt=sse", "wire": "gemini", "model": "m",
         "stream": True, "turn": 1, "status": 200, "problem": None},
        {"method": "GET", "path": "/v1/models", "wire": "anthropic", **blank, "status": 200},
        {"method": "POST", "path": "/v1/responses", "wire": "responses", **blank, "status": 400},
        {"method": "POST", "path": "/v1/messages", "wire": "anthropic", "model": "scripted",
         "stream": False, "turn": 1, "status": 200, "problem": None},
    ]  # fmt: skip
    bodies = [line["body"] for line in stage.log]
    assert bodies[:3] == [contents, None, "{oh no"]
    assert bodies[3]["messages"] == [{"role": "user", "content": "go"}]


RUN = "from steersman.ports.cli.model_server import command; command()"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "script.json"
    file.write_text('{"turns": [{"do": "shell", "command": "ls"}, {"text": "Done."}]}')
    return file


def started(*arguments: Any) -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", RUN, *map(str, arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_told_to_end(script, tmp_path, number) -> None:
    log = tmp_path / "log.jsonl"
    process = started(script, "--log", log)
    try:
        said = process.stdout.readline()
        assert said.startswith("listening on http://127.0.0.1:")
        assert said.endswith(f" (scripted: {script})\n")
        host, port = said.split()[2].removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as raw:
            body = json.dumps({"model": "m", "input": "go", "tools": [{"type": "paint"}]}).encode()
            raw.sendall(b"POST /v1/responses HTTP/1.1\r\nHost: x\r\n")
            raw.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            assert raw.recv(12) == b"HTTP/1.1 400"
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (0, "")
    assert err.startswith("No advertised tool can do the step “shell”.\nThe client offers: paint.")
    assert [json.loads(line)["status"] for line in log.read_text().splitlines()] == [400]


def test_the_command_can_speak_json(script) -> None:
    process = started(script, "--json", "--host", "127.0.0.1", "--port", "0")
    try:
        said = json.loads(process.stdout.readline())
        process.terminate()
        process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert said["event"] == "listening"
    assert said["url"].startswith("http://127.0.0.1:")
    assert process.returncode == 0


def failing(*arguments: Any) -> None:
    command.main([str(word) for word in arguments], standalone_mode=False)


def test_a_missing_or_broken_script(tmp_path) -> None:
    with pytest.raises(ScriptProblem, match="cannot be read"):
        failing(tmp_path / "none.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(ScriptProblem, match="not a valid script"):
        failing(broken)


def test_a_port_in_use(script) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SteersmanError) as caught:
            failing(script, "--port", port)
    assert caught.value.what == f"The model server cannot listen on 127.0.0.1:{port}."
    assert caught.value.why == "Another program uses this port."
    assert "--port 0" in caught.value.try_this


def test_an_address_of_another_machine(script) -> None:
    with pytest.raises(SteersmanError, match="cannot listen") as caught:
        failing(script, "--host", "192.0.2.1")
    assert "--host 127.0.0.1" in caught.value.try_this


def test_a_log_that_cannot_be_written(script, tmp_path) -> None:
    with pytest.raises(UsageProblem, match="cannot be written"):
        failing(script, "--log", tmp_path / "none" / "log.jsonl")


def test_without_h11_the_command_says_what_to_install(script, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "h11", None)
    monkeypatch.delitem(sys.modules, "steersman.intelligence.scripted.server")
    with pytest.raises(SteersmanError) as caught:
        failing(script)
    assert "steersman[model-server]" in caught.value.try_this


def test_the_command_imports_nothing_heavy() -> None:
    code = (
        "import sys; import steersman.ports.cli.model_server; "
        "print([m for m in ('asyncio', 'h11', 'msgspec') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
