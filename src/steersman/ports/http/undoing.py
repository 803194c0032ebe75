"""The way back over HTTP: shown first, then done.

What plans it is imported for the first who wants that.
"""

from typing import Annotated

from msgspec import Meta, Struct

from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.ports.http.fields import OneThread, facts_by_id
from steersman.ports.http.layer import operation
from steersman.records.thread_facts import Plan, ThreadFacts, Undone
from steersman.records.undo import Choice, Part


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
    from steersman.views import agreed

    handle = await desk.look(params.thread, caller)
    return agreed.shown(await agreed.found(desk.host, handle, body.turn, body.redo, body.parts))


@operation("POST", "/threads/{thread}/undo", needs="work")
async def undo(desk: Desk, caller: Holder, params: OneThread, body: Agreed) -> Undone:
    """Do what a plan showed; 409 when that is not what would be done any more."""
    from steersman.views import agreed

    agreed.check_own(await desk.thread(params.thread, caller))
    handle = await desk.speak(params.thread, caller)
    await agreed.settle(desk.host, handle)
    plan = await agreed.found(desk.host, handle, body.turn, body.redo, body.parts)
    return await agreed.done(desk.host, handle, plan, body.digest, body.choice)


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
    from steersman.views import agreed

    if body.files:
        agreed.check_own(await desk.thread(params.thread, caller))
    handle = await desk.speak(params.thread, caller)
    made = await agreed.back_to(desk.host, handle, body.at, body.digest, files=body.files)
    if isinstance(made, Plan):
        return Rewound(plan=made)
    return Rewound(await facts_by_id(desk, made.id, caller))
