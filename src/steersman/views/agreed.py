"""The way back for programs: a plan is shown first, and whoever agrees names it by its digest."""

import asyncio
import hashlib
from collections.abc import Sequence

import msgspec

from steersman.host import Host, ThreadHandle
from steersman.records.errors import Denied, TooLate
from steersman.records.thread import Thread
from steersman.records.thread_facts import Plan, Undone
from steersman.records.undo import Part
from steersman.views.plans import Choice, Prospect, carry_out, cut_off, prospect
from steersman.views.rewinding import rewound

AGAIN = "Ask for the plan again."


def check_own(thread: Thread) -> None:
    """Raise for one that came from a file: that could say anything about any file."""
    if thread.imported:
        raise Denied(
            "This thread was imported from a file.",
            "What it would undo was written by someone else.",
            f"Look at it and agree on the machine itself: steer undo {thread.id}",
        )


async def found(
    host: Host, handle: ThreadHandle, turn: int | None, redo: bool, parts: Sequence[Part]
) -> Prospect:
    """What an undo of the last turn or a certain one would do, or of `parts`; or a redo."""
    check_own(handle.thread)
    if redo:
        plan = await handle.plan_redo()
    else:
        plan = await handle.plan_undo(turn=turn, parts=parts)
    return await asyncio.to_thread(prospect, host, handle.id, plan)


def shown(found: Prospect) -> Plan:
    """The same for programs."""
    digest = hashlib.sha256(msgspec.json.encode(found)).hexdigest()
    return Plan(
        digest, found.diffs, found.names, found.lost, found.stays, found.stands,
        found.rest is not None,
    )  # fmt: skip


async def settle(host: Host, handle: ThreadHandle) -> None:
    """Finish an undo that was cut off, and say so: the plan was of something else then."""
    settled = await cut_off(host, handle.id, "steer ")
    if settled is not None:
        await handle.undo_told(settled.seq)
        raise TooLate(settled.words, try_this=AGAIN)


async def done(
    host: Host, handle: ThreadHandle, plan: Prospect, digest: str, choice: Choice
) -> Undone:
    """Do what was agreed to, if that is what would be done."""
    if shown(plan).digest != digest:
        raise TooLate("The files have changed since the plan was made.", try_this=AGAIN)
    ended = await carry_out(host, handle, plan, choice)
    await handle.undo_told(ended.seq)
    return Undone(ended.words, ended.notes)


async def back_to(
    host: Host, handle: ThreadHandle, at: int, digest: str, *, files: bool
) -> Thread | Plan:
    """The thread that continues from a message; the plan for the `files`, until it is agreed to."""
    await host.tidy(handle.id)
    plan = None
    if files:
        check_own(handle.thread)
        plan = await asyncio.to_thread(host.way_back.plan_rewind, handle.id, at)
    if plan is not None:
        would = await asyncio.to_thread(prospect, host, handle.id, plan)
        if shown(would).digest != digest:
            return shown(would)
        await done(host, handle, would, digest, "whole")
    return await rewound(host, handle.id, at, undone=plan is not None)
