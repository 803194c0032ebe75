"""`steer mcp login` and `logout`: a person signs in at a server that wants it, and out again."""

import asyncio
import os

import click

from steersman.identity.settings import data_folder
from steersman.operations.mcp.tokens import SignIns
from steersman.ports.cli.mcp_serve import require_library
from steersman.ports.cli.mcp_trying import alone, chosen
from steersman.ports.cli.options import folder_from
from steersman.ports.cli.text import counted, safe
from steersman.records.errors import SteersmanError
from steersman.records.mcp_server import Server

_workspace = click.option("--workspace", "-w", metavar="DIR", help="Folder (default: here).")


def sign_ins_at() -> SignIns:
    """The sign-ins of this user."""
    return SignIns(data_folder(os.environ) / "mcp")


@click.command()
@click.argument("name")
@click.option("--no-browser", is_flag=True, help="Only print the address; open it yourself.")
@click.option("--port", type=click.IntRange(1, 65535), help="Where the browser comes back to.")
@click.option("--timeout", default=300.0, metavar="SECONDS", help="How long to wait (300).")
@_workspace
def login(
    name: str, no_browser: bool, port: int | None, timeout: float, workspace: str | None
) -> None:
    """Sign in at the server NAME: a browser opens, and what it brings is kept for you alone."""
    folder = folder_from(workspace)
    server = chosen(name, folder)
    require_library()
    asyncio.run(_login(server, port or 0, timeout, opens=not no_browser))
    click.echo(f"{click.style('✓', fg='green')} Signed in at {click.style(name, bold=True)}.")
    asyncio.run(_look(server, folder))


@click.command()
@click.argument("name")
@_workspace
def logout(name: str, workspace: str | None) -> None:
    """Forget the sign-in at the server NAME, and take it back there if that can be done."""
    server = chosen(name, folder_from(workspace))
    require_library()
    from steersman.operations.mcp.signing_in import sign_out

    if asyncio.run(sign_out(server, sign_ins_at())):
        click.echo(f"The sign-in at {safe(name)} is forgotten.")
    else:
        click.echo(f"There was no sign-in at {safe(name)}.")


async def _login(server: Server, port: int, patience: float, *, opens: bool) -> None:
    from steersman.operations.mcp.signing_in import sign_in

    async def show(address: str) -> None:
        import webbrowser

        click.echo("Sign in here:\n")
        click.echo(f"  {safe(address)}\n")
        opened = opens and await asyncio.to_thread(webbrowser.open, address)
        click.echo(
            "Your browser opens it; come back when you are done."
            if opened
            else "Open it in a browser on this machine; it comes back here by itself."
        )

    await sign_in(server, sign_ins_at(), show, port=port, patience=patience)


async def _look(server: Server, folder: str) -> None:
    """Whether it really lets us in; its tools are known from then on."""
    async with alone(server, folder, os.environ) as gateway:
        try:
            found = await gateway.find(server=server.name, refresh=True)
            reason = found.skipped.get(server.name, "")
        except SteersmanError as error:
            reason = str(error)
        if reason:
            click.echo(click.style(f"! Its tools could not be listed. {safe(reason)}", fg="yellow"))
        else:
            click.echo(f"It has {counted(len(gateway.tools_of(server.name)), 'tool')}.")
