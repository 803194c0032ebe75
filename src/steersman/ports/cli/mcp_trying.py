"""`steer mcp test`: one server really started, its tools and what each would count as; and what
`steer doctor` says of the configured servers without starting any."""

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from steersman.identity import mcp_servers
from steersman.identity.settings import data_folder
from steersman.operations.mcp.authority import hidden
from steersman.operations.mcp.catalogue import call_name, first_sentence
from steersman.operations.mcp.gateway import Gateway
from steersman.operations.mcp.templates import GETTING, prepare
from steersman.operations.running.programs import found as found_program
from steersman.ports.cli.mcp import the_one
from steersman.ports.cli.mcp_showing import Shown, cache_at
from steersman.ports.cli.options import folder_from, json_flag, open_host
from steersman.ports.cli.text import counted, one_line, safe
from steersman.records.errors import Exit, SteersmanError, ToolProblem, UsageProblem
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import RemoteTool

if TYPE_CHECKING:
    from steersman.operations.running.command_run import CommandRun
    from steersman.ports.cli.doctor import Finding

_COLOURS = {"reads": "green", "writes": "yellow", "hidden": None}


@click.command()
@click.argument("name")
@click.option("--workspace", "-w", metavar="DIR", help="Folder (default: here).")
@json_flag
def test(name: str, workspace: str | None, as_json: bool) -> int:
    """Start the server NAME, list its tools, and stop it again."""
    folder = folder_from(workspace)
    server = chosen(name, folder)
    tried = asyncio.run(_try(server, folder, os.environ))
    if as_json:
        click.echo(msgspec.json.encode(tried).decode())
    else:
        for line in _lines(tried):
            click.echo(line)
    return Exit.DONE if tried["ok"] else Exit.FAILED


def chosen(name: str, folder: str) -> Server:
    """The server a person named, switched on; one that a folder brings only if that is trusted."""
    trusted = open_host().permissions.folder(folder).loads
    found = mcp_servers.find(folder, os.environ, trusted=trusted)
    if not trusted and found.get(name) is None:
        theirs = mcp_servers.find(folder, os.environ, trusted=True).get(name)
        if theirs is not None:
            raise UsageProblem(
                f"The MCP server {name} is not started: {theirs.source} brings it, and the folder "
                "is not trusted.",
                try_this="`steer policy trust` asks you.",
            )
    return msgspec.structs.replace(the_one(found, name), enabled=True)


async def _try(server: Server, folder: str, environ: Mapping[str, str]) -> dict[str, Any]:
    started = time.monotonic()
    shown = Shown(folder, environ)
    async with alone(server, folder, environ) as gateway:
        try:
            found = await gateway.find(server=server.name, refresh=True)
            reason = found.skipped.get(server.name, "")
        except SteersmanError as error:
            reason = str(error)
        condition = gateway.conditions()[0]
        tools = gateway.tools_of(server.name) if not reason else ()
        names = {tool.name for tool in tools}
        return {
            "server": server.name,
            "ok": not reason,
            "reason": shown.masked(reason, server),
            "mend": _mend(server, environ, folder) if reason else "",
            "sign_in": shown.signed(server) or None,
            "version": condition.version,
            "seconds": round(time.monotonic() - started, 2),
            "tools": [_told(tool, server, gateway, names) for tool in tools],
        }


def _told(tool: RemoteTool, server: Server, gateway: Gateway, names: set[str]) -> dict[str, Any]:
    away = bool(hidden(tool.name, server, names))
    return {
        "name": call_name(tool),
        "effect": "hidden" if away else gateway.effect(tool.server, tool.name),
        "description": first_sentence(tool.description),
        "repaired": tool.repaired,
    }


