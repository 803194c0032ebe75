"""`steer undo`, `steer redo` and `steer rewind`: the way back, shown before it is taken."""

import asyncio
import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

import click
from msgspec import structs

from steersman.host import Host
from steersman.ports.cli.asking import choose, confirm
from steersman.ports.cli.options import at_terminal, folders_from, open_host
from steersman.ports.cli.values import thread_ids
from steersman.ports.cli.views import coloured_diff
from steersman.records.counting import counted
from steersman.records.errors import NeedsAnswer, NothingToUndo, SteersmanError
from steersman.records.names import written
from steersman.records.settings import Settings
from steersman.records.thread import Thread
from steersman.records.undo import Part, UndoPlan
from steersman.views.changeset import hunk_named, numbered, of_plan
from steersman.views.plans import (
    LOST,
    STAYS,
    Choice,
    Prospect,
    carry_out,
    cut_off,
    prospect,
    question,
)
from steersman.views.rewinding import rewound
from steersman.views.text import IMPORTED_WORDS, one_line, safe

SHOWN = 20
LOOKED_AT = 20  # threads that are looked at for something to undo

_thread = click.argument("thread", shell_complete=thread_ids, required=False)
_yes = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
_force = click.option(
    "--force", is_flag=True, help="Overwrite later changes to the same lines; a copy is kept."
)
_imported = click.option(
    "--imported", is_flag=True, help="Allow it in an imported thread; with --yes, without asking."
)
_workspace = click.option(
    "--workspace", "-w", metavar="DIR", help="The newest thread of this folder (default: here)."
)


@click.command()
@_thread
@click.option(
    "--turn", type=click.IntRange(0), help="Undo this turn (default: the last that changed files)."
)
@click.option(
    "--to", type=click.IntRange(0), metavar="SEQ", help="Undo everything after this message."
)
@click.option(
    "--file", "files", metavar="PATH", multiple=True, help="Undo only this file or folder."
)
@click.option(
    "--hunk", "hunks", metavar="PATH:N", multiple=True, help="Undo only this hunk of a file."
)
@click.option("--list", "listed", is_flag=True, help="Only show what can be undone.")
@_workspace
@_force
@_imported
@_yes
def undo(
    thread: str | None,
    turn: int | None,
    to: int | None,
    listed: bool,
    workspace: str | None,
    **flags: Any,
) -> None:
    """Undo what a turn did to files: contents, deletions, modes and links.

    With --file or --hunk only that is undone, and the rest of the turn stays; both can be repeated.
    --list shows the hunks with their numbers.
    """
    host = open_host()
    folders = folders_from(workspace)
    found = host.find(thread) if thread else host.latest_changed(*folders)
    if _was_cut_off(host, found):
        return
    try:
        plan = host.way_back.plan_undo(found.id, turn=turn, to=to)
        parts = [*map(Part, flags["files"]), *map(hunk_named, flags["hunks"])]
        if parts:
            known = {change.path for change in plan.changes}
            parts = [_here(part, known, found.workspace) for part in parts]
            plan = host.way_back.plan_undo(found.id, turn=turn, to=to, parts=parts)
    except NothingToUndo as problem:
        if thread or turn is not None or to is not None:
            raise
        raise _elsewhere(host, found, folders) or problem from problem
    if listed:
        _list(host, found, plan)
    else:
        yes = _agreed(found, flags["imported"], flags["yes"])
        _carry_out(host, found, plan, force=flags["force"], yes=yes)


def _was_cut_off(host: Host, thread: Thread) -> bool:
    """Settle an undo or redo that was cut off, and say so: whoever asks may mean that one."""
    found = asyncio.run(cut_off(host, thread.id, "steer "))
    if found is None:
        return False
    click.echo(found.words)
    asyncio.run(_heard(host, thread, found.seq))
    return True


async def _heard(host: Host, thread: Thread, seq: int) -> None:
    async with host:
        handle = await host.attach(thread.id, Settings(), thinks=False)
        await handle.undo_told(seq)


def _here(part: Part, known: Collection[str], workspace: str) -> Part:
    """A part by its path in the workspace, where a person named it from the folder they are in."""
    given = part.path.rstrip("/")
    if any(path == given or path.startswith(f"{given}/") for path in known):
        return part
    return structs.replace(part, path=written(os.path.relpath(os.path.realpath(given), workspace)))


def _elsewhere(host: Host, looked_at: Thread, folders: Sequence[str]) -> NothingToUndo | None:
    """What to say where another thread of this folder has something to undo."""
    others = [one for one in host.threads(*folders) if not one.imported and one != looked_at]
    for other in others[:LOOKED_AT]:
        with suppress(NothingToUndo):
            found = of_plan(host, other.id, host.way_back.plan_undo(other.id))
            if found is None:
                continue
            return NothingToUndo(
                f"There is nothing to undo in thread {looked_at.id}, the newest here.",
                f"Thread {other.id} ({one_line(other.title, 40)}) has something: {found.head}.",
                f"steer undo {other.id}",
            )
    return None


