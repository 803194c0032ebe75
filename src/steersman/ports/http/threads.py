"""Threads over HTTP: to list, to read, to start, to remove."""

import asyncio
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct

from steersman.host import costs
from steersman.host.costs import Account
from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.ports.http.asgi import Streamed
from steersman.ports.http.door import LINES
from steersman.ports.http.fields import PAGE, Id, Name, OneThread, Seq, facts_by_id
from steersman.ports.http.folders import Folder
from steersman.ports.http.layer import Done, Nothing, operation
from steersman.records.dialogue import Image
from steersman.records.errors import Denied
from steersman.records.message import encode_message
from steersman.records.settings import Approvals, Mode
from steersman.records.thread import State
from steersman.records.thread_facts import ThreadFacts, Threads
from steersman.views.threads import facts

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


@operation("GET", "/threads", needs="read")
async def list_threads(desk: Desk, caller: Holder, params: Wanted) -> Threads:
    """List threads, whichever process runs them."""
    return await asyncio.to_thread(_listed, desk, caller, params)


def _listed(desk: Desk, caller: Holder, wanted: Wanted) -> Threads:
    found = desk.threads(caller, wanted.workspace, wanted.q, wanted.state, calls=wanted.calls)
    page = found[wanted.skip : wanted.skip + wanted.limit]
    more = len(found) > wanted.skip + len(page)
    return Threads([facts(one, state) for one, state in page], more)


@operation("GET", "/threads/{thread}", needs="read")
async def show_thread(desk: Desk, caller: Holder, params: OneThread) -> ThreadFacts:
    """Show one thread: what it is, what it does, what it waits for."""
    return await facts_by_id(desk, params.thread, caller)


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
    from steersman.host import ledger

    thread = await desk.thread(params.thread, caller)

    def lines() -> Iterator[bytes]:
        for line in ledger.exported(desk.host, thread):
            yield line + b"\n"

    return Streamed(lines(), LINES)  # type: ignore[return-value]


# Starting and removing


class NewThread(Struct, frozen=True, forbid_unknown_fields=True):
    """A thread in a folder; with `text` its first turn begins."""

    workspace: Folder
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
        handle = await desk.speak(thread.id, caller, body.id and f"{body.id}/first")
        await handle.send(body.text, body.images)
    return await facts_by_id(desk, thread.id, caller)


class ForkAt(Struct, frozen=True, forbid_unknown_fields=True):
    """The last message to keep; all without one."""

    at: Annotated[int, Meta(ge=1)] | None = None


@operation("POST", "/threads/{thread}/fork", needs="work")
async def fork_thread(desk: Desk, caller: Holder, params: OneThread, body: ForkAt) -> ThreadFacts:
    """Make a new thread that shares this one's history."""
    thread = await desk.thread(params.thread, caller)
    made = await asyncio.to_thread(desk.host.fork, thread.id, body.at)
    desk.host.newsroom.happened(made.id)
    return await facts_by_id(desk, made.id, caller)


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
    from steersman.host import ledger

    if caller.workspace:
        raise Denied(f"This token is for {caller.workspace} alone.")
    made = await asyncio.to_thread(ledger.imported, desk.host, BytesIO(body))
    desk.host.newsroom.happened(made.id)
    return await facts_by_id(desk, made.id, caller)
