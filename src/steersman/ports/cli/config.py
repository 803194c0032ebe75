"""`steer config`: settings, where each comes from, and changing them."""

import os
from typing import Any

import click
import msgspec

from steersman.host import config
from steersman.ports.cli.options import folder_from, json_flag, workspace_option
from steersman.views.text import safe


@click.group()
def command() -> None:
    """Show and change settings."""


@command.command("list")
@workspace_option
@json_flag
def list_settings(workspace: str | None, as_json: bool) -> None:
    """List every setting, its value, and where the value comes from."""
    found = config.entries(folder_from(workspace), os.environ)
    if as_json:
        for one in found:
            click.echo(msgspec.json.encode(one).decode())
        return
    width = max(len(one.name) for one in found)
    for one in found:
        place = f"{one.source}, {one.where}" if one.where else one.source
        click.echo(safe(f"{one.name:{width}}  {_shown(one.value)}  ({place})"))


@command.command("get")
@click.argument("name")
@workspace_option
@json_flag
def get(name: str, workspace: str | None, as_json: bool) -> None:
    """Print the value of one setting."""
    found = config.entry(name, folder_from(workspace), os.environ)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return
    click.echo(safe(_shown(found.value)))
    click.echo(safe(f"{found.source}  {found.where}".strip()), err=True)


@command.command("set")
@click.argument("name")
@click.argument("value")
@workspace_option
def set_value(name: str, value: str, workspace: str | None) -> None:
    """Write a setting into your config.toml; a list is separated by commas."""
    done = config.change(name, value, folder_from(workspace), os.environ)
    click.echo(safe(f"{done.name} = {_shown(done.value)}, in {done.path}"))
    if done.hidden_by:
        click.echo(safe(f"{done.hidden_by} overrides it."), err=True)


@command.command("edit")
def edit() -> None:
    """Open your config.toml in your editor (VISUAL or EDITOR), and check it afterwards."""
    from steersman.ports.tui.editor import edit_file

    path = config.prepare(os.environ)
    edit_file(str(path), os.environ)
    config.check(os.environ)
    click.echo(f"{path} is valid.")


def _shown(value: Any) -> str:
    """A value as one reads it."""
    if value in (None, "", [], {}):
        return "none"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
