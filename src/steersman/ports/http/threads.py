"""Threads over HTTP: to list, to start, to speak to, to answer, to undo."""

import asyncio
import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct
from starlette.responses import StreamingResponse

from steersman.host import ThreadHandle, costs, ledger
from steersman.host.costs import Account
from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.ports.http.door import LINES
from steersman.ports.http.layer import Done, Nothing, operation
from steersman.records.dialogue import Image
from steersman.records.errors import TooLate, UsageProblem
from steersman.records.hunks import FileHunks
from steersman.records.message import Answer, ConfirmResponse, encode_message
from steersman.records.settings import Approvals
from steersman.records.thread import State, Thread
from steersman.records.undo import Part
from steersman.views.plans import Choice, Prospect, carry_out, cut_off, prospect
from steersman.views.rewinding import rewound
from steersman.views.threads import ThreadFacts, facts

Id = Annotated[str, Meta(min_length=1, max_length=64, pattern="^[0-9a-z]+$")]
Name = Annotated[
    str,
    Meta(
        max_length=100,
        pattern="^[A-Za-z0-9_.:-]*$",
        description="A name of yours: what is sent twice under it is done once.",
    ),
]
Text = Annotated[str, Meta(min_length=1, max_length=2_000_000)]
Seq = Annotated[int, Meta(ge=0, le=2**53)]
Mode = Literal["ask", "plan", "spec", "code", "debug"]
PAGE = 500


class OneThread(Struct, frozen=True, forbid_unknown_fields=True):
    """A thread by its id."""

    thread: Id


# Listing and reading


class Wanted(Struct, frozen=True, forbid_unknown_fields=True):
    """Which threads: of a folder, with words in the title, in a state; single calls only if asked.

    `skip` passes over so many of those that fit.
    """

    workspace: str = ""
    q: str = ""
    state: State | None = None
    calls: bool = False
    skip: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, Meta(ge=1, le=PAGE)] = 100


class Threads(Struct, frozen=True):
    """Threads, the most recently used first; `more` when there are others."""

    threads: list[ThreadFacts]
    more: bool


@operation("GET", "/threads", needs="read")
async def list_threads(desk: Desk, caller: Holder, params: Wanted) -> Threads:
    """List threads, whichever process runs them."""
    return await asyncio.to_thread(_listed, desk, caller, params)


def _listed(desk: Desk, caller: Holder, wanted: Wanted) -> Threads:
    folders = [folder for folder in (wanted.workspace or caller.workspace,) if folder]
    words = wanted.q.casefold().split()
    fitting = [
        thread
        for thread in desk.host.threads(*folders)
        if caller.sees(thread.workspace)
        and (wanted.calls or thread.origin != "call")
        and all(word in f"{thread.title} {thread.id}".casefold() for word in words)
    ]
    states = desk.host.states(fitting)
    if wanted.state is not None:
        fitting = [one for one in fitting if states[one.id].state == wanted.state]
    page = fitting[wanted.skip : wanted.skip + wanted.limit]
    more = len(fitting) > wanted.skip + len(page)
    return Threads([facts(one, states[one.id]) for one in page], more)


@operation("GET", "/threads/{thread}", needs="read")
async def show_thread(desk: Desk, caller: Holder, params: OneThread) -> ThreadFacts:
    """Show one thread: what it is, what it does, what it waits for."""
    return await _facts(desk, await desk.thread(params.thread, caller))


async def _facts(desk: Desk, thread: Thread) -> ThreadFacts:
    states = await asyncio.to_thread(desk.host.states, [thread])
    return facts(thread, states[thread.id])


class Span(Struct, frozen=True, forbid_unknown_fields=True):
    """Messages after `after`, at most `limit`; only some kinds if they are named, with commas."""

    thread: Id
    after: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=PAGE)] = 100
    kinds: str = ""


class Messages(Struct, frozen=True):
    """Stored messages in order; `head` is the newest there is."""

    messages: list[Raw]
    head: int


