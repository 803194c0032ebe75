"""Known MCP servers: how each is started, what it needs, whose terms hold. The data is a file.

A template becomes an entry of a configuration and nothing else: nothing is installed or run here.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from steersman.operations.mcp.authority import is_serena
from steersman.operations.running.programs import found
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server
from steersman.records.protection import inside

FILE = Path(__file__).with_name("templates.toml")
# How a program that templates need is got; never done for the user.
GETTING = {
    "uvx": "install uv: https://docs.astral.sh/uv/getting-started/installation/",
    "npx": "install Node.js 20 or newer: https://nodejs.org/en/download",
    "git": "install git",
}


class Template(Struct, frozen=True, forbid_unknown_fields=True):
    """One known server.

    `launcher` are the words before its own arguments, which a local program can replace.
    `needs` and `optional` are variables with what they are for. `shared` when it keeps nothing of
    its clients.
    """

    about: str
    link: str
    licence: str
    name: str = ""
    launcher: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}
    programs: tuple[str, ...] = ()
    needs: dict[str, str] = {}
    optional: dict[str, str] = {}
    reads: tuple[str, ...] = ()
    timeout: float = 60.0
    shared: bool = False
    fetches: str = ""
    notes: str = ""


@cache
def templates() -> Mapping[str, Template]:
    """All of them, by name, in the order of the file."""
    import tomllib

    listed = msgspec.convert(tomllib.loads(FILE.read_text("utf-8")), dict[str, Template])
    return {name: msgspec.structs.replace(template, name=name) for name, template in listed.items()}


def template(name: str) -> Template:
    """A template by its name."""
    known = templates()
    if name not in known:
        raise UsageProblem(
            f"There is no template “{name}”.",
            f"There are: {', '.join(known)}.",
            "`steer mcp templates` shows more; add other servers by command or --url.",
        )
    return known[name]


def entry(
    chosen: Template, values: Mapping[str, str] | None = None, program: Sequence[str] = ()
) -> dict[str, Any]:
    """The entry of a configuration; `values` of what it needs are written in, others are looked up
    in the environment whenever it is read. `program` stands in for what would fetch the server."""
    given = dict(values or {})
    known = {**chosen.needs, **chosen.optional}
    written: dict[str, Any] = {}
    if chosen.url:
        written["type"] = "http"
        written["url"] = _filled(chosen.url, given)
        if chosen.headers:
            written["headers"] = {
                name: _filled(value, given) for name, value in chosen.headers.items()
            }
    else:
        words = [*(program or chosen.launcher), *(_filled(word, given) for word in chosen.args)]
        written["command"], written["args"] = words[0], words[1:]
    env = {name: _filled(value, given) for name, value in chosen.env.items()}
    env.update({name: value for name, value in given.items() if name not in known})
    if env:
        written["env"] = env
    written["description"] = chosen.about
    if chosen.reads:
        written["readOnlyTools"] = list(chosen.reads)
    if chosen.timeout != 60.0:
        written["timeout"] = chosen.timeout
    if chosen.shared:
        written["shared"] = True
    return written


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        for spelled in (f"${{{name}}}", f"${{{name}:-}}"):
            text = text.replace(spelled, value)
    return text


def lacking(chosen: Template, environ: Mapping[str, str], workspace: str) -> list[tuple[str, str]]:
    """What the template needs and this machine does not have: what, and how to get it."""
    missing = [
        (f"{name} is not on the PATH", GETTING.get(name, f"install {name}"))
        for name in chosen.programs
        if found(name, environ, workspace) is None
    ]
    missing += [
        (f"the variable {name} is not set", f"it is {what}")
        for name, what in chosen.needs.items()
        if not environ.get(name)
    ]
    return missing


def prepare(server: Server, state: str, environ: Mapping[str, str], workspace: str) -> None:
    """Before a server is started: write what one that keeps its things in our state folder reads.

    That is Serena, which would otherwise keep its notes inside the repository it looks at.
    """
    home = server.environ.get("SERENA_HOME", "")
    if not home or not is_serena(server) or not inside(os.path.realpath(home), state):
        return
    from steersman.operations.code.serena_home import prepare_home

    beside = os.path.join(os.path.dirname(sys.executable), "ty")  # it comes with `steersman[code]`
    ty = beside if os.access(beside, os.X_OK) else found("ty", environ, workspace)
    prepare_home(home, ty=ty or "")


def line_of(server: Server) -> str:
    """The one line about a server: the user's, else what is known of such a one."""
    return server.about or known_line(server)


def known_line(server: Server) -> str:
    """What is known of a server that says nothing of itself, by what it starts or where it is."""
    words = {_package(word) for word in (server.command, *server.arguments)}
    for one in templates().values():
        if one.url and server.url.rstrip("/") == one.url.rstrip("/"):
            return one.about
        if one.launcher and _package(one.launcher[-1]) in words:
            return one.about
    return ""


def _package(word: str) -> str:
    """A package's name without its version or its path."""
    head, at, _ = word.rpartition("@")
    bare = head if at and head else word
    return os.path.basename(bare) if os.path.isabs(bare) else bare
