"""Speaking to threads over HTTP: words, answers, settings."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.ports.http.fields import Name, OneThread, Text, facts_by_id
from steersman.ports.http.layer import Done, operation
from steersman.records.dialogue import Image
from steersman.records.errors import Denied, UsageProblem
from steersman.records.hunks import FileHunks
from steersman.records.message import Answer, ConfirmResponse
from steersman.records.settings import Approvals, Mode
from steersman.records.thread_facts import ThreadFacts


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
    name = body.id and f"{body.id}/withdraw"
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
    more = isinstance(body, Decision) and (body.arguments is not None or body.scope == "here")
    if more and not caller.may("work"):
        raise Denied("This token may only answer.", "It lacks the right “work”.")
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
    desk.check(caller, chosen)
    await (await desk.speak(params.thread, caller)).set(**chosen)
    return await facts_by_id(desk, params.thread, caller)


class Digest(Struct, frozen=True, forbid_unknown_fields=True):
    """Show the model a digest of what is older, or with `undo` all of it again."""

    undo: bool = False
    id: Name = ""


@operation("POST", "/threads/{thread}/compact", needs="work")
async def compact(desk: Desk, caller: Holder, params: OneThread, body: Digest) -> Done:
    """Show the model a digest of a long thread, or undo that."""
    handle = await desk.speak(params.thread, caller, body.id)
    return Done(await handle.compact(undo=body.undo))
