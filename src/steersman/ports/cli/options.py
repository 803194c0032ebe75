"""Flags that many commands share, and what they amount to."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from steersman.errors import UsageProblem
from steersman.host import Host
from steersman.identity.settings import Settings, data_folder, load_settings

F = TypeVar("F", bound=Callable[..., Any])

_WORKING = (
    click.option("--workspace", "-w", metavar="DIR", help="Folder to work in (default: here)."),
    click.option("--model", "-m", metavar="PROVIDER:NAME", help="Model to think with."),
    click.option("--mode", type=click.Choice(["ask", "code"]), help="What the agent may do."),
    click.option(
        "--trust", type=click.Choice(["restricted", "sandboxed"]), help="Ceiling for this folder."
    ),
    click.option(
        "--approvals", type=click.Choice(["on-request", "never"]), help="When a person is asked."
    ),
    click.option("--yes", "-y", is_flag=True, help="Answer every permission with yes."),
)


def working(command: F) -> F:
    """The flags of every command that acts."""
    for option in reversed(_WORKING):
        command = option(command)
    return command


json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON, one record a line.")


def settings_from(flags: dict[str, Any]) -> Settings:
    """The settings in force for a command's flags."""
    names = ("model", "mode", "trust", "approvals", "max_steps")
    return load_settings(os.environ, {name: flags.get(name) for name in names})


def open_host() -> Host:
    """The host on this user's data."""
    return Host.at(data_folder(os.environ), os.environ)


def folder_from(workspace: str | None) -> str:
    """The workspace a command means, links followed, as threads remember it."""
    try:
        return os.path.realpath(Path(workspace or ".").expanduser())
    except FileNotFoundError as error:
        raise UsageProblem(
            "The folder you are in does not exist any more.",
            try_this="Change to another folder, or pass one with --workspace.",
        ) from error


def write_lines(output: str | None, lines: Iterable[bytes]) -> None:
    """Write lines to a file, or to standard output."""
    if output is None:
        for line in lines:
            sys.stdout.buffer.write(line + b"\n")
        return
    try:
        with open(output, "wb") as file:
            file.writelines(line + b"\n" for line in lines)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageProblem(f"{output} cannot be written.", why) from error
    click.echo(f"Wrote {output}.")


def at_terminal() -> bool:
    """True when a person can read and answer here."""
    return sys.stdin.isatty() and sys.stdout.isatty()
