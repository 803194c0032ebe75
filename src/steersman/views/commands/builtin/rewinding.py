"""`/rewind` and `/redo`: back to an earlier message, with files or without, and forward again."""

import asyncio
from contextlib import suppress
from datetime import datetime

from msgspec import Struct

from steersman.records.errors import TooLate, UsageProblem
from steersman.records.in_context import typed
from steersman.records.message import Rewind, Steer, TurnStart, User
from steersman.records.thread import REWOUND
from steersman.views.commands.builtin.back import (
    NOTHING,
    carry_out,
    chosen,
    described,
    hint,
    perform,
    since,
    was_cut_off,
)
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Deed, Row, Stage
from steersman.views.commands.words import nothing, number
from steersman.views.leaving import agreed
from steersman.views.plans import prospect
from steersman.views.seat import Seat
from steersman.views.text import ago, counted, one_line

BOTH, TALK, FILES = "y", "c", "f"
DEEDS = (
    Deed(BOTH, "conversation and files"),
    Deed(TALK, "conversation only"),
    Deed(FILES, "files only"),
    NOTHING,
)


async def rewind(stage: Stage, arguments: str) -> None:
    """Go back to a message: files and conversation, or one of them."""
    seat = stage.seat
    at = number("rewind", arguments)
    words = corr = ""
    if at is None:
        said = await asyncio.to_thread(prompts, seat)
        rows = [Row(str(one.seq), one_line(one.text, 90), ago(one.time)) for one in said]
        picked = await stage.pick("Go back to before which message?", rows)
        if picked is None:
            return
        prompt = next(one for one in said if str(one.seq) == picked)
        at, words, corr = prompt.before, prompt.text, prompt.corr
    elif at > (await asyncio.to_thread(seat.host.find, seat.id)).head:
        raise UsageProblem(f"This thread has no message {at}.")
    plan = await since(seat, at)
    how, found, choice = TALK, None, None
    if plan is not None and plan.changes:
        found = await asyncio.to_thread(prospect, seat.host, seat.id, plan)
        place = f"before “{one_line(words, 40)}”" if words else f"message {at}"
        title = f"Go back to {place}, undoing {counted(len(plan.changes), 'file change')}?"
        how = await stage.read(title, described(found), DEEDS) or NOTHING.key
        if how in (BOTH, FILES):
            choice = await chosen(stage, found, title) if found.taken else "whole"
            how = how if choice else NOTHING.key
    if how == NOTHING.key or (how != FILES and not await agreed(stage)):
        stage.tell("Nothing was done.")
        return
    if found is not None and choice is not None:
        done = await perform(stage, found, choice)
        if how == FILES:
            hint(stage, done)
            return
    await _branch(stage, at, undone=how == BOTH)
    if corr:
        with suppress(TooLate):  # it was queued before the place that was gone back to
            await seat.handle.withdraw(corr)
    if words:
        stage.compose(words)


async def _branch(stage: Stage, at: int, *, undone: bool) -> None:
    """Continue from a message in a new thread, which notes what became of the files."""
    seat, source = stage.seat, stage.seat.id
    note = seat.host.way_back.rewind
    rewind, stays = await asyncio.to_thread(note, source, at, undone=undone)
    copy = await seat.fork(at, REWOUND)
    await seat.handle.rewound(rewind, stays)
    await stage.moved()
    stage.tell(
        f"Thread {copy.id} continues from message {at} of {source}, which stays complete. "
        "/redo goes back there."
    )


async def redo(stage: Stage, arguments: str) -> None:
    """Undo the last undo or rewind."""
    nothing("redo", arguments)
    handle = stage.seat.handle
    if await was_cut_off(stage):
        return
    back = await asyncio.to_thread(stage.seat.host.way_back.rewound, handle.id)
    if back is None:
        await carry_out(stage, await handle.plan_redo())
    else:
        await _forward(stage, back)


async def _forward(stage: Stage, back: Rewind) -> None:
    """Go back to the thread that a rewind left, and restore the files that it changed."""
    seat, way = stage.seat, stage.seat.host.way_back
    await asyncio.to_thread(seat.host.find, back.source)
    await seat.host.tidy(back.source)
    plan = await asyncio.to_thread(way.plan_return, back)
    found = choice = None
    if plan is not None and plan.changes:
        found = await asyncio.to_thread(prospect, seat.host, back.source, plan)
        title = f"Undo the rewind, with {counted(len(plan.changes), 'file change')}?"
        choice = await chosen(stage, found, title)
        if choice is None:
            stage.tell("Nothing was done.")
            return
    if not await agreed(stage):
        return
    await seat.take(back.source)
    await stage.moved()
    if found is not None and choice is not None:
        hint(stage, await perform(stage, found, choice))
    stage.tell(f"The rewind is undone: this is thread {back.source} again.")


class Prompt(Struct, frozen=True):
    """A message of the user; to go back to `before` is to be where it was not delivered.

    `corr` is set where it waited to be.
    """

    seq: int
    before: int
    text: str
    time: datetime
    corr: str = ""


def prompts(seat: Seat) -> list[Prompt]:
    """The user's messages, the newest first."""
    if seat.thread is None:
        raise UsageProblem("There is no thread yet.", try_this="Send a message first.")
    found = list[Prompt]()
    start, delivered = 1, dict[str | None, int]()
    for message in seat.host.messages(seat.id, kinds={"user", "turn_start", "steer"}):
        match message.body:
            case TurnStart():
                start = message.seq
            case Steer(state="delivered"):
                delivered[message.corr] = message.seq
            case User(text=text, via=via):
                at = delivered.get(message.corr, message.seq)
                begins = via == "prompt" or (via == "queue" and at == start + 1)
                before = max(start - 1 if begins else at - 1, 1)
                corr = message.corr or "" if message.corr in delivered else ""
                found.append(Prompt(message.seq, before, typed(text), message.time, corr))
    if not found:
        raise UsageProblem("There are no messages in this thread yet.")
    return found[::-1]


def _messages(stage: Stage, _: str) -> list[Choice]:
    if stage.seat.thread is None:
        return []
    head = stage.seat.host.find(stage.seat.id).head
    said = stage.seat.host.messages(stage.seat.id, kinds={"user"})
    texts = [(m.seq, typed(m.body.text)) for m in said if isinstance(m.body, User)]
    return [Choice(str(seq), one_line(text, 60)) for seq, text in texts[::-1] if seq <= head]


COMMANDS = (
    Command(
        "rewind",
        "Go back to a message: files and conversation.",
        rewind,
        usage="[SEQ]",
        more="Where files changed since, you choose: both, the conversation only, or the files "
        "only. The conversation continues from there in a new thread; this one stays complete. "
        "`/redo` reverses it. Without SEQ, a list of your messages; you can edit the one you "
        "choose.",
        complete=_messages,
    ),
    Command("redo", "Undo the last undo or rewind.", redo),
)
