"""What groups of things that files describe share: `enable` and `disable`, the end of a list."""

from collections.abc import Iterable
from typing import Protocol

import click

from steersman.ports.cli.options import folder_from, workspace_option
from steersman.views.text import safe


class Switch(Protocol):
    """Switches one thing, by its name, wherever in a folder it is found."""

    def __call__(self, name: str, folder: str, *, on: bool) -> None:
        """Switch it."""


def add_switches(group: click.Group, what: str, switch: Switch) -> None:
    """Give a group its `enable` and `disable`."""
    _add(group, "enable", f"Let agents use the {what} NAME again.", what, switch)
    _add(group, "disable", f"Let no agent use the {what} NAME, wherever it is.", what, switch)


def _add(group: click.Group, verb: str, about: str, what: str, switch: Switch) -> None:
    @group.command(verb, help=about)
    @click.argument("name")
    @workspace_option
    def run(name: str, workspace: str | None) -> None:
        switch(name, folder_from(workspace), on=verb == "enable")
        click.echo(f"The {what} {safe(name)} is {verb}d.")


def end_list(what: str, empty: str, problems: Iterable[str], *, unused: bool) -> None:
    """What comes after a list of things that files describe: that it is empty, what is wrong."""
    if empty:
        click.echo(empty)
    for problem in problems:
        warn(problem)
    if unused:
        why = f"This folder has {what} that are not used: it is not trusted."
        warn(f"{why} Review it with `steer policy trust`.")


def warn(text: str) -> None:
    """Something that a person should know of, on a line that stands out."""
    click.echo(click.style(f"! {safe(text)}", fg="yellow"))