@operation("GET", "/threads/{thread}/messages", needs="read")
async def list_messages(desk: Desk, caller: Holder, params: Span) -> Messages:
    """Read stored messages."""
    thread = await desk.thread(params.thread, caller)
    kinds = set(params.kinds.split(",")) if params.kinds else None

    def read() -> list[Raw]:
        found = desk.host.messages(thread.id, after=params.after, kinds=kinds)
        return [Raw(encode_message(one)) for one in islice(found, params.limit)]

    return Messages(await asyncio.to_thread(read), thread.head)


@operation("GET", "/threads/{thread}/cost", needs="read")
async def show_cost(desk: Desk, caller: Holder, params: OneThread) -> list[Account]:
    """Show what models used and cost in a thread, by model and by day."""
    thread = await desk.thread(params.thread, caller)
    return await asyncio.to_thread(costs.spent, desk.host, [thread], "model", "day")


class Verified(Struct, frozen=True):
    """Whether the log is as it was written; else what is wrong, in words."""

    verified: bool
    flaws: list[str]


@operation("GET", "/threads/{thread}/verify", needs="read")
async def verify_thread(desk: Desk, caller: Holder, params: OneThread) -> Verified:
    """Prove that a thread's log is unaltered."""
    thread = await desk.thread(params.thread, caller)
    found = await asyncio.to_thread(desk.host.verify, thread.id)
    return Verified(not found, [str(one) for one in found])


@operation("GET", "/threads/{thread}/export", needs="read")
async def export_thread(desk: Desk, caller: Holder, params: OneThread) -> bytes:
    """Download a thread as lines of JSON, which any Steersman can import."""
    thread = await desk.thread(params.thread, caller)

    def lines() -> Iterator[bytes]:
        for line in ledger.exported(desk.host, thread):
            yield line + b"\n"

    return StreamingResponse(lines(), media_type=LINES)  # type: ignore[return-value]


# Starting and removing


class NewThread(Struct, frozen=True, forbid_unknown_fields=True):
    """A thread in a folder; with `text` its first turn begins."""

    workspace: Annotated[str, Meta(min_length=1, max_length=4096)]
    text: Annotated[str, Meta(max_length=2_000_000)] = ""
    images: tuple[Image, ...] = ()
    title: Annotated[str, Meta(max_length=200)] = ""
    model: Annotated[str, Meta(max_length=300)] | None = None
    mode: Mode | None = None
    approvals: Approvals | None = None
    trust: Literal["restricted", "sandboxed"] | None = None
    profile: Annotated[str, Meta(max_length=100)] | None = None
    id: Name = ""


@operation("POST", "/threads", needs="work")
async def start_thread(desk: Desk, caller: Holder, body: NewThread, params: Nothing) -> ThreadFacts:
    """Start a thread; this server runs it."""
    chosen = {
        name: value
        for name in ("model", "mode", "approvals", "trust", "profile")
        if (value := getattr(body, name)) is not None
    }
    title = body.title or body.text or "New thread"
    thread = await desk.start(body.workspace, title, chosen, caller, body.id)
    if body.text:
        handle = await desk.speak(thread.id, caller, body.id and f"{body.id}:first")
        await handle.send(body.text, body.images)
    return await _facts(desk, await desk.thread(thread.id, caller))


class ForkAt(Struct, frozen=True, forbid_unknown_fields=True):
    """The last message to keep; all without one."""

    at: Annotated[int, Meta(ge=1)] | None = None


@operation("POST", "/threads/{thread}/fork", needs="work")
async def fork_thread(desk: Desk, caller: Holder, params: OneThread, body: ForkAt) -> ThreadFacts:
    """Make a new thread that shares this one's history."""
    thread = await desk.thread(params.thread, caller)
    return await _facts(desk, await asyncio.to_thread(desk.host.fork, thread.id, body.at))


@operation("DELETE", "/threads/{thread}", needs="work")
async def delete_thread(desk: Desk, caller: Holder, params: OneThread) -> Done:
    """Remove a thread for ever; not while a turn runs in it."""
    thread = await desk.thread(params.thread, caller)
    await desk.let_go(thread.id)
    await asyncio.to_thread(desk.host.delete, thread.id)
    return Done()


