"""`steer mcp`: servers that were configured, templates of known ones, and trying one out."""

import os
from importlib import import_module
from typing import Any

import click
import msgspec

from steersman.identity import mcp_files, mcp_servers
from steersman.identity.mcp_servers import Configured
from steersman.identity.settings import data_folder
from steersman.ports.cli.options import folder_from, json_flag, open_host
from steersman.ports.cli.text import one_line, safe
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server

_workspace = click.option("--workspace", "-w", metavar="DIR", help="Folder (default: here).")
_project = click.option("--project", is_flag=True, help="In the folder's .mcp.json, not in yours.")
ORDER = (
    "templates", "add", "remove", "list", "login", "logout", "test", "enable", "disable", "serve",
)  # fmt: skip
# Commands with modules of their own, imported when they are called.
ELSEWHERE = {
    "serve": ("mcp_serve", "command"),
    "test": ("mcp_trying", "test"),
    "login": ("mcp_login", "login"),
    "logout": ("mcp_login", "logout"),
}


class Commands(click.Group):
    """The commands here, and those elsewhere."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order people need them."""
        return list(ORDER)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """One command, imported now."""
        if name not in ELSEWHERE:
            return super().get_command(ctx, name)
        module, attribute = ELSEWHERE[name]
        found = getattr(import_module(f"steersman.ports.cli.{module}"), attribute)
        assert isinstance(found, click.Command)
        return found


@click.group("mcp", cls=Commands)
def command() -> None:
    """Add, remove, list, test, enable and disable MCP servers; sign in at one; be one."""


@command.command("templates")
@click.argument("name", required=False)
@json_flag
def show_templates(name: str | None, as_json: bool) -> None:
    """Show the known servers, or all about the one called NAME."""
    from steersman.operations.mcp.templates import lacking, template, templates

    for one in [template(name)] if name else templates().values():
        missing = lacking(one, os.environ, os.getcwd())
        if as_json:
            told = {**msgspec.structs.asdict(one), "missing": [what for what, _ in missing]}
            click.echo(msgspec.json.encode(told).decode())
            continue
        click.echo(f"{click.style(one.name, bold=True):<28} {one.about}")
        if not name:
            continue
        facts = {
            "runs": " ".join((*one.launcher, *one.args)) or one.url,
            "fetches": one.fetches,
            "needs": "; ".join(f"{key}: {what}" for key, what in one.needs.items()),
            "licence": one.licence,
            "set-up": one.link,
            "note": one.notes,
        }
        for fact, value in facts.items():
            if value:
                click.echo(f"  {fact:<8} {value}")
        _warn_of(missing)
    if not name and not as_json:
        click.echo(
            "\n`steer mcp add NAME --template TEMPLATE` writes one down; nothing is installed."
        )


@command.command()
@click.argument("name")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARGS...]")
@click.option("--template", "-t", "known", metavar="T", help="One of `steer mcp templates`.")
@click.option("--url", metavar="URL", help="A server that is reached over HTTP.")
@click.option("--sse", is_flag=True, help="The server at URL speaks the older HTTP+SSE.")
@click.option(
    "--env", "-e", multiple=True, metavar="K[=V]", help="A variable; K alone refers to yours."
)
@click.option("--header", multiple=True, metavar="'K: V'", help="A header for URL.")
@click.option("--description", metavar="TEXT", help="The one line a model is told.")
@click.option("--replace", is_flag=True, help="Put it in the place of one with the same name.")
@_project
@_workspace
def add(name: str, words: tuple[str, ...], workspace: str | None, **flags: Any) -> None:
    """Write down the server NAME: from a template, a command after --, or an address.

    Nothing is installed and nothing is started. Values may name your variables as ${NAME}.
    """
    from steersman.ports.cli.mcp_adding import entry_from, told

    entry, template = entry_from(name, words, flags)
    folder = folder_from(workspace)
    path = _file(folder, flags["project"])
    mcp_files.add(path, name, entry, replace=flags["replace"], shared=flags["project"])
    click.echo(f"Added {name} to {safe(str(path))}.")
    for line in told(entry, template):
        click.echo(line)
    if flags["project"]:
        literal = [key for key in flags["env"] if "=" in key and "${" not in key]
        if literal or any("${" not in one for one in flags["header"]):
            _warn("values stand in a file that others may see: `--env NAME` alone refers to yours")
        click.echo("The folder brings something new: `steer policy trust` asks you about it.")
    if template is not None:
        from steersman.operations.mcp.templates import lacking

        given = {one.partition("=")[0]: "given" for one in flags["env"] if "=" in one}
        _warn_of(lacking(template, {**os.environ, **given}, folder), program=bool(words))
    click.echo(f"Nothing was installed or started. `steer mcp test {name}` starts it.")


