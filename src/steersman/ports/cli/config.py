"""`steer config`: settings, where each comes from, and changing them."""

import os

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
        click.echo(safe(f"{one.name:{width}}  {config.shown(one.value)}  ({place})"))


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
    click.echo(safe(config.shown(found.value)))
    click.echo(safe(f"{found.source}  {found.where}".strip()), err=True)


@command.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("value")
@workspace_option
def set_value(name: str, value: str, workspace: str | None) -> None:
    """Write a setting into your config.toml; a list is separated by commas."""
    done = config.change(name, value, folder_from(workspace), os.environ)
    click.echo(safe(f"{done.name} = {config.shown(done.value)}, in {done.path}"))
    if done.hidden_by:
        click.echo(safe(f"{done.hidden_by} overrides it."), err=True)


@command.command("unset")
@click.argument("name")
@workspace_option
def unset(name: str, workspace: str | None) -> None:
    """Remove a setting from your config.toml."""
    left = config.unset(name, folder_from(workspace), os.environ)
    place = f"{left.source}, {left.where}" if left.where else left.source
    click.echo(safe(f"{left.name} = {config.shown(left.value)} ({place})"))


@command.command("edit")
def edit() -> None:
    """Open your config.toml in your editor (VISUAL or EDITOR), and check it afterwards."""
    from steersman.ports.tui.editor import edit_file

    path = config.prepare(os.environ)
    edit_file(str(path), os.environ)
    config.check(os.environ)
    click.echo(f"{path} is valid.")