def _list(host: Host, thread: Thread, plan: UndoPlan) -> None:
    found = of_plan(host, thread.id, plan)
    for text in numbered(found) if found else ["Nothing to undo: no file would change."]:
        click.echo(coloured_diff(text))


@click.command()
@_thread
@_workspace
@_force
@_imported
@_yes
def redo(thread: str | None, workspace: str | None, force: bool, imported: bool, yes: bool) -> None:
    """Redo the last undo; after a rewind, what it undid in the thread that it left."""
    host = open_host()
    found = host.find(thread) if thread else host.latest_changed(*folders_from(workspace))
    if _was_cut_off(host, found):
        return
    back = host.way_back.rewound(found.id)
    if back is not None and back.undo:
        found = host.find(back.source)
        if _was_cut_off(host, found):
            return
    plan = host.way_back.plan_return(back) if back is not None else None
    plan = plan or host.way_back.plan_redo(found.id)
    _carry_out(host, found, plan, force=force, yes=_agreed(found, imported, yes))


@click.command()
@click.argument("thread", shell_complete=thread_ids)
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
    asyncio.run(host.tidy(found.id))
    plan = host.way_back.plan_rewind(found.id, seq)
    if plan is not None:
        _carry_out(host, found, plan, force=force, yes=_agreed(found, imported, yes))
    click.echo(asyncio.run(_branch(found.id, seq, undone=plan is not None)))


async def _branch(source: str, at: int, *, undone: bool) -> str:
    async with open_host() as host:
        return (await rewound(host, source, at, undone=undone)).id


def _agreed(thread: Thread, imported: bool, yes: bool) -> bool:
    """Whether nobody needs to be asked; about an imported thread a person is, unless they said."""
    if thread.imported:
        click.echo(f"{thread.id}: {IMPORTED_WORDS}")
    return yes and (imported or not thread.imported)


def _carry_out(host: Host, thread: Thread, plan: UndoPlan, *, force: bool, yes: bool) -> None:
    found = prospect(host, thread.id, plan)
    _preview(found.diffs)
    if found.stays:
        click.echo("\n  ".join([STAYS, *found.stays]))
    if found.lost:
        click.echo(LOST)
        _preview(found.lost)
    if found.stands:
        click.echo(safe(found.stands))
    choice: Choice = "whole"
    if found.taken and not force:
        choice = _chosen(found, asks=not yes and at_terminal())
    elif not yes:
        if not at_terminal():
            told = f"The {plan.cause} needs an answer, but there is no one to ask."
            flags = "--imported --yes" if thread.imported else "--yes"
            raise NeedsAnswer(told, try_this=f"Pass {flags} to do it.")
        confirm(question(found))
    asyncio.run(_do(host, thread, found, choice))


def _chosen(found: Prospect, *, asks: bool) -> Choice:
    """What to do where someone else's work would be lost."""
    told = ", ".join(found.names[:10])
    if not asks:
        raise SteersmanError(
            f"Changed since then: {told}.",
            "Nothing was done, because it would overwrite these later changes.",
            "Pass --force to overwrite them; a copy is kept.",
        )
    keep = "[m] keep the later changes and undo the rest, " if found.rest is not None else ""
    question = f"{keep}[o] overwrite them (a copy is kept), [n] do nothing"
    match choose(f"Later changes in {told}: {question}", "mon" if keep else "on", "n"):
        case "m":
            return "rest"
        case "o":
            return "whole"
    raise click.Abort


async def _do(host: Host, thread: Thread, found: Prospect, choice: Choice) -> None:
    async with host:
        handle = await host.attach(thread.id, Settings(), thinks=False)
        done = await carry_out(host, handle, found, choice)
        more = ["The rest of the turn stays."] if done.plan.parts else []
        if done.overwrote:
            other = "redo" if done.plan.cause == "undo" else "undo"
            more.append(f"steer {other} {thread.id} restores what it overwrote.")
        told = " ".join([f"{done.words} in thread {thread.id}.", *more, *done.notes])
        click.echo(safe(told))
        sys.stdout.flush()  # who is killed from here on has said it
        await handle.undo_told(done.seq)


def _preview(diffs: Sequence[str]) -> None:
    for diff in diffs[:SHOWN]:
        click.echo(coloured_diff(diff))
    if len(diffs) > SHOWN:
        click.echo(f"  … and {counted(len(diffs) - SHOWN, 'more change')}")
