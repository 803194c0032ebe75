"""`steer mcp`: servers that were configured, templates of known ones, and trying one out."""

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
import msgspec

from steersman.host import mcp
from steersman.host.mcp import NewServer
from steersman.ports.cli.options import folder_from, json_flag, open_host, workspace_option
from steersman.ports.cli.switching import add_switches, end_list, warn
from steersman.views.text import ago, counted, one_line, safe

if TYPE_CHECKING:
    from steersman.host.mcp_trial import ServerFacts

_project = click.option("--project", is_flag=True, help="In the folder's .mcp.json, not in yours.")
ORDER = (
    "templates", "add", "remove", "list", "login", "logout", "test", "enable", "disable", "serve",
)  # fmt: skip
# Commands with modules of their own, imported when they are called.
ELSEWHERE = {
    "serve": ("mcp_serve", "command"),
    "test": ("mcp_trying", "test"),
    "login": ("mcp_trying", "login"),
    "logout": ("mcp_trying", "logout"),
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
    for one, lacks in mcp.templates(os.environ, os.getcwd(), name or ""):
        if as_json:
            told = {**msgspec.structs.asdict(one), "missing": [what for what, _ in lacks]}
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
        _warn_of(lacks)
    if not name and not as_json:
        click.echo("\n`steer mcp add NAME --template TEMPLATE` adds one; nothing is installed.")


@command.command()
@click.argument("name")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARGS...]")
@click.option("--template", "-t", default="", metavar="T", help="One of `steer mcp templates`.")
@click.option("--url", default="", metavar="URL", help="A server that is reached over HTTP.")
@click.option("--sse", is_flag=True, help="The server at URL speaks the older HTTP+SSE.")
@click.option(
    "--env", "-e", multiple=True, metavar="K[=V]", help="A variable; K alone refers to yours."
)
@click.option("--header", multiple=True, metavar="'K: V'", help="A header for URL.")
@click.option(
    "--description", default="", metavar="TEXT", help="One line that describes it to the model."
)
@click.option("--replace", is_flag=True, help="Replace one with the same name.")
@_project
@workspace_option
def add(name: str, words: tuple[str, ...], workspace: str | None, **flags: Any) -> None:
    """Write down the server NAME: from a template, a command after --, or an address.

    Nothing is installed and nothing is started. Values may name your variables as ${NAME}.
    """
    new = NewServer(
        name=name,
        template=flags["template"],
        command=words,
        url=flags["url"],
        sse=flags["sse"],
        variables=flags["env"],
        headers=flags["header"],
        description=flags["description"],
    )
    project = flags["project"]
    folder = folder_from(workspace)
    added = mcp.add(new, folder, os.environ, project=project, replace=flags["replace"])
    click.echo(f"Added {name} to {safe(added.path)}.")
    for note in added.notes:
        click.echo(safe(note))
    if added.exposed:
        warn("values are in a file that others may read: `--env NAME` alone refers to yours")
    if project:
        click.echo("The folder's configuration changed: review it with `steer policy trust`.")
    _warn_of(added.lacks)
    click.echo(f"Nothing was installed or started. `steer mcp test {name}` starts it.")


@command.command()
@click.argument("name")
@_project
@workspace_option
def remove(name: str, project: bool, workspace: str | None) -> None:
    """Take the server NAME out of your file, or out of the folder's."""
    path = mcp.remove(name, folder_from(workspace), os.environ, project=project)
    click.echo(f"Removed {safe(name)} from {safe(path)}.")


@command.command("list")
@workspace_option
@json_flag
def listing(workspace: str | None, as_json: bool) -> None:
    """Show the servers that can be used in this folder; none is started."""
    from steersman.host.mcp_trial import KnownServers

    folder = folder_from(workspace)
    found = mcp.usable(open_host(), folder, os.environ)
    known = KnownServers(folder, os.environ)
    for server in found.servers:
        facts = known.facts(server)
        if as_json:
            click.echo(msgspec.json.encode(facts).decode())
        else:
            click.echo("\n".join(_lines(facts, known.listed(server))))
    if not as_json:
        empty = "" if found.servers else "No MCP servers. `steer mcp templates` shows known ones."
        end_list("MCP servers", empty, found.problems, unused=found.unused)


def _lines(facts: "ServerFacts", listed: float | None) -> Iterator[str]:
    """A server on two or three lines."""
    mark = "" if facts.enabled else click.style(" (disabled)", fg="yellow")
    yield f"{click.style(facts.name, bold=True)}{mark}  {one_line(facts.description)}".rstrip()
    known = "never started" if facts.failure is None else "its tools are not known"
    if listed is not None:
        when = ago(datetime.fromtimestamp(listed, UTC))
        known = f"{counted(facts.tools or 0, 'tool')}, listed {when}"
    told = [one_line(facts.runs, 70), facts.sign_in or "", known]
    yield f"    {' · '.join(filter(None, told))} · {one_line(facts.source, 80)}"
    if facts.failure is not None:
        yield click.style(f"    last failure: {one_line(facts.failure, 200)}", fg="yellow")


def _switch(name: str, folder: str, *, on: bool) -> None:
    mcp.switch(name, folder, os.environ, on=on)


add_switches(command, "MCP server", _switch)


def _warn_of(lacks: Iterable[tuple[str, str]]) -> None:
    """What this machine does not have."""
    for what, how in lacks:
        warn(f"{one_line(what)} → {how}")