@operation("POST", "/threads/import", needs="work", takes=LINES)
async def import_thread(desk: Desk, caller: Holder, body: bytes, params: Nothing) -> ThreadFacts:
    """Import a thread that was exported, if every hash in it is right."""
    if caller.workspace:
        raise UsageProblem(f"This token is for {caller.workspace} alone.")
    lines = body.splitlines(keepends=True)
    return await _facts(desk, await asyncio.to_thread(ledger.imported, desk.host, lines))


# Speaking


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """Words for the agent, and images that come with them."""

    text: Text
    images: tuple[Image, ...] = ()
    id: Name = ""


class Said(Struct, frozen=True, forbid_unknown_fields=True):
    """Words for the agent."""

    text: Text
    id: Name = ""


class Turn(Struct, frozen=True):
    """The turn that began."""

    turn: int


class Named(Struct, frozen=True):
    """The name of a message that waits, as the log has it in `corr`."""

    corr: str


@operation("POST", "/threads/{thread}/send", needs="work")
async def send(desk: Desk, caller: Holder, params: OneThread, body: Words) -> Turn:
    """Begin a turn."""
    handle = await desk.speak(params.thread, caller, body.id)
    return Turn(await handle.send(body.text, body.images))


@operation("POST", "/threads/{thread}/steer", needs="work")
async def steer(desk: Desk, caller: Holder, params: OneThread, body: Said) -> Named:
    """Say something to the turn that runs; it waits for the next one where none does."""
    return Named(await (await desk.speak(params.thread, caller, body.id)).steer(body.text))


@operation("POST", "/threads/{thread}/queue", needs="work")
async def queue(desk: Desk, caller: Holder, params: OneThread, body: Said) -> Named:
    """Say something for the next turn."""
    return Named(await (await desk.speak(params.thread, caller, body.id)).queue(body.text))


class OfMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """A message that waits, by its name."""

    corr: Annotated[str, Meta(min_length=1, max_length=200)]
    id: Name = ""


class NewWords(Struct, frozen=True, forbid_unknown_fields=True):
    """A message that waits, and the words that take its place."""

    corr: Annotated[str, Meta(min_length=1, max_length=200)]
    text: Text
    id: Name = ""


@operation("POST", "/threads/{thread}/withdraw", needs="work")
async def withdraw(desk: Desk, caller: Holder, params: OneThread, body: OfMessage) -> Done:
    """Withdraw words that were not delivered."""
    await (await desk.speak(params.thread, caller, body.id)).withdraw(body.corr)
    return Done()


@operation("POST", "/threads/{thread}/edit", needs="work")
async def edit(desk: Desk, caller: Holder, params: OneThread, body: NewWords) -> Named:
    """Put other words in the place of words that were not delivered."""
    name = body.id and f"{body.id}:withdraw"
    await (await desk.speak(params.thread, caller, name)).withdraw(body.corr)
    return Named(await (await desk.speak(params.thread, caller, body.id)).queue(body.text))


@operation("POST", "/threads/{thread}/hasten", needs="work")
async def hasten(desk: Desk, caller: Holder, params: OneThread, body: OfMessage) -> Done:
    """Give queued words to the turn that runs."""
    await (await desk.speak(params.thread, caller, body.id)).hasten(body.corr)
    return Done()


@operation("POST", "/threads/{thread}/cancel", needs="work")
async def cancel(desk: Desk, caller: Holder, params: OneThread) -> Done:
    """Stop the turn that runs, its tools and their processes."""
    await (await desk.speak(params.thread, caller)).cancel()
    return Done()


class Decision(Struct, frozen=True, forbid_unknown_fields=True, tag="permission"):
    """An answer to a request for permission: `guidance` goes to the model, `scope` is how long it
    holds, `arguments` are those of the call as you changed them, `hunks` all that you accept."""

    corr: Annotated[str, Meta(min_length=1, max_length=200)]
    decision: Literal["allow", "deny"]
    guidance: Annotated[str, Meta(max_length=100_000)] = ""
    scope: Literal["once", "turn", "thread", "here"] = "once"
    lasting: str = "same"
    arguments: dict[str, Any] | None = None
    hunks: tuple[FileHunks, ...] | None = None
    id: Name = ""


