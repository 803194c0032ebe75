"""Models that this machine offers: keys in the environment, model servers on loopback,
agent programs on the PATH. Nothing beyond loopback is asked, and no key is read, only seen.
"""

import http.client
import shutil
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from steersman.intelligence.drivers.endpoint import PROVIDERS, endpoint_for
from steersman.intelligence.table import table
from steersman.records.errors import UsageProblem

SECONDS = 0.5
MOST_BYTES = 1_000_000
SHOWN = 3


class Server(Struct, frozen=True):
    """A kind of model server: where it listens by default, and what shows its models."""

    name: str
    port: int
    path: str = "/v1/models"


SERVERS = (
    Server("Ollama", 11434, "/api/tags"),
    Server("llama.cpp", 8080),
    Server("vLLM", 8000),
    Server("LM Studio", 1234),
)
PROGRAMS = ("codex", "claude", "gemini", "aider", "pi", "opencode")


class Found(Struct, frozen=True, omit_defaults=True):
    """A model or an agent. `command` is how it is used, empty where this version cannot."""

    kind: Literal["key", "server", "program"]
    name: str
    detail: str
    command: str = ""
    models: tuple[str, ...] = ()
    settings: str = ""


def look(environ: Mapping[str, str], servers: Sequence[Server] = SERVERS) -> list[Found]:
    """Everything that was found, what works at once first."""
    near = [found for server in servers if (found := _near(server, environ))]
    with ThreadPoolExecutor(len(near) or 1) as pool:
        running = list(pool.map(_server, near))
    return [*_keys(environ), *(found for found in running if found), *_programs(environ)]


def offers(found: Iterable[Found]) -> str:
    """What was found, as a sentence for someone who chose nothing."""
    usable = [one for one in found if one.command]
    if not usable:
        return "No API key and no model server on this machine was found."
    told = "; ".join(f"{one.name} ({one.command})" for one in usable)
    return f"Found: {told}."


def _keys(environ: Mapping[str, str]) -> list[Found]:
    found = []
    for provider, model in table().recommended.items():
        about = PROVIDERS[provider]
        held = next((name for name in about.keys if environ.get(name)), "")
        if not held and provider == "anthropic" and environ.get("ANTHROPIC_AUTH_TOKEN"):
            held = "ANTHROPIC_AUTH_TOKEN"
        if held:
            command = f"steer run --model {provider}:{model} TASK"
            found.append(Found("key", about.name, f"{held} is set", command))
    return found


def _near(server: Server, environ: Mapping[str, str]) -> Server | None:
    """Where a server is by the environment; None when that is not this machine."""
    if server.name != "Ollama" or not environ.get("OLLAMA_HOST"):
        return server
    try:
        endpoint = endpoint_for("ollama", environ)
    except UsageProblem:
        return None
    port = urlsplit(endpoint.base_url).port or 80
    return msgspec.structs.replace(server, port=port) if endpoint.local else None


def _server(server: Server) -> Found | None:
    names = _models(server)
    if names is None:
        return None
    at = f"127.0.0.1:{server.port}"
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if names[SHOWN:] else "")
    if not names:
        return Found("server", server.name, f"listens on {at}, but has no model")
    if server.name == "Ollama":
        command = f"steer run --model ollama:{names[0]} TASK"
        return Found("server", server.name, f"{at}: {shown}", command, names)
    own = server.name.lower().replace(".", "").replace(" ", "-")
    return Found(
        "server",
        server.name,
        f"{at}: {shown}",
        f"OPENAI_BASE_URL=http://{at}/v1 steer run --model openai-chat:{names[0]} TASK",
        names,
        f'[providers.{own}]\nwire = "openai-chat"\nbase_url = "http://{at}/v1"\n',
    )


def _models(server: Server) -> tuple[str, ...] | None:
    """The names of the models a server has; None when there is no such server."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    try:
        connection.request("GET", server.path, headers={"Accept": "application/json"})
        answer = connection.getresponse()
        body = answer.read(MOST_BYTES) if answer.status == 200 else b""
        told = msgspec.json.decode(body, type=dict[str, Any])
    except (OSError, http.client.HTTPException, msgspec.DecodeError, UnicodeDecodeError):
        return None
    finally:
        connection.close()
    listed = told.get("data", told.get("models"))
    if not isinstance(listed, list):
        return None
    named = [one.get("id") or one.get("name") for one in listed if isinstance(one, dict)]
    return tuple(name for name in named if isinstance(name, str) and name.isprintable())


def _programs(environ: Mapping[str, str]) -> list[Found]:
    path = environ.get("PATH", "")
    places = [(name, shutil.which(name, path=path)) for name in PROGRAMS]
    return [Found("program", name, place) for name, place in places if place]