@asynccontextmanager
async def alone(server: Server, folder: str, environ: Mapping[str, str]) -> AsyncIterator[Gateway]:
    """A gateway to one server; whatever was started has ended when the block has."""
    from steersman.operations.mcp.connection import Connection
    from steersman.operations.mcp.eras import Eras
    from steersman.operations.mcp.tokens import SignIns
    from steersman.operations.running.companions import Companions
    from steersman.operations.running.guardian import Guardian
    from steersman.records.mcp_tools import Wishes

    guardian = Guardian()
    companions = Companions(guardian, folder, _unconfined)
    state = str(data_folder(environ))
    eras = Eras(os.path.join(state, "mcp"))
    sign_ins = SignIns(os.path.join(state, "mcp"))

    def connect(one: Server) -> Connection:
        prepare(one, state, environ, folder)
        return Connection(one, companions, eras, Wishes(), environ, folder, sign_ins)

    # Whoever tries one server out waits as long as it takes; its connection keeps the time.
    gateway = Gateway([server], connect, cache_at(environ), workspace=folder, patience=math.inf)
    try:
        yield gateway
    finally:
        await gateway.close()
        await companions.close()
        guardian.close()


async def _unconfined(environ: Mapping[str, str]) -> "CommandRun":
    raise ToolProblem("Nothing is confined here.")


def _lines(tried: Mapping[str, Any]) -> Iterator[str]:
    name = click.style(tried["server"], bold=True)
    if not tried["ok"]:
        yield f"{click.style('✗', fg='red')} {name}: {safe(tried['reason'])}"
        if tried["mend"]:
            yield f"  → {tried['mend']}"
        return
    version = f"{one_line(tried['version'])}, " if tried["version"] else ""
    tools = counted(len(tried["tools"]), "tool")
    yield f"{click.style('✓', fg='green')} {name}: {version}{tools} in {tried['seconds']:.1f} s"
    width = min(48, max((len(tool["name"]) for tool in tried["tools"]), default=0))
    for tool in tried["tools"]:
        effect = click.style(f"{tool['effect']:<6}", fg=_COLOURS[tool["effect"]])
        yield f"  {effect}  {tool['name']:<{width}}  {one_line(tool['description'], 80)}".rstrip()
        if tool["repaired"]:
            yield click.style(f"          repaired: {one_line(tool['repaired'], 120)}", dim=True)


def findings(folder: str, environ: Mapping[str, str], *, trusted: bool) -> "Iterator[Finding]":
    """What `steer doctor` says: a line for each server, and for each entry that is wrong."""
    from steersman.ports.cli.doctor import Finding

    configured = mcp_servers.find(folder, environ, trusted=trusted)
    shown = Shown(folder, environ)
    if configured.servers and find_spec("mcp") is None:
        yield Finding(
            "mcp", "bad", "the library for MCP is missing", "pip install 'steersman[mcp]'"
        )
    for server in configured.servers:
        yield _finding(server, folder, environ, shown)
    for problem in configured.problems:
        yield Finding(
            "mcp", "note", one_line(problem, 300), "correct that file, or see docs/mcp.md"
        )


def _finding(server: Server, folder: str, environ: Mapping[str, str], shown: Shown) -> "Finding":
    from steersman.ports.cli.doctor import Finding

    if not server.enabled:
        return Finding("mcp", "ok", f"{server.name} is disabled")
    if mend := _mend(server, environ, folder):
        missing = f"{server.name}: {one_line(server.command, 60)} is not found"
        return Finding("mcp", "bad", missing, mend)
    kept = cache_at(environ).kept(server)
    trying = f"steer mcp test {server.name}"
    signed = shown.signed(server)
    if signed == "wants a sign-in":
        return Finding("mcp", "bad", f"{server.name} {signed}", f"steer mcp login {server.name}")
    if kept.failure is not None:
        reason = one_line(shown.masked(kept.failure.reason, server), 200)
        return Finding("mcp", "bad", f"{server.name} failed last: {reason}", trying)
    if kept.listing is None:
        return Finding("mcp", "note", f"{server.name} was never started", trying)
    told = [server.name, counted(len(kept.listing.tools), "tool"), signed]
    return Finding("mcp", "ok", ", ".join(filter(None, told)))


def _mend(server: Server, environ: Mapping[str, str], folder: str) -> str:
    """How to get a program that is not there; empty when it is."""
    if server.transport != "stdio":
        return ""
    path = server.environ.get("PATH", environ.get("PATH", ""))
    command = server.command
    if "/" in command:
        there = os.access(Path(server.cwd or folder, command), os.X_OK)
        return "" if there else f"correct its command in {server.source}"
    if found_program(command, {**environ, "PATH": path}, folder) is not None:
        return ""
    return GETTING.get(command, f"install {command}, or correct its command in {server.source}")
