"""`steer token`: what programs, pages and other machines show to a server."""

from datetime import timedelta
from typing import Any

import click
import msgspec

from steersman.host.tokens import RIGHTS, Token, Tokens
from steersman.ports.cli.options import folder_from, json_flag, open_host
from steersman.records.clock import local
from steersman.views.text import safe


@click.group()
def command() -> None:
    """Make, list and revoke tokens for programs."""


@command.command("make")
@click.argument("name")
@click.option(
    "--may",
    type=click.Choice(RIGHTS),
    multiple=True,
    help="What it allows (repeatable; default: all). Reading is always allowed.",
)
@click.option("--workspace", "-w", metavar="DIR", help="Only threads of this folder.")
@click.option(
    "--days", type=click.FloatRange(0, 36_500, min_open=True), help="How long it is valid."
)
@json_flag
def make(name: str, may: Any, workspace: str | None, days: float | None, as_json: bool) -> None:
    """Make a token called NAME, and print it: this once."""
    lasts = timedelta(days=days) if days else None
    folder = folder_from(workspace) if workspace else ""
    made, text = Tokens(open_host()).make(name, may or RIGHTS, folder, lasts)
    if as_json:
        click.echo(msgspec.json.encode({**_record(made), "token": text}).decode())
        return
    click.echo(text)
    click.echo(f"Token {made.id} may {', '.join(made.rights)}. It is not shown again.", err=True)


@command.command("list")
@json_flag
def list_tokens(as_json: bool) -> None:
    """List tokens, without their secrets."""
    for one in Tokens(open_host()).all():
        if as_json:
            click.echo(msgspec.json.encode(_record(one)).decode())
            continue
        until = f"until {local(one.expires):%Y-%m-%d %H:%M}" if one.expires else "for ever"
        state = until if one.valid else "expired"
        where = f"  {safe(one.workspace)}" if one.workspace else ""
        click.echo(f"{one.id}  {safe(one.name):<20} {', '.join(one.rights):<20} {state}{where}")


@command.command("revoke")
@click.argument("token")
def revoke(token: str) -> None:
    """Revoke TOKEN, by its id or its name."""
    gone = Tokens(open_host()).revoke(token)
    click.echo(f"Revoked {gone.id} ({safe(gone.name)}).")


def _record(one: Token) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "may": one.rights,
        "workspace": one.workspace,
        "made": one.made,
        "expires": one.expires,
    }
