"""What a machine offers to think with: keys, servers on loopback, programs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from msgspec.structs import replace

from steersman.intelligence.configured import OURS
from steersman.intelligence.discovery import PROGRAMS, Found, look, offers, servers
from steersman.intelligence.providers import providers


@contextmanager
def serving(body: bytes, status: int = 200) -> Iterator[int]:
    """A server on loopback that has one answer; gives its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def seen(environ=None, *servers, logins=()):
    return look({"PATH": "", **(environ or {})}, servers, logins)


def at(port, provider="vllm"):
    """A kind of server, expected on a port."""
    (kind,) = (one for one in servers() if one.provider == provider)
    return replace(kind, port=port)


@pytest.mark.parametrize(
    ("variable", "name", "provider"),
    [
        ("OPENAI_API_KEY", "OpenAI", "openai"),
        ("ANTHROPIC_API_KEY", "Anthropic", "anthropic"),
        ("ANTHROPIC_AUTH_TOKEN", "Anthropic", "anthropic"),
        ("GEMINI_API_KEY", "Gemini", "gemini"),
        ("GOOGLE_API_KEY", "Gemini", "gemini"),
        ("OPENROUTER_API_KEY", "OpenRouter", "openrouter"),
    ],
)
def test_a_key_is_seen_and_not_told(variable, name, provider):
    (found,) = seen({variable: "sk-very-secret"})

    assert (found.kind, found.name, found.detail) == ("key", name, f"{variable} is set")
    assert found.command.startswith(f"steer --model {provider}:")
    assert "secret" not in str(found)


def test_ollama_and_its_models():
    tags = {"models": [{"name": "qwen3:8b"}, {"name": "llama3.3"}]}
    with serving(json.dumps(tags).encode()) as port:
        (found,) = seen(None, at(port, "ollama"))

    assert found == Found(
        "server",
        "Ollama",
        f"127.0.0.1:{port}: qwen3:8b, llama3.3",
        "ollama",
        ("ollama:qwen3:8b", "ollama:llama3.3"),
    )


@pytest.mark.parametrize(("host", "count"), [("127.0.0.1:{}", 1), ("192.0.2.1:{}", 0), ("::::", 0)])
def test_ollama_elsewhere_is_looked_for_on_this_machine_only(host, count):
    with serving(b'{"models": [{"name": "qwen3"}]}') as port:
        found = seen({"OLLAMA_HOST": host.format(port)}, at(1, "ollama"))

    assert len(found) == count


def test_any_other_server_has_a_name_of_its_own():
    listed = {"data": [{"id": f"m-{n}"} for n in range(5)]}
    with serving(json.dumps(listed).encode()) as port:
        (found,) = seen(None, at(port, "lm-studio"))

    assert found.detail == f"127.0.0.1:{port}: m-0, m-1, m-2 and 2 more"
    assert found.command == "steer --model lm-studio:m-0"


@pytest.mark.parametrize(("owner", "name"), [("llamacpp", "llama.cpp"), ("x", "MLX")])
def test_servers_that_share_a_port_are_told_apart_by_what_they_list(owner, name):
    with serving(json.dumps({"data": [{"id": "m", "owned_by": owner}]}).encode()) as port:
        found = seen(None, at(port, "llama-cpp"), at(port, "mlx"))

    assert [one.name for one in found] == [name]


def test_a_login_is_found_like_a_key_and_a_variable_counts_more():
    (found,) = seen(None, logins=("anthropic",))
    assert (found.provider, found.detail) == ("anthropic", "you are logged in")
    (found,) = seen({"ANTHROPIC_API_KEY": "k"}, logins=("anthropic",))
    assert found.detail == "ANTHROPIC_API_KEY is set"


def test_the_names_in_the_code_are_those_of_the_file():
    assert tuple(providers()) == OURS
    assert {one.port for one in providers().values() if one.local} == {11434, 1234, 8080, 8000}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>", 200),
        (b"[]", 200),
        (b'{"data": 5}', 200),
        (b'{"data": []}', 404),
        (b"\xff", 200),
    ],
)
def test_a_server_that_is_something_else_is_not_one(body, status):
    with serving(body, status) as port:
        assert seen(None, at(port)) == []


def test_a_server_without_models_is_no_offer():
    with serving(b'{"data": []}') as port:
        found = seen(None, at(port))

    assert [(one.name, one.command) for one in found] == [("vLLM", "")]
    assert offers(found) == "No API key and no model server was found on this machine."


def test_programs_on_the_path(tmp_path):
    for name in ("codex", "aider", "unrelated"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)

    found = seen({"PATH": str(tmp_path)})

    assert [(one.kind, one.name) for one in found] == [("program", "codex"), ("program", "aider")]
    assert {"codex", "claude", "gemini", "aider", "pi", "opencode"} == set(PROGRAMS)


def test_nobody_there_is_nothing_found_and_that_is_told():
    with serving(b"") as port:
        pass
    assert seen(None, at(port)) == []
    offered = offers(seen({"OPENAI_API_KEY": "k"}))
    assert offered.startswith("Found: OpenAI (steer --model openai:")