@command.command()
@click.argument("name")
@_project
@_workspace
def remove(name: str, project: bool, workspace: str | None) -> None:
    """Take the server NAME out of your file, or out of the folder's."""
    folder = folder_from(workspace)
    path = _file(folder, project)
    other = _file(folder, not project)
    if name not in mcp_files.names(path) and name in mcp_files.names(other):
        raise UsageProblem(
            f"There is no MCP server “{name}” in {path}.",
            f"It is in {other}.",
            f"{'Leave out' if project else 'Pass'} --project.",
        )
    before = mcp_servers.find(folder, os.environ, trusted=True).get(name)
    mcp_files.remove(path, name, shared=project)
    if before is not None and before.source == str(path):
        from steersman.operations.mcp.tokens import SignIns

        SignIns(data_folder(os.environ) / "mcp").forget(before)
    click.echo(f"Removed {safe(name)} from {safe(str(path))}.")


@command.command("list")
@_workspace
@json_flag
def listing(workspace: str | None, as_json: bool) -> None:
    """Show the servers that can be used in this folder; none is started."""
    from steersman.ports.cli.mcp_showing import Shown

    folder = folder_from(workspace)
    trusted = open_host().permissions.folder(folder).loads
    found = mcp_servers.find(folder, os.environ, trusted=trusted)
    shown = Shown(folder, os.environ)
    for server in found.servers:
        if as_json:
            click.echo(msgspec.json.encode(shown.record(server)).decode())
        else:
            for line in shown.lines(server):
                click.echo(line)
    if as_json:
        return
    if not found.servers:
        click.echo("No MCP servers. `steer mcp templates` shows known ones.")
    for problem in found.problems:
        _warn(problem)
    if not trusted and mcp_servers.find(folder, os.environ, trusted=True) != found:
        _warn("This folder has MCP servers that are not used: it is not trusted. "
              "`steer policy trust` asks you.")  # fmt: skip


@command.command()
@click.argument("name")
@_workspace
def enable(name: str, workspace: str | None) -> None:
    """Let agents use the server NAME again."""
    _switch(name, workspace, on=True)


@command.command()
@click.argument("name")
@_workspace
def disable(name: str, workspace: str | None) -> None:
    """Let no agent use the server NAME, wherever it is configured."""
    _switch(name, workspace, on=False)


def _switch(name: str, workspace: str | None, *, on: bool) -> None:
    path = mcp_servers.user_file(os.environ)
    found = mcp_servers.find(folder_from(workspace), os.environ, trusted=True)
    if name not in mcp_files.names(path):
        the_one(found, name)
    mcp_files.switch(path, name, on=on)
    after = mcp_servers.find(folder_from(workspace), os.environ, trusted=True).get(name)
    if on and after is not None and not after.enabled:
        raise UsageProblem(
            f"The MCP server {name} is still disabled.",
            f"{after.source} says so.",
            "Change it there.",
        )
    click.echo(f"The MCP server {safe(name)} is {'enabled' if on else 'disabled'}.")


def the_one(found: Configured, name: str) -> Server:
    """A server by its name, or what is known about why there is none."""
    server = found.get(name)
    if server is not None:
        return server
    about = [problem for problem in found.problems if f"“{name}”" in problem]
    known = ", ".join(one.name for one in found.servers) or "none"
    raise UsageProblem(
        f"There is no MCP server “{name}”.",
        about[0] if about else f"There are: {known}.",
        "`steer mcp list` tells more.",
    )


def _file(folder: str, project: bool) -> Any:
    return mcp_servers.workspace_file(folder) if project else mcp_servers.user_file(os.environ)


def _warn(text: str) -> None:
    click.echo(click.style(f"! {safe(text)}", fg="yellow"))


def _warn_of(missing: list[tuple[str, str]], *, program: bool = False) -> None:
    """What is missing on this machine; a program that was given needs no other to fetch it."""
    for what, mend in missing:
        if not (program and "on the PATH" in what):
            _warn(f"{one_line(what)} → {mend}")
