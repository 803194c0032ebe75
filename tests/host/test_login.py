"""Logging in: lists of models, names for servers, what is offered, and keys that come later."""

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.host.catalogue import ordered
from steersman.host.login import listed, server
from steersman.identity.logins import Logins
from steersman.intelligence.discovery import Found
from steersman.intelligence.listing import named
from steersman.intelligence.table import table
from steersman.operations.mcp.tokens import SignIn, SignIns
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server
from steersman.records.settings import Settings
from steersman.views.beginning import rows, told


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b'{"data": [{"id": "a"}, {"id": "b"}]}', ["a", "b"]),
        (b'{"models": [{"name": "models/g"}]}', ["g"]),
        (b'{"models": [{"name": "models/e", "supportedGenerationMethods": ["embed"]}]}', []),
        (b'{"data": [{"id": 5}, 7, {"id": "a\\u001b"}]}', []),
        (b'{"data": {}}', None),
        (b"<html>", None),
        (b"\xff", None),
    ],
)
def test_a_list_of_models_is_read_in_every_form(body, names):
    assert named(body) == names


def test_the_recommended_model_or_a_release_of_it_is_first():
    best = table().recommended["anthropic"]
    assert ordered("anthropic", ("x", f"{best}-20990101", best)) == (best, "x", f"{best}-20990101")
    assert ordered("anthropic", ("x", f"{best}-20990101"))[0] == f"{best}-20990101"
    assert ordered("lab", ("x", "y")) == ("x", "y")


@pytest.mark.parametrize(
    ("url", "name", "found"),
    [
        ("https://api.models.example/v1/", "", ("models", "https://api.models.example/v1")),
        ("models.example", "", ("models", "https://models.example")),
        ("http://127.0.0.1:9/v1", "", ("local", "http://127.0.0.1:9/v1")),
        ("127.0.0.1:9/v1", "", ("local", "http://127.0.0.1:9/v1")),
        ("localhost:9", "", ("local", "http://localhost:9")),
        ("[::1]:9", "", ("local", "http://[::1]:9")),
        ("192.168.1.7:9", "", ("local", "https://192.168.1.7:9")),
        ("gpu:9/v1", "", ("gpu", "https://gpu:9/v1")),
        ("box.local/v1", "", ("box", "https://box.local/v1")),
        ("8.8.8.8", "", ("local", "https://8.8.8.8")),
        ("http://openai:9/v1", "", ("server", "http://openai:9/v1")),
        ("http://gpu:9/v1", "", ("gpu", "http://gpu:9/v1")),
        ("http://gpu:9/v1", "lab", ("lab", "http://gpu:9/v1")),
    ],
)
def test_a_server_is_named_after_its_host(url, name, found):
    account = server(url, name)
    assert (account.provider, account.url) == found


def test_a_server_without_a_path_is_looked_at_under_v1_too(environ):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            found = self.path == "/v1/models"
            body = b'{"data": [{"id": "a"}]}' if found else b"{}"
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            account = server(f"127.0.0.1:{served.server_port}")
            found, names = asyncio.run(listed(account, environ))
        finally:
            served.shutdown()
            thread.join()
    assert (found.url, names) == (f"{account.url}/v1", ("a",))


@pytest.mark.parametrize(
    ("url", "name"),
    [("ftp://x", ""), ("http://", ""), ("http://[", ""), ("http://x", "openai"), ("//x", "A b")],
)
def test_what_cannot_be_a_server_is_refused(url, name):
    with pytest.raises(UsageProblem):
        server(url, name)


def test_what_was_found_is_offered_before_logging_in_and_the_demo():
    ollama = Found("server", "Ollama", "127.0.0.1:1: a", "ollama", ("ollama:a", "ollama:b"))
    codex = Found("program", "codex", "/bin/codex")

    assert [row.key for row in rows([ollama, codex])] == ["ollama:a", "ollama:b", "login", "demo"]
    assert "found codex" in rows([codex])[0].detail
    text = told([ollama, codex])
    for line in ("steer --model ollama:a", "codex, /bin/codex", "steer login", "steer demo"):
        assert line in text


def test_a_key_that_another_process_logs_in_with_is_masked_in_an_open_thread(
    environ, workspace, script
):
    home = Path(environ["STEERSMAN_HOME"])
    keys = ["-".join(["plain", "words", "of", number]) for number in ("one", "two")]
    model = script({"text": "Hello."}, {"text": f"I know {keys[0]} and {keys[1]}."})

    async def scene():
        async with Host.at(home, environ) as host:
            settings = Settings(model=model, approvals="never")
            thread = await host.start(str(workspace), "a task", settings)
            await thread.send("hello")
            await thread.wait()
            Logins(home).keep("openai", "https://api.openai.com/v1", keys[0])
            tracker = Server("tracker", "http", url="https://mcp.example.org")
            SignIns(home / "mcp").keep(tracker, SignIn({"access_token": keys[1]}))
            await thread.send("what do you know?")
            await thread.wait()
            return [m.body.text for m in host.messages(thread.id) if m.kind == "assistant"]

    assert asyncio.run(scene()) == ["Hello.", "I know [redacted] and [redacted]."]
