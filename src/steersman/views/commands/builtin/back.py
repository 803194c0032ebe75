"""`/undo`, `/diff`: what was changed, and the way back, shown before it is taken."""

import asyncio
import shlex

import msgspec

from steersman.host import Host
from steersman.records.errors import UsageProblem
from steersman.records.undo import UndoPlan
from steersman.views import plans
from steersman.views.arranging import IGNORED
from steersman.views.changeset import named
from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Deed, Stage
from steersman.views.commands.words import cell, fenced, nothing
from steersman.views.seat import Seat
from steersman.views.text import IMPORTED_WORDS, counted

KEEP, OVERWRITE = "m", "o"
DEEDS = (
    Deed(KEEP, "keep mine, undo the rest"),
    Deed(OVERWRITE, "overwrite it (a copy is kept)"),
    Deed("n", "nothing"),
)
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
    seat = stage.seat
    if not plan.changes:
        stage.tell(f"Nothing to {plan.cause}: the files are like that already.")
        return
    taken = await asyncio.to_thread(seat.host.way_back.conflicts, seat.id, plan)
    stands = await asyncio.to_thread(seat.host.way_back.stands, seat.id, plan)
    if not seen or stands or plan.others or taken or seat.handle.thread.imported:
        agreed = await _agreed(stage, plan, taken)
        if agreed is None:
            stage.tell("Nothing was done.")
            return
        plan, taken = agreed
    await perform(stage, plan, taken)
    hint(stage, plan, taken)


async def _agreed(
    stage: Stage, plan: UndoPlan, taken: tuple[str, ...]
) -> tuple[UndoPlan, tuple[str, ...]] | None:
    """What the user wants of a plan, and what of someone else's is overwritten; None: nothing."""
    host, thread = stage.seat.host, stage.seat.id
    told = await asyncio.to_thread(described, host, thread, plan, taken)
    title = f"{plan.cause.capitalize()} {counted(len(plan.changes), 'change')}?"
    rest = await asyncio.to_thread(plans.rest, host, thread, plan, taken)
    if rest is None:
        return (plan, taken) if await stage.confirm(title, told) else None
    how = await stage.read(title, told, DEEDS)
    return (rest, ()) if how == KEEP else (plan, taken) if how == OVERWRITE else None


async def perform(stage: Stage, plan: UndoPlan, taken: tuple[str, ...]) -> None:
    """Do what the user was shown, over what someone else changed, too."""
    handle = stage.seat.handle
    way = stage.seat.host.way_back
    copies = await asyncio.to_thread(way.copy_others, handle.id, plan, taken)
    seq = await handle.undo(plan, force=bool(taken), imported=True)
    done = "Undone" if plan.cause == "undo" else "Redone"
    stage.done(f"{done}: {counted(len(plan.changes), 'change')}.")
    if copies:
        stage.tell(f"A copy of what it overwrote is in {copies}.")
    if stands := await asyncio.to_thread(way.stands, handle.id, plan):
        stage.tell(stands)
    await handle.undo_told(seq)


async def was_cut_off(stage: Stage) -> bool:
    """Say what became of an undo or redo that was cut off: whoever asks may mean that one."""
    found = await plans.cut_off(stage.seat.host, stage.seat.id, "/")
    if found is None:
        return False
    stage.tell(found.words)
    await stage.seat.handle.undo_told(found.seq)
    return True


def hint(stage: Stage, plan: UndoPlan, taken: tuple[str, ...]) -> None:
    """Say what reverses a plan that was carried out."""
    if plan.cause == "undo":
        stage.tell("/redo reverses this.")
    elif taken:
        stage.tell("/undo restores what it overwrote.")


def described(host: Host, thread: str, plan: UndoPlan, taken: tuple[str, ...] = ()) -> str:
    """A plan as Markdown: what someone else would lose first, then every change."""
    parts = []
    stands = host.way_back.stands(thread, plan)
    stays = plans.kept(host, thread, plan, taken)
    lost = plans.overwritten(host, thread, plan, taken)
    if host.find(thread).imported:
        parts.append(f"**{IMPORTED_WORDS}**")
    if taken:
        known = host.way_back.names(thread)
        names = ", ".join(cell(known.get(path, path), 80) for path in taken[:10])
        more = f" and {len(taken) - 10} more" if len(taken) > 10 else ""
        parts.append(f"**Changed by someone else since, and overwritten by this: {names}{more}.**")
    if lost:
        parts += [plans.LOST, diffs(lost)]
    if stays:
        parts += [plans.STAYS, "\n".join(f"- {cell(one, 100)}" for one in stays)]
    if stands:
        parts.append(f"**{cell(stands, 600)}**")
    if lost or stays or stands:
        parts.append(f"What the {plan.cause} does:")
    return "\n\n".join([*parts, diffs(plans.described(host, thread, plan))])


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
    """Show what this thread changed."""
    nothing("diff", arguments)
    if await stage.open("diff"):
        return
    found = await changes(stage.seat)
    if not found:
        stage.tell("This thread has changed no files.")
    else:
        folded = [one for one in found if one.startswith("git: ") or one.endswith(f"{IGNORED}\n")]
        files = len(found) - len(folded)
        stage.show(f"Changes: {counted(files, 'file')}", diffs(found))


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
    Command("diff", "Show what this thread changed.", diff, while_working=True),
)
