"""Flags that many commands share, and what they amount to."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from steersman.host import Host, storage, workspaces
from steersman.host.settings import settings_for
from steersman.ports.cli.values import model_names
from steersman.records.errors import UsageProblem
from steersman.records.far import is_far
from steersman.records.settings import Approvals, Effort, Settings

F = TypeVar("F", bound=Callable[..., Any])

_DEFAULT = "default: the repository you are in, else this folder"


def _said(ctx: click.Context, _: click.Parameter, workspace: str | None) -> str | None:
    """What `--workspace` names; else, with `--here`, this folder."""
    return workspace or ("." if ctx.params.get("here") else None)


def _located(_: click.Context, __: click.Parameter, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Folders as they are named from here."""
    return tuple(os.path.abspath(os.path.expanduser(folder)) for folder in folders)


_WORKING = (
    click.option(
        "--workspace",
        "-w",
        metavar="DIR",
        callback=_said,
        help=f"Folder to work in ({_DEFAULT}).",
    ),
    click.option("--here", is_flag=True, help="Work in this folder, not in its whole repository."),
    click.option(
        "--model", "-m", metavar="PROVIDER:NAME", shell_complete=model_names, help="Model to use."
    ),
    click.option(
        "--effort",
        type=click.Choice(get_args(Effort)),
        help="How hard the model thinks, if it has such a choice.",
    ),
    click.option("--profile", metavar="NAME", help="Use the settings of a profile, such as ci."),
    click.option(
        "--mode",
        type=click.Choice(["ask", "plan", "spec", "code", "debug"]),
        help="What the agent may do.",
    ),
    click.option(
        "--trust",
        type=click.Choice(["restricted", "sandboxed", "untrusted"]),
        help="The most the agent may do here. restricted: nothing is written or run; sandboxed: "
        "commands run in a sandbox (the default); untrusted: no sandbox, full access, never for "
        "code you do not trust.",
    ),
    click.option(
        "--approvals",
        type=click.Choice(get_args(Approvals)),
        help="Choose when you are asked.",
    ),
    click.option(
        "--sandbox",
        type=click.Choice(["auto", "none"]),
        help="none: commands may run without a sandbox.",
    ),
    click.option(
        "--domain",
        "domains",
        metavar="DOMAIN",
        multiple=True,
        help="Commands may reach it (repeatable).",
    ),
    click.option(
        "--allow",
        metavar="RULE",
        multiple=True,
        help="Allow in this run, as in 'Bash(npm test *)' (repeatable).",
    ),
    click.option("--deny", metavar="RULE", multiple=True, help="Deny in this run, likewise."),
    click.option(
        "--add-dir",
        metavar="DIR",
        multiple=True,
        callback=_located,
        help="Another folder that may be read (repeatable).",
    ),
    click.option("--yes", "-y", is_flag=True, help="Approve everything that asks."),
)
_SPENDING = (
    click.option(
        "--tools",
        metavar="LIST",
        multiple=True,
        callback=lambda _, __, lists: lists or None,
        help='Offer the model only these, as in "Read,mcp:github"; "" is none, default is all.',
    ),
    click.option("--max-steps", type=click.IntRange(1), help="Model calls a turn may take."),
    click.option("--max-tokens", type=click.IntRange(1), help="Tokens this run may use."),
    click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="Dollars, likewise."),
    click.option("--max-seconds", type=click.FloatRange(0, min_open=True), help="Time, likewise."),
    click.option("--max-calls", type=click.IntRange(1), help="Tool calls, likewise."),
    click.option("--max-agents", type=click.IntRange(0), help="Agents, likewise."),
)


def spending(command: F) -> F:
    """The flags of commands in which a model works: what it is offered, and what it may cost."""
    for option in reversed(_SPENDING):
        command = option(command)
    return command


def working(command: F) -> F:
    """The flags of every command that acts."""
    for option in reversed(_WORKING):
        command = option(command)
    return command


workspace_option = click.option("--workspace", "-w", metavar="DIR", help=f"Folder ({_DEFAULT}).")
json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON, one record a line.")


def settings_from(
    flags: dict[str, Any], project: Path | None = None, *, attended: bool = False
) -> Settings:
    """The settings in force for a command's flags; `project` is a trusted folder's own file.

    `attended`: a person is there to review what was done.
    """
    return settings_for(os.environ, flags, project, attended=attended)


def open_host() -> Host:
    """The host on this user's data; where that can only be read, a sentence says why."""
    host = storage.open_host(os.environ)
    if problem := host.store.unwritable:
        from steersman.views.text import safe

        click.echo(
            click.style(f"! {safe(problem.what)} {safe(problem.why)}", fg="yellow"), err=True
        )
    return host


def folder_from(workspace: str | None) -> str:
    """The workspace a command means, links followed, as threads remember it."""
    return folders_from(workspace)[0]


def folders_from(workspace: str | None) -> tuple[str, ...]:
    """The workspace a command means, then further folders whose threads it may mean."""
    if workspace and is_far(workspace):
        return (workspace.rstrip("/"),)
    try:
        folder = os.path.realpath(Path(workspace or ".").expanduser())
        return (folder,) if workspace else workspaces.meant(folder)
    except FileNotFoundError as error:
        raise UsageProblem(
            "The folder you are in no longer exists.",
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
