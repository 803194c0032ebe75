"""`steer skills`: the ways of working there are, installed, switched on and off."""

import os

import click
import msgspec

from steersman.host import skills
from steersman.ports.cli.options import folder_from, json_flag, open_host, workspace_option
from steersman.ports.cli.switching import add_switches, end_list
from steersman.views.text import one_line, safe


@click.group("skills")
def command() -> None:
    """List, show, install, enable and disable skills."""


@command.command("list")
@workspace_option
@json_flag
def listing(workspace: str | None, as_json: bool) -> None:
    """Show the skills that can be used in this folder."""
    found = skills.find(open_host(), folder_from(workspace), os.environ)
    for skill in found.shelf.skills:
        enabled = skill.name not in found.off
        if as_json:
            told = {**msgspec.structs.asdict(skill), "enabled": enabled}
            click.echo(msgspec.json.encode(told).decode())
        else:
            mark = "" if enabled else click.style(" (disabled)", fg="yellow")
            name = click.style(skill.name, bold=True)
            click.echo(f"{name}{mark}  {one_line(skill.description)}")
    if not as_json:
        empty = "" if found.shelf.skills else "No skills. `steer skills install PATH` adds one."
        end_list("skills", empty, found.shelf.problems, unused=found.unused)


@command.command()
@click.argument("name")
@workspace_option
def show(name: str, workspace: str | None) -> None:
    """Show what the skill NAME says, and its files."""
    skill, text = skills.read(open_host(), folder_from(workspace), os.environ, name)
    click.echo(f"{click.style(skill.name, bold=True)}: {safe(skill.description)}")
    click.echo(f"Folder: {safe(skill.folder)}\n")
    click.echo(safe(text))


@command.command()
@click.argument("path")
@click.option("--replace", is_flag=True, help="Replace one with the same name.")
def install(path: str, replace: bool) -> None:
    """Copy the skill in PATH, a folder or a .zip file, into your own skills."""
    skill = skills.install(path, os.environ, replace=replace)
    click.echo(f"Installed {skill.name} in {safe(skill.folder)}: {one_line(skill.description)}")


def _switch(name: str, folder: str, *, on: bool) -> None:
    skills.switch(open_host(), folder, os.environ, name, on=on)


add_switches(command, "skill", _switch)
