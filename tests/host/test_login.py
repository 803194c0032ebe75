"""Logging in: lists of models, names for servers, what is offered, and keys that come later."""

import asyncio
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.host.catalogue import ordered
from steersman.host.login import server
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
        ("http://gpu:9/v1", "", ("gpu", "http://gpu:9/v1")),
        ("http://gpu:9/v1", "lab", ("lab", "http://gpu:9/v1")),
    ],
)
def test_a_server_is_named_after_its_host(url, name, found):
    account = server(url, name)
    assert (account.provider, account.url) == found


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