class Reply(Struct, frozen=True, forbid_unknown_fields=True, tag="question"):
    """An answer to a question; `declined` when nobody will answer it."""

    corr: Annotated[str, Meta(min_length=1, max_length=200)]
    text: Annotated[str, Meta(max_length=100_000)] = ""
    declined: bool = False
    id: Name = ""


@operation("POST", "/threads/{thread}/answer", needs="answer")
async def answer(desk: Desk, caller: Holder, params: OneThread, body: Decision | Reply) -> Done:
    """Answer what a thread asks; 409 when someone else was first."""
    handle = await desk.speak(params.thread, caller, body.id)
    if isinstance(body, Reply):
        given: Answer | ConfirmResponse = Answer(
            body.text, by="declined" if body.declined else "person"
        )
    else:
        given = ConfirmResponse(
            body.decision,
            body.guidance,
            body.scope,
            body.lasting,
            body.arguments,
            hunks=body.hunks,
        )
    await handle.answer(body.corr, given)
    return Done()


class Changes(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What to change, from the next model call on; what is left out stays."""

    mode: Mode | None = None
    model: Annotated[str, Meta(max_length=300)] | None = None
    approvals: Approvals | None = None
    title: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


@operation("PATCH", "/threads/{thread}", needs="work")
async def change_thread(
    desk: Desk, caller: Holder, params: OneThread, body: Changes
) -> ThreadFacts:
    """Change mode, model, approvals or title."""
    chosen = {name: value for name in body.__struct_fields__ if (value := getattr(body, name))}
    if not chosen:
        raise UsageProblem("There is nothing to change.")
    await (await desk.speak(params.thread, caller)).set(**chosen)
    return await _facts(desk, await desk.thread(params.thread, caller))


class Digest(Struct, frozen=True, forbid_unknown_fields=True):
    """Show the model a digest of what is older, or with `undo` all of it again."""

    undo: bool = False
    id: Name = ""


@operation("POST", "/threads/{thread}/compact", needs="work")
async def compact(desk: Desk, caller: Holder, params: OneThread, body: Digest) -> Done:
    """Show the model a digest of a long thread, or undo that."""
    handle = await desk.speak(params.thread, caller, body.id)
    return Done(await handle.compact(undo=body.undo))


# The way back


class Undoing(Struct, frozen=True, forbid_unknown_fields=True):
    """What to undo: the last turn, a certain one, or with `redo` the last undo; or only `parts`."""

    turn: Annotated[int, Meta(ge=1)] | None = None
    redo: bool = False
    parts: tuple[Part, ...] = ()


class Plan(Struct, frozen=True):
    """What would be done, as diffs; `digest` names exactly this.

    At the paths `taken` changes of someone else would be overwritten (a copy is kept); `rest`: it
    can be done without these. `stays` are their changes that stay, `stands` what no undo changes.
    """

    digest: str
    diffs: list[str]
    taken: list[str]
    lost: list[str]
    stays: list[str]
    stands: str
    rest: bool


class Agreed(Struct, frozen=True, forbid_unknown_fields=True):
    """A plan that was shown, named by its digest; `choice` “rest” leaves out what would overwrite.

    The other fields are those the plan was made with.
    """

    digest: str
    choice: Choice = "whole"
    turn: Annotated[int, Meta(ge=1)] | None = None
    redo: bool = False
    parts: tuple[Part, ...] = ()


class Undone(Struct, frozen=True):
    """What was done, in words."""

    words: str
    notes: list[str]


@operation("POST", "/threads/{thread}/undo/plan", needs="work")
async def plan_undo(desk: Desk, caller: Holder, params: OneThread, body: Undoing) -> Plan:
    """Show what an undo or redo would do; nothing is done."""
    handle = await desk.look(params.thread, caller)
    return _plan(await _prospect(desk, handle, body))


@operation("POST", "/threads/{thread}/undo", needs="work")
async def undo(desk: Desk, caller: Holder, params: OneThread, body: Agreed) -> Undone:
    """Do what a plan showed; 409 when that is not what would be done any more."""
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
    return Rewound(await _facts(desk, copy))
