"""`steer skills`: the ways of working there are, installed, switched on and off."""

import os

import click
import msgspec

from steersman.identity import skills
from steersman.ports.cli.options import folder_from, json_flag, open_host
from steersman.ports.cli.text import one_line, safe

_workspace = click.option("--workspace", "-w", metavar="DIR", help="Folder (default: here).")


@click.group("skills")
def command() -> None:
    """List, show, install, enable and disable skills."""


@command.command("list")
@_workspace
@json_flag
def listing(workspace: str | None, as_json: bool) -> None:
    """Show the skills that can be used in this folder."""
    host = open_host()
    folder = folder_from(workspace)
    trusted = host.permissions.folder(folder).loads
    shelf = skills.find(folder, os.environ, trusted=trusted)
    off = skills.disabled(host.store, shelf)
    for skill in shelf.skills:
        enabled = skill.name not in off
        if as_json:
            told = {**msgspec.structs.asdict(skill), "enabled": enabled}
            click.echo(msgspec.json.encode(told).decode())
        else:
            mark = "" if enabled else click.style(" (disabled)", fg="yellow")
            name = click.style(skill.name, bold=True)
            click.echo(f"{name}{mark}  {one_line(skill.description)}")
    if as_json:
        return
    if not shelf.skills:
        click.echo("No skills. `steer skills install PATH` adds one.")
    for problem in shelf.problems:
        click.echo(click.style(f"! {safe(problem)}", fg="yellow"))
    if not trusted and skills.find(folder, os.environ, trusted=True).skills != shelf.skills:
        why = "This folder has skills that are not used: it is not trusted."
        click.echo(click.style(f"! {why} `steer policy trust` asks you.", fg="yellow"))


@command.command()
@click.argument("name")
@_workspace
def show(name: str, workspace: str | None) -> None:
    """Show what the skill NAME says, and its files."""
    skill = _the_one(name, workspace)
    click.echo(f"{click.style(skill.name, bold=True)}: {safe(skill.description)}")
    click.echo(f"Folder: {safe(skill.folder)}\n")
    click.echo(safe(skills.load(skill)))


@command.command()
@click.argument("path")
@click.option("--replace", is_flag=True, help="Put it in the place of one with the same name.")
def install(path: str, replace: bool) -> None:
    """Copy the skill in PATH, a folder or a .zip file, into your own skills."""
    from steersman.identity.skill_install import install as copied

    skill = copied(os.path.expanduser(path), os.environ, replace=replace)
    click.echo(f"Installed {skill.name} in {safe(skill.folder)}: {one_line(skill.description)}")


@command.command()
@click.argument("name")
@_workspace
def enable(name: str, workspace: str | None) -> None:
    """Let agents use the skill NAME again."""
    _switch(name, workspace, on=True)


@command.command()
@click.argument("name")
@_workspace
def disable(name: str, workspace: str | None) -> None:
    """Let no agent use the skill NAME, wherever it is found."""
    _switch(name, workspace, on=False)


def _switch(name: str, workspace: str | None, *, on: bool) -> None:
    host = open_host()
    shelf = skills.find(folder_from(workspace), os.environ, trusted=True)
    known = any(skill.name == name for skill in shelf.skills)
    if not known and not (on and host.store.setting(skills.SCOPE, name)):
        shelf.get(name)
    skills.switch(host.store, name, on=on)
    click.echo(f"The skill {safe(name)} is {'enabled' if on else 'disabled'}.")


def _the_one(name: str, workspace: str | None) -> skills.Skill:
    folder = folder_from(workspace)
    shelf = skills.find(folder, os.environ, trusted=open_host().permissions.folder(folder).loads)
    return shelf.get(name)
