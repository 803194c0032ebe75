"""`steer compact`: show the model a digest of a long thread, see what was kept, or undo it."""

import asyncio
from typing import Any

import click
import msgspec

from steersman.host import Host, ledger
from steersman.ports.cli.options import folders_from, json_flag, open_host, working
from steersman.ports.cli.values import thread_ids
from steersman.ports.cli.work import kept_settings
from steersman.records.counting import counted
from steersman.records.errors import UsageProblem
from steersman.records.message import Compaction
from steersman.records.thread import Thread
from steersman.views.text import safe


@click.command()
@click.argument("thread", shell_complete=thread_ids, required=False)
@click.option("--undo", is_flag=True, help="The model sees again what it saw before.")
@click.option("--show", is_flag=True, help="Show what the last compaction kept.")
@click.option("--search", "words", metavar="WORDS", help="Find something that was said before.")
@working
@json_flag
def command(
    thread: str | None, undo: bool, show: bool, words: str | None, as_json: bool, **flags: Any
) -> None:
    """Show the model a digest of what is older in THREAD (default: the newest of this folder).

    Nothing is deleted: the log keeps everything, and --undo takes the digest back.
    """
    host = open_host()
    found = host.find(thread) if thread else host.latest(*folders_from(flags["workspace"]))
    if words:
        _search(host, found, words, as_json=as_json)
    elif show:
        _show(_last(host, found), as_json=as_json)
    else:
        changed = asyncio.run(_compact(host, found, undo=undo, flags=flags))
        if not changed:
            click.echo(
                "There is no compaction to undo." if undo else "There is nothing to compact yet."
            )
        elif undo:
            click.echo("Undone: the model sees what it saw before.")
        else:
            _show(_last(open_host(), found), as_json=as_json)


async def _compact(host: Host, thread: Thread, *, undo: bool, flags: dict[str, Any]) -> bool:
    settings = kept_settings(host, thread, flags, thread.workspace)
    async with host:
        handle = await host.attach(thread.id, settings)
        return await handle.compact(undo=undo)


def _last(host: Host, thread: Thread) -> Compaction:
    bodies = [m.body for m in host.messages(thread.id, kinds={"compaction"})]
    last = bodies[-1] if bodies else None
    if not isinstance(last, Compaction) or last.undone:
        raise UsageProblem(
            f"Nothing of thread {thread.id} is compacted.", try_this="`steer compact` does it."
        )
    return last


def _show(made: Compaction, *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(made).decode())
        return
    kept = made.kept
    tokens = counted(made.tokens_after, "token")
    click.echo(f"{made.tokens_before:,} → {tokens}, up to message {made.until}")
    for title, lines in (
        ("goal", [kept.goal]),
        ("your words", [said.text for said in kept.words]),
        ("plan", [kept.plan]),
        ("todo", [kept.todo]),
        ("files", [f"{file.path}: {file.what}" for file in kept.files]),
        ("commands that worked", kept.commands),
        ("last error", [kept.error]),
        ("open questions", kept.questions),
        ("digest", [made.digest]),
    ):
        if any(lines):
            click.echo(click.style(title, bold=True))
            for line in filter(None, lines):
                click.echo("  " + safe(line).replace("\n", "\n  "))
    if kept.unsaid:
        click.echo(f"Only in the log: {counted(kept.unsaid, 'more message')} from you.")


def _search(host: Host, thread: Thread, words: str, *, as_json: bool) -> None:
    for found in ledger.said_before(host, thread.id, words):
        if as_json:
            click.echo(msgspec.json.encode(found).decode())
        else:
            click.echo(f"{found.message:>6} {found.kind:<12} {safe(found.excerpt)}")
