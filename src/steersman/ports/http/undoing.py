"""The way back over HTTP: shown first, then done."""

import asyncio
import hashlib
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from steersman.host import ThreadHandle
from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.ports.http.fields import OneThread, facts_of
from steersman.ports.http.layer import operation
from steersman.records.errors import Denied, TooLate
from steersman.records.thread import Thread
from steersman.records.thread_facts import Plan, ThreadFacts, Undone
from steersman.records.undo import Part
from steersman.views.plans import Choice, Prospect, carry_out, cut_off, prospect
from steersman.views.rewinding import rewound


class Undoing(Struct, frozen=True, forbid_unknown_fields=True):
    """What to undo: the last turn, a certain one, or with `redo` the last undo; or only `parts`."""

    turn: Annotated[int, Meta(ge=1)] | None = None
    redo: bool = False
    parts: tuple[Part, ...] = ()


class Agreed(Struct, frozen=True, forbid_unknown_fields=True):
    """A plan that was shown, named by its digest; `choice` “rest” leaves out what would overwrite.

    The other fields are those the plan was made with.
    """

    digest: str
    choice: Choice = "whole"
    turn: Annotated[int, Meta(ge=1)] | None = None
    redo: bool = False
    parts: tuple[Part, ...] = ()


@operation("POST", "/threads/{thread}/undo/plan", needs="work")
async def plan_undo(desk: Desk, caller: Holder, params: OneThread, body: Undoing) -> Plan:
    """Show what an undo or redo would do; nothing is done."""
    handle = await desk.look(params.thread, caller)
    _check_own(handle.thread)
    return _plan(await _prospect(desk, handle, body))


@operation("POST", "/threads/{thread}/undo", needs="work")
async def undo(desk: Desk, caller: Holder, params: OneThread, body: Agreed) -> Undone:
    """Do what a plan showed; 409 when that is not what would be done any more."""
    _check_own(await desk.thread(params.thread, caller))
    handle = await desk.speak(params.thread, caller)
    settled = await cut_off(desk.host, handle.id, "steer ")
    if settled is not None:
        await handle.undo_told(settled.seq)
        raise TooLate(settled.words, try_this="Look at the plan again.")
    found = await _prospect(desk, handle, Undoing(body.turn, body.redo, body.parts))
    if _plan(found).digest != body.digest:
        raise TooLate("The files have changed since the plan was made.", try_this="Look again.")
    done = await carry_out(desk.host, handle, found, body.choice)
    await handle.undo_told(done.seq)
    return Undone(done.words, done.notes)


def _check_own(thread: Thread) -> None:
    """Raise for one that came from a file: that could say anything about any file."""
    if thread.imported:
        raise Denied(
            "This thread was imported from a file.",
            "What it would undo was written by someone else.",
            f"Look at it and agree on the machine itself: steer undo {thread.id}",
        )


async def _prospect(desk: Desk, handle: ThreadHandle, wanted: Undoing) -> Prospect:
    if wanted.redo:
        plan = await handle.plan_redo()
    else:
        plan = await handle.plan_undo(turn=wanted.turn, parts=wanted.parts)
    return await asyncio.to_thread(prospect, desk.host, handle.id, plan)


def _plan(found: Prospect) -> Plan:
    digest = hashlib.sha256(msgspec.json.encode(found)).hexdigest()
    return Plan(
        digest, found.diffs, found.names, found.lost, found.stays, found.stands,
        found.rest is not None,
    )  # fmt: skip


class BackTo(Struct, frozen=True, forbid_unknown_fields=True):
    """The last message to keep. With `files` they are restored too: `digest` names the plan."""

    at: Annotated[int, Meta(ge=1)]
    files: bool = True
    digest: str = ""


class Rewound(Struct, frozen=True):
    """The new thread that continues from there, or the plan that has to be agreed to first."""

    thread: ThreadFacts | None = None
    plan: Plan | None = None


@operation("POST", "/threads/{thread}/rewind", needs="work")
async def rewind(desk: Desk, caller: Holder, params: OneThread, body: BackTo) -> Rewound:
    """Go back to a message in a new thread; this one stays whole.

    Where files would change, the first answer is the plan; ask again with its digest.
    """
    if body.files:
        _check_own(await desk.thread(params.thread, caller))
    handle = await desk.speak(params.thread, caller)
    await desk.host.tidy(handle.id)
    undone = False
    if body.files:
        plan = await asyncio.to_thread(desk.host.way_back.plan_rewind, handle.id, body.at)
        if plan is not None:
            found = await asyncio.to_thread(prospect, desk.host, handle.id, plan)
            told = _plan(found)
            if told.digest != body.digest:
                return Rewound(plan=told)
            done = await carry_out(desk.host, handle, found, "whole")
            await handle.undo_told(done.seq)
            undone = True
    copy = await rewound(desk.host, handle.id, body.at, undone=undone)
    return Rewound(await facts_of(desk, copy))
