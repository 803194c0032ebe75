"""What this machine offers: keys in the environment and kept ones, model servers on loopback,
agent programs on the PATH. Nothing beyond loopback is asked, and no key is read, only seen.
"""

import http.client
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from steersman.intelligence.drivers.endpoint import endpoint_for
from steersman.intelligence.providers import providers
from steersman.intelligence.table import table
from steersman.records.errors import UsageProblem

SECONDS = 0.5
MOST_BYTES = 1_000_000
SHOWN = 3


class Server(Struct, frozen=True):
    """A kind of model server: where it listens by default, and what shows its models."""

    provider: str
    name: str
    port: int
    path: str = "/v1/models"
    owner: str = ""


PROGRAMS = ("codex", "claude", "gemini", "aider", "pi", "opencode")


class Found(Struct, frozen=True, omit_defaults=True):
    """Something to work with; `models` are whole names, the one to begin with first.

    None of them for a server without models, and for a program, which is only named.
    """

    kind: Literal["key", "server", "program"]
    name: str
    detail: str
    provider: str = ""
    models: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """How it is used; empty where it cannot be."""
        return f"steer --model {self.models[0]}" if self.models else ""


def servers() -> tuple[Server, ...]:
    """The kinds of servers that are looked for."""
    known = providers().items()
    return tuple(
        Server(provider, one.name, one.port, one.lists, one.owner)
        for provider, one in known
        if one.local
    )


def look(
    environ: Mapping[str, str],
    wanted: Sequence[Server] | None = None,
    logins: Collection[str] = (),
) -> list[Found]:
    """Everything that was found, what works at once first; `logins` are providers with a key."""
    kinds = servers() if wanted is None else wanted
    near = [found for server in kinds if (found := _near(server, environ))]
    ports = {(server.port, server.path): server for server in near}
    with ThreadPoolExecutor(len(ports) or 1) as pool:
        answers = dict(zip(ports, pool.map(_listed, ports.values()), strict=True))
    running: dict[int, Found] = {}
    for server in near:
        told = answers[server.port, server.path]
        if told is not None and server.port not in running and _is(server, told):
            running[server.port] = _server(server, told)
    return [*_keys(environ, logins), *running.values(), *_programs(environ)]


def offers(found: Iterable[Found]) -> str:
    """What was found, as a sentence for someone who chose nothing."""
    usable = [one for one in found if one.command]
    if not usable:
        return "No API key and no model server was found on this machine."
    told = "; ".join(f"{one.name} ({one.command})" for one in usable)
    return f"Found: {told}."


def key_variable(provider: str, environ: Mapping[str, str]) -> str:
    """The variable that holds a provider's key now; empty when none does."""
    known = providers().get(provider)
    names = known.keys if known else ()
    if provider == "anthropic":
        names = (*names, "ANTHROPIC_AUTH_TOKEN")
    return next((name for name in names if environ.get(name)), "")


def _keys(environ: Mapping[str, str], logins: Collection[str]) -> list[Found]:
    found = []
    for provider, model in table().recommended.items():
        name = providers()[provider].name
        if held := key_variable(provider, environ):
            detail = f"{held} is set"
        elif provider in logins:
            detail = "you are logged in"
        else:
            continue
        found.append(Found("key", name, detail, provider, (f"{provider}:{model}",)))
    others = [one for one in logins if one not in table().recommended]
    return [*found, *(Found("key", one, "you are logged in", one) for one in others)]


def _near(server: Server, environ: Mapping[str, str]) -> Server | None:
    """Where a server is by the environment; None when that is not this machine."""
    if server.provider != "ollama" or not environ.get("OLLAMA_HOST"):
        return server
    try:
        endpoint = endpoint_for("ollama", environ)
    except UsageProblem:
        return None
    port = urlsplit(endpoint.base_url).port or 80
    return msgspec.structs.replace(server, port=port) if endpoint.local else None


def _is(server: Server, listed: list[dict[str, Any]]) -> bool:
    """Whether a list of models is of this kind of server."""
    return not server.owner or any(one.get("owned_by") == server.owner for one in listed)


def _server(server: Server, listed: list[dict[str, Any]]) -> Found:
    given = [one.get("id") or one.get("name") for one in listed]
    names = [name for name in given if isinstance(name, str) and name.isprintable()]
    at = f"127.0.0.1:{server.port}"
    if not names:
        told = f"listens on {at}, but has no model"
        return Found("server", server.name, told, server.provider)
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if names[SHOWN:] else "")
    models = tuple(f"{server.provider}:{name}" for name in names)
    return Found("server", server.name, f"{at}: {shown}", server.provider, models)


def _listed(server: Server) -> list[dict[str, Any]] | None:
    """What a server says about its models; None when there is no such server."""
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
    return [one for one in listed if isinstance(one, dict)]


def _programs(environ: Mapping[str, str]) -> list[Found]:
    path = environ.get("PATH", "")
    places = [(name, shutil.which(name, path=path)) for name in PROGRAMS]
    return [Found("program", name, place) for name, place in places if place]
