"""`steer undo`, `steer redo` and `steer rewind`: the way back, shown before it is taken."""

import asyncio
from collections.abc import Sequence

import click

from steersman.host import Host
from steersman.ports.cli.options import at_terminal, folders_from, open_host
from steersman.ports.cli.views import coloured_diff
from steersman.records.counting import counted
from steersman.records.errors import NeedsAnswer, SteersmanError
from steersman.records.settings import Settings
from steersman.records.thread import Thread
from steersman.records.undo import UndoPlan
from steersman.views.plans import described
from steersman.views.text import IMPORTED_WORDS

SHOWN = 20

_thread = click.argument("thread", required=False)
_yes = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
_force = click.option("--force", is_flag=True, help="Also undo changes made by someone else.")
_imported = click.option(
    "--imported", is_flag=True, help="Also of an imported thread, with --yes without asking."
)
_workspace = click.option(
    "--workspace", "-w", metavar="DIR", help="The newest thread of this folder (default: here)."
)


@click.command()
@_thread
@click.option("--turn", type=click.IntRange(0), help="This turn (default: the last that changed).")
@click.option("--to", type=click.IntRange(0), metavar="SEQ", help="All after this message.")
@_workspace
@_force
@_imported
@_yes
def undo(
    thread: str | None,
    turn: int | None,
    to: int | None,
    workspace: str | None,
    force: bool,
    imported: bool,
    yes: bool,
) -> None:
    """Undo what a turn did to files: contents, deletions, modes and links."""
    host = open_host()
    found = _which(host, thread, workspace)
    plan = host.way_back.plan_undo(found.id, turn=turn, to=to)
    _carry_out(host, found, plan, force=force, yes=_agreed(found, imported, yes))


@click.command()
@_thread
@_workspace
@_force
@_imported
@_yes
def redo(thread: str | None, workspace: str | None, force: bool, imported: bool, yes: bool) -> None:
    """Redo the last undo."""
    host = open_host()
    found = _which(host, thread, workspace)
    plan = host.way_back.plan_redo(found.id)
    _carry_out(host, found, plan, force=force, yes=_agreed(found, imported, yes))


@click.command()
@click.argument("thread")
@click.argument("seq", type=click.IntRange(1))
@_force
@_imported
@_yes
def rewind(thread: str, seq: int, force: bool, imported: bool, yes: bool) -> None:
    """Go back to message SEQ of THREAD: files as they were, and a new thread that ends there.

    The thread itself stays whole; work continues in the new one, whose id is printed.
    """
    host = open_host()
    found = host.find(thread)
    plan = host.way_back.plan_rewind(found.id, seq)
    if plan is not None:
        _carry_out(host, found, plan, force=force, yes=_agreed(found, imported, yes))
    click.echo(open_host().fork(found.id, seq).id)


def _which(host: Host, thread: str | None, workspace: str | None) -> Thread:
    return host.find(thread) if thread else host.latest_changed(*folders_from(workspace))


def _agreed(thread: Thread, imported: bool, yes: bool) -> bool:
    """Whether nobody needs to be asked; about an imported thread a person is, unless they said."""
    if thread.imported:
        click.echo(f"{thread.id}: {IMPORTED_WORDS}")
    return yes and (imported or not thread.imported)


def _carry_out(host: Host, thread: Thread, plan: UndoPlan, *, force: bool, yes: bool) -> None:
    _preview(described(host, thread.id, plan))
    taken = host.way_back.conflicts(thread.id, plan)
    if taken and not force:
        raise SteersmanError(
            f"Changed by someone else since: {', '.join(taken[:10])}.",
            "Nothing was done, so that nothing of theirs is lost.",
            "Pass --force to undo it anyway.",
        )
    if not yes:
        if not at_terminal():
            raise NeedsAnswer(
                f"The {plan.cause} needs an answer, but there is no one to ask.",
                try_this="Pass --imported --yes to do it."
                if thread.imported
                else "Pass --yes to do it.",
            )
        click.confirm(
            f"{plan.cause.capitalize()} {counted(len(plan.changes), 'change')}?", abort=True
        )
    asyncio.run(_do(host, thread, plan, force=force))
    done = "Undone" if plan.cause == "undo" else "Redone"
    click.echo(f"{done}: {counted(len(plan.changes), 'change')} in thread {thread.id}.")


async def _do(host: Host, thread: Thread, plan: UndoPlan, *, force: bool) -> None:
    async with host:
        handle = await host.attach(thread.id, Settings(), thinks=False)
        await handle.undo(plan, force=force, imported=True)  # a person saw this plan


def _preview(diffs: Sequence[str]) -> None:
    for diff in diffs[:SHOWN]:
        click.echo(coloured_diff(diff))
    if len(diffs) > SHOWN:
        click.echo(f"  … and {counted(len(diffs) - SHOWN, 'more change')}")
