"""`/undo`, `/diff`: what was changed, and the way back, shown before it is taken."""

import asyncio
import shlex

import msgspec

from steersman.records.errors import UsageProblem
from steersman.records.undo import UndoPlan
from steersman.views import plans
from steersman.views.arranging import IGNORED
from steersman.views.changeset import Changeset, changeset, named, numbered
from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Deed, Stage
from steersman.views.commands.words import cell, fenced
from steersman.views.seat import Seat
from steersman.views.text import IMPORTED_WORDS, counted

CHOICES: dict[str, plans.Choice] = {"m": "rest", "o": "whole"}
NOTHING = Deed("n", "do nothing")
DEEDS = (
    Deed("m", "keep the later changes, undo the rest"),
    Deed("o", "overwrite them (a copy is kept)"),
    NOTHING,
)
ONLY_OVER = (Deed("n", "do nothing: keep the later changes"), DEEDS[1])  # there is no rest
SHOWN = 20
LONGEST = 60_000


async def undo(stage: Stage, arguments: str) -> None:
    """Undo what the last turn did to files."""
    handle = stage.seat.handle
    if await was_cut_off(stage):
        return
    plan = await handle.plan_undo()
    try:
        parts = named(shlex.split(arguments), {change.path for change in plan.changes})
    except ValueError as error:
        raise UsageProblem(f"That cannot be read: {error}.") from error
    await carry_out(stage, await handle.plan_undo(parts=parts) if parts else plan)


async def carry_out(stage: Stage, plan: UndoPlan, *, seen: bool = False) -> None:
    """Show a plan, ask, and do it.

    A user who has `seen` the changes and chose to undo them is only asked where more would be lost.
    """
    if not plan.changes:
        stage.tell(f"Nothing to {plan.cause}: no file would change.")
        return
    found = await asyncio.to_thread(plans.prospect, stage.seat.host, stage.seat.id, plan)
    choice: plans.Choice | None = "whole"
    if not seen or found.stands or plan.others or found.taken or found.imported:
        choice = await chosen(stage, found, plans.question(found))
    if choice is None:
        stage.tell("Nothing was done.")
        return
    hint(stage, await perform(stage, found, choice))


async def chosen(stage: Stage, found: plans.Prospect, title: str) -> plans.Choice | None:
    """What the user wants of a plan; None: nothing."""
    if not found.taken:
        return "whole" if await stage.confirm(title, described(found)) else None
    deeds = ONLY_OVER if found.rest is None else DEEDS
    return CHOICES.get(await stage.read(title, described(found), deeds) or "")


async def perform(stage: Stage, found: plans.Prospect, choice: plans.Choice) -> plans.Done:
    """Do what the user chose, and say so."""
    handle = stage.seat.handle
    done = await plans.carry_out(stage.seat.host, handle, found, choice)
    stage.done(f"{done.words}.")
    for note in done.notes:
        stage.tell(note)
    await handle.undo_told(done.seq)
    return done


async def was_cut_off(stage: Stage) -> bool:
    """Say what became of an undo or redo that was cut off: whoever asks may mean that one."""
    found = await plans.cut_off(stage.seat.host, stage.seat.id, "/")
    if found is None:
        return False
    stage.tell(found.words)
    await stage.seat.handle.undo_told(found.seq)
    return True


def hint(stage: Stage, done: plans.Done) -> None:
    """Say what reverses a plan that was carried out."""
    if done.plan.cause == "undo":
        stage.tell("/redo reverses this.")
    elif done.overwrote:
        stage.tell("/undo restores what it overwrote.")


def described(found: plans.Prospect) -> str:
    """A plan as Markdown: what someone else would lose first, then every change."""
    parts = [f"**{IMPORTED_WORDS}**"] if found.imported else []
    if found.taken:
        names = ", ".join(cell(name, 80) for name in found.names[:10])
        more = f" and {len(found.names) - 10} more" if len(found.names) > 10 else ""
        parts.append(
            f"**This overwrites later changes in: {names}{more}{':' if found.lost else '.'}**"
        )
    if found.lost:
        parts.append(diffs(found.lost))
    if found.stays:
        parts += [plans.STAYS, "\n".join(f"- {cell(one, 100)}" for one in found.stays)]
    if found.stands:
        parts.append(f"**{cell(found.stands, 600)}**")
    if found.lost or found.stays or found.stands:
        parts.append(f"What the {found.plan.cause} does:")
    return "\n\n".join([*parts, diffs(found.diffs)])


def diffs(found: list[str]) -> str:
    """Diffs in a fence, not more than a person reads."""
    text, left = "", LONGEST
    for count, diff in enumerate(found):
        if count >= SHOWN or len(diff) > left:
            text += f"… and {counted(len(found) - count, 'more change')}\n"
            break
        left -= len(diff)
        text += diff if diff.endswith("\n") else f"{diff}\n"
    return fenced(text, "diff")


async def since(seat: Seat, at: int) -> UndoPlan | None:
    """What undoing all after a message would do; None when nothing was changed since."""
    await seat.host.tidy(seat.id)
    return await asyncio.to_thread(seat.host.way_back.plan_rewind, seat.id, at)


async def diff(stage: Stage, arguments: str) -> None:
    """Show what this thread changed, or only its last turn."""
    which = arguments.strip()
    if which not in ("", "last"):
        raise UsageProblem(f"/diff has no option “{which}”.", try_this="Use /diff or /diff last.")
    if await stage.open("diff" if which else "thread"):
        return
    found = [] if which else await changes(stage.seat)
    last = await asyncio.to_thread(_last, stage.seat) if which else None
    if last:
        title = f"Changes of turn {last.turn}" if last.turn else "Last changes"
        stage.show(f"{title}: {counted(len(last.own), 'file')}", diffs(numbered(last)[1:]))
    elif not found:
        stage.tell("This thread has changed no files.")
    else:
        folded = [one for one in found if one.startswith("git: ") or one.endswith(f"{IGNORED}\n")]
        files = len(found) - len(folded)
        stage.show(f"Changes: {counted(files, 'file')}", diffs(found))


def _last(seat: Seat) -> Changeset | None:
    return changeset(seat.host, seat.id) if seat.id else None


async def changes(seat: Seat) -> list[str]:
    """What a thread changed in all, and what of it is still there, as diffs."""
    if seat.thread is None:
        return []
    plan = await since(seat, 0)
    if plan is None:
        return []
    done = tuple(one.reversed() for one in plan.changes)
    forward = msgspec.structs.replace(plan, changes=done, kept=0)
    return await asyncio.to_thread(plans.described, seat.host, seat.id, forward)


COMMANDS = (
    Command(
        "undo",
        "Undo what the last turn did to files.",
        undo,
        usage="[PATH …]",
        more="With paths, only those files; `src/app.py:2` is the second hunk of a file. The rest "
        "of the turn stays.",
    ),
    Command(
        "diff",
        "Show what this thread changed.",
        diff,
        usage="[last]",
        more="`/diff last` shows the last turn that changed files.",
        while_working=True,
    ),
)
