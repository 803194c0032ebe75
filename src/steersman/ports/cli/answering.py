"""`steer answer`: what a thread asks, answered from any process."""

import asyncio
import shlex
from typing import TYPE_CHECKING, Any

import click

from steersman.host import Host, ThreadHandle
from steersman.ports.cli.connecting import connecting, named, open_threads, thread_argument
from steersman.ports.cli.options import at_terminal
from steersman.ports.cli.prompts import Prompter
from steersman.records.errors import UsageProblem
from steersman.records.message import Answer, ConfirmResponse, Question
from steersman.records.thread import Waiting
from steersman.views.questions import answer_from
from steersman.views.text import safe

if TYPE_CHECKING:
    from steersman.host.remote import Remote

ALLOW, DENY = ("allow", "yes", "y"), ("deny", "no", "n")


@click.command()
@thread_argument()
@connecting
@click.argument("words", nargs=-1)
@click.option(
    "--scope",
    type=click.Choice(["once", "turn", "thread", "here"]),
    default="once",
    help="How long an approval lasts; `thread` also goes with the denial of a host.",
)
def answer(thread: str, words: tuple[str, ...], scope: Any) -> None:
    """Answer what THREAD asks: allow, deny (with a reason, if you like), or the text of an answer.

    With several requests waiting, name the one you mean before the answer, by its id or the
    beginning of it. Without an answer, what is asked is shown; at a terminal you then answer it.
    """
    asyncio.run(_answer(thread, words, scope))


async def _answer(thread: str, words: tuple[str, ...], scope: Any) -> None:
    async with open_threads() as host:
        handle = await host.attach(thread)
        asked, rest = await _which(host, handle, words)
        said = " ".join(rest).strip()
        if not said:
            given = await _put(host, handle, asked)
        elif asked.kind == "permission":
            given = _permission(said, scope)
        else:
            given = answer_from(await asyncio.to_thread(_question, host, handle, asked), said)
        await handle.answer(asked.corr, given)
        done = {"allow": "Allowed", "deny": "Denied"}.get(
            getattr(given, "decision", ""), "Answered"
        )
        click.echo(f"{done}: {safe(asked.what)}", err=True)


async def _put(
    host: "Host | Remote", handle: ThreadHandle, asked: Waiting
) -> ConfirmResponse | Answer:
    """Show what is asked, and let a person at a terminal answer it."""
    kinds = {"confirm_request", "question", "tool_call"}
    messages = await asyncio.to_thread(lambda: list(host.messages(handle.id, kinds=kinds)))
    request = next(one for one in reversed(messages) if one.corr == asked.corr)
    prompter = Prompter()
    if not at_terminal():
        click.echo(prompter.words(request))
        raise UsageProblem(
            "There is no answer.",
            "Nothing was answered.",
            await how_to_answer(host, handle, asked),
        )
    for message in messages:
        prompter.note(message)
    try:
        return await prompter.put(request)
    except EOFError as error:
        raise click.Abort from error


def _permission(said: str, scope: Any) -> ConfirmResponse:
    """What a person says about a permission; only a clear word counts."""
    first, _, more = said.partition(" ")
    if first.lower() in ALLOW and not more:
        return ConfirmResponse("allow", scope=scope)
    if first.lower() in DENY:
        return ConfirmResponse("deny", more, scope)
    raise UsageProblem(
        f"“{said}” is neither allow nor deny.",
        "Nothing was answered.",
        "Say `allow`, or `deny` and what to do instead.",
    )


async def _which(
    host: "Host | Remote", handle: ThreadHandle, words: tuple[str, ...]
) -> tuple[Waiting, tuple[str, ...]]:
    """Which request is meant, and the words of its answer."""
    waiting = (await handle.state()).activity.waiting
    by_name = bool(words) and words[0].startswith("ask_")
    named = [one for one in waiting if by_name and one.corr.startswith(words[0])]
    if len(named) == 1:
        return named[0], words[1:]
    if by_name and not named:
        raise UsageProblem(
            f"No request {words[0]} is waiting in thread {handle.id}.",
            "It was already answered, or never asked.",
            "`steer threads list --json` shows what waits.",
        )
    if not waiting:
        raise UsageProblem(
            f"Thread {handle.id} asks nothing.", try_this="`steer threads list` shows what waits."
        )
    if len(waiting) > 1:
        which = "\n".join(f"  {one.corr}  {one.what}" for one in waiting)
        raise UsageProblem(
            "Say which request you mean, and the answer.",
            f"These wait:\n{which}",
            f"For example: {await how_to_answer(host, handle, waiting[0])}",
        )
    return waiting[0], words


def _question(host: "Host | Remote", handle: ThreadHandle, asked: Waiting) -> Question:
    """What is asked; what is known of it where the log does not say more."""
    said = host.messages(handle.id, kinds={"question"})
    bodies = (one.body for one in said if one.corr == asked.corr)
    return next((one for one in bodies if isinstance(one, Question)), Question(asked.what))


async def how_to_answer(host: "Host | Remote", handle: ThreadHandle, asked: Waiting) -> str:
    """A command that answers, as an example."""
    answer = "allow"
    if asked.kind == "question":
        question = await asyncio.to_thread(_question, host, handle, asked)
        answer = shlex.quote(next(iter(question.options), "your answer"))
    return f"steer answer {named(handle.id)} {asked.corr} {answer}"
