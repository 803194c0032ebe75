"""`steer mcp test`, `login` and `logout`: one server really started, signed in at, and out."""

import asyncio
import os
from collections.abc import Iterator

import click
import msgspec

from steersman.host import mcp, mcp_trial
from steersman.host.mcp_trial import Trial
from steersman.ports.cli.options import folder_from, json_flag, open_host, workspace_option
from steersman.records.errors import Exit
from steersman.records.mcp_server import Server
from steersman.views.text import counted, one_line, safe

_COLOURS = {"reads": "green", "writes": "yellow", "hidden": None}


@click.command()
@click.argument("name")
@workspace_option
@json_flag
def test(name: str, workspace: str | None, as_json: bool) -> int:
    """Start the server NAME, list its tools, and stop it again."""
    folder = folder_from(workspace)
    host = open_host()
    server = mcp.chosen(host, folder, os.environ, name)
    tried = asyncio.run(mcp_trial.try_out(server, folder, os.environ, host.permissions))
    if as_json:
        click.echo(msgspec.json.encode(tried).decode())
    else:
        click.echo("\n".join(_lines(tried)))
    return Exit.DONE if tried.ok else Exit.FAILED


def _lines(tried: Trial) -> Iterator[str]:
    name = click.style(tried.server, bold=True)
    if not tried.ok:
        yield f"{click.style('✗', fg='red')} {name}: {safe(tried.reason)}"
        if tried.fix:
            yield f"  → {tried.fix}"
        return
    version = f"{one_line(tried.version)}, " if tried.version else ""
    tools = counted(len(tried.tools), "tool")
    yield f"{click.style('✓', fg='green')} {name}: {version}{tools} in {tried.seconds:.1f} s"
    width = min(48, max((len(tool.name) for tool in tried.tools), default=0))
    for tool in tried.tools:
        effect = click.style(f"{tool.effect:<6}", fg=_COLOURS[tool.effect])
        yield f"  {effect}  {tool.name:<{width}}  {one_line(tool.description, 80)}".rstrip()
        if tool.repaired:
            yield click.style(f"          repaired: {one_line(tool.repaired, 120)}", dim=True)


@click.command()
@click.argument("name")
@click.option("--no-browser", is_flag=True, help="Only print the address; open it yourself.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port the browser returns to.")
@click.option("--timeout", default=300.0, metavar="SECONDS", help="How long to wait (300).")
@workspace_option
def login(
    name: str, no_browser: bool, port: int | None, timeout: float, workspace: str | None
) -> None:
    """Sign in at the server NAME: a browser opens, and the token is kept for you alone."""
    folder = folder_from(workspace)
    host = open_host()
    server = mcp.chosen(host, folder, os.environ, name)
    mcp.require_library()
    asyncio.run(_login(server, port or 0, timeout, opens=not no_browser))
    click.echo(f"{click.style('✓', fg='green')} Signed in at {click.style(name, bold=True)}.")
    tried = asyncio.run(mcp_trial.try_out(server, folder, os.environ, host.permissions))
    if tried.ok:
        click.echo(f"It has {counted(len(tried.tools), 'tool')}.")
    else:
        told = f"! Its tools could not be listed. {safe(tried.reason)}"
        click.echo(click.style(told, fg="yellow"))


async def _login(server: Server, port: int, patience: float, *, opens: bool) -> None:
    async def show(address: str) -> None:
        import webbrowser

        click.echo("Sign in here:\n")
        click.echo(f"  {safe(address)}\n")
        opened = opens and await asyncio.to_thread(webbrowser.open, address)
        click.echo(
            "Your browser opens it; come back when you are done."
            if opened
            else "Open it in a browser on this machine; it returns here automatically."
        )

    await mcp_trial.sign_in(server, os.environ, show, port=port, patience=patience)


@click.command()
@click.argument("name")
@workspace_option
def logout(name: str, workspace: str | None) -> None:
    """Forget the sign-in at the server NAME, and end it there if that can be done."""
    server = mcp.chosen(open_host(), folder_from(workspace), os.environ, name)
    mcp.require_library()
    if asyncio.run(mcp_trial.sign_out(server, os.environ)):
        click.echo(f"Signed out at {safe(name)}.")
    else:
        click.echo(f"There was no sign-in at {safe(name)}.")
