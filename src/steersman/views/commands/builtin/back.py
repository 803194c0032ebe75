"""`/undo`, `/redo`, `/rewind`, `/diff`: what was changed, and the way back, shown before it is
taken."""

import asyncio
import shlex

import msgspec

from steersman.records.errors import ToolProblem, UsageProblem
from steersman.records.message import TurnStart, User
from steersman.records.undo import UndoPlan
from steersman.views import plans
from steersman.views.arranging import IGNORED
from steersman.views.changeset import named
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.commands.words import cell, fenced, nothing, number
from steersman.views.leaving import agreed
from steersman.views.seat import Seat
from steersman.views.text import IMPORTED_WORDS, counted, one_line

SHOWN = 20
LONGEST = 60_000


async def undo(stage: Stage, arguments: str) -> None:
    """Undo what the last turn did to files."""
    handle = stage.seat.handle
    plan = await handle.plan_undo()
    try:
        parts = named(shlex.split(arguments), {change.path for change in plan.changes})
    except ValueError as error:
        raise UsageProblem(f"That cannot be read: {error}.") from error
    await carry_out(stage, await handle.plan_undo(parts=parts) if parts else plan)


async def redo(stage: Stage, arguments: str) -> None:
    """Undo the last undo."""
    nothing("redo", arguments)
    await carry_out(stage, await stage.seat.handle.plan_redo())


async def carry_out(stage: Stage, plan: UndoPlan, *, seen: bool = False) -> bool:
    """Show a plan, ask, and do it; False when the user does not want it.

    A user who has `seen` the changes and chose to undo them is only asked where more would be lost.
    """
    seat = stage.seat
    if not plan.changes:
        stage.tell(f"Nothing to {plan.cause}: the files are like that already.")
        return False
    taken = await asyncio.to_thread(seat.host.way_back.conflicts, seat.id, plan)
    title = f"{plan.cause.capitalize()} {counted(len(plan.changes), 'change')}?"
    sure = seen and not taken and not seat.handle.thread.imported
    told = "" if sure else await asyncio.to_thread(described, seat, plan, taken)
    if not sure and not await stage.confirm(title, told):
        stage.tell("Nothing was done.")
        return False
    await seat.handle.undo(plan, force=bool(taken), imported=True)  # the user saw this plan
    done = "Undone" if plan.cause == "undo" else "Redone"
    stage.done(f"{done}: {counted(len(plan.changes), 'change')}.")
    if plan.cause == "undo":
        stage.tell("/redo reverses this.")
    elif taken:
        stage.tell("/undo restores what it overwrote.")
    return True


def described(seat: Seat, plan: UndoPlan, taken: tuple[str, ...] = ()) -> str:
    """A plan as Markdown: what someone else would lose first, then every change."""
    parts = []
    if seat.host.find(seat.id).imported:
        parts.append(f"**{IMPORTED_WORDS}**")
    if taken:
        known = seat.host.way_back.names(seat.id)
        names = ", ".join(cell(known.get(path, path), 80) for path in taken[:10])
        more = f" and {len(taken) - 10} more" if len(taken) > 10 else ""
        parts.append(f"**Changed by someone else since, and overwritten by this: {names}{more}.**")
    return "\n\n".join([*parts, diffs(plans.described(seat.host, seat.id, plan))])


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


async def rewind(stage: Stage, arguments: str) -> None:
    """Go back to a message: files and conversation."""
    seat = stage.seat
    at = number("rewind", arguments)
    words = ""
    if at is None:
        said = prompts(seat)
        rows = [Row(str(seq), one_line(text, 90), f"message {seq}") for seq, _, text in said]
        chosen = await stage.pick("Go back to before which message?", rows)
        if chosen is None:
            return
        at, words = next((before, text) for seq, before, text in said if str(seq) == chosen)
    elif at > seat.host.find(seat.id).head:
        raise UsageProblem(f"This thread has no message {at}.")
    if not await agreed(stage):
        return
    plan = await _since(seat, at)
    if plan is not None and plan.changes and not await carry_out(stage, plan):
        return
    source = seat.id
    copy = await seat.fork(at)
    await stage.moved()
    stage.tell(f"Thread {copy.id} continues from message {at} of {source}, which stays complete.")
    if words:
        stage.compose(words)


async def _since(seat: Seat, at: int) -> UndoPlan | None:
    """What undoing all after a message would do; None when nothing was changed since."""
    try:
        return await seat.handle.plan_undo(to=at)
    except ToolProblem:
        return None


def prompts(seat: Seat) -> list[tuple[int, int, str]]:
    """The user's messages, the newest first: number, the message to go back to, words."""
    if seat.thread is None:
        raise UsageProblem("There is no thread yet.", try_this="Send a message first.")
    found = []
    start = 1
    for message in seat.host.messages(seat.id, kinds={"user", "turn_start"}):
        match message.body:
            case TurnStart():
                start = message.seq
            case User(text=text, via="prompt"):
                found.append((message.seq, max(start - 1, 1), text))
            case User(text=text):
                found.append((message.seq, message.seq - 1, text))
    if not found:
        raise UsageProblem("There are no messages in this thread yet.")
    return found[::-1]


def _messages(stage: Stage, _: str) -> list[Choice]:
    if stage.seat.thread is None:
        return []
    head = stage.seat.host.find(stage.seat.id).head
    said = stage.seat.host.messages(stage.seat.id, kinds={"user"})
    texts = [(m.seq, m.body.text) for m in said if isinstance(m.body, User)]
    return [Choice(str(seq), one_line(text, 60)) for seq, text in texts[::-1] if seq <= head]


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
    plan = await _since(seat, 0)
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
    Command("redo", "Undo the last undo.", redo),
    Command(
        "rewind",
        "Go back to a message: files and conversation.",
        rewind,
        usage="[SEQ]",
        more="Files are restored, and a new thread continues from there; this one stays "
        "complete. Without SEQ, a list of your messages; you can edit the one you choose.",
        complete=_messages,
    ),
    Command("diff", "Show what this thread changed.", diff, while_working=True),
)
