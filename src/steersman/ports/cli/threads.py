"""`steer threads` and `steer fork`: what conversations there are, and copies of them."""

import asyncio
import shutil
import sys
from typing import Any

import click
import msgspec

from steersman.host import ledger
from steersman.ports.cli.asking import confirm
from steersman.ports.cli.connecting import (
    connecting,
    folders_there,
    open_threads,
    thread_argument,
)
from steersman.ports.cli.options import at_terminal, json_flag, open_host, write_lines
from steersman.ports.cli.values import thread_ids
from steersman.ports.cli.views import PlainView
from steersman.records.clock import local
from steersman.records.counting import counted
from steersman.records.errors import NeedsAnswer
from steersman.records.thread import Thread, ThreadState
from steersman.views.text import IMPORTED_WORDS, ago, ending_words, one_line, safe
from steersman.views.threads import ending, facts

COLOURS = {
    "running": "green",
    "waiting": "yellow",
    "queued": "cyan",
    "failed": "red",
    "interrupted": "red",
}


@click.group()
def command() -> None:
    """List, show, export, import or remove threads."""


@command.command("list")
@click.option("--workspace", "-w", metavar="DIR", help="Only threads of this folder.")
@click.option("--all", "everything", is_flag=True, help="Also single calls made by `steer call`.")
@click.option("--limit", type=click.IntRange(1), help="Show at most this many.")
@connecting
@json_flag
def list_threads(workspace: str | None, everything: bool, limit: int | None, as_json: bool) -> None:
    """List threads, the most recently used first."""
    host = open_threads()
    threads = host.threads(*folders_there(workspace))
    found = [thread for thread in threads if everything or thread.origin != "call"][:limit]
    states = host.states(found)
    if as_json:
        for thread in found:
            click.echo(msgspec.json.encode(facts(thread, states[thread.id])).decode())
        return
    if not found:
        click.echo("No threads yet. `steer run TASK` starts one, `steer demo` shows how.")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 160
    for thread in found:
        click.echo(_row(thread, states[thread.id], width))


@command.command("show")
@thread_argument()
@connecting
@json_flag
def show(thread: str, as_json: bool) -> None:
    """Show one thread: its facts and its conversation."""
    host = open_threads()
    found = host.find(thread)
    note = asyncio.run(host.tidy(found.id))
    found = host.find(found.id)
    state = host.states([found])[found.id]
    if as_json:
        click.echo(msgspec.json.encode(facts(found, state)).decode())
        return
    click.echo(f"thread     {found.id}\ntitle      {one_line(found.title)}")
    click.echo(f"state      {_sentence(state)}")
    click.echo(f"workspace  {safe(found.workspace)}\ncreated    {local(found.created):%c}")
    click.echo(f"messages   {found.head}")
    if found.imported:
        click.echo(f"origin     {IMPORTED_WORDS}")
    if found.parent:
        click.echo(f"forked     from {found.parent} at message {found.parent_seq}")
    click.echo(note)
    view = PlainView(prompts=True)
    for message in host.messages(found.id):
        view.show(message)


@command.command("rm")
@click.argument("threads", shell_complete=thread_ids, nargs=-1, required=True)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def remove(threads: tuple[str, ...], yes: bool) -> None:
    """Remove the named threads for ever."""
    host = open_host()
    found = [host.find(name) for name in threads]
    for thread in found:
        click.echo(f"{thread.id}  {counted(thread.head, 'message')}  {one_line(thread.title, 60)}")
    if not yes:
        if not at_terminal():
            raise NeedsAnswer(
                "Removing needs an answer, but there is no one to ask.",
                try_this="Pass --yes to remove them.",
            )
        confirm("Remove permanently?")
    for thread in found:
        host.delete(thread.id)
    host.prune()
    click.echo(f"Removed {len(found)}.")


@command.command("export")
@click.argument("thread", shell_complete=thread_ids)
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="File (default: stdout).")
def export(thread: str, output: str | None) -> None:
    """Write a thread to a file that `threads import` reads on any machine."""
    host = open_host()
    found = host.find(thread)
    write_lines(output, ledger.exported(host, found))


@command.command("import")
@click.argument("file", type=click.File("rb"))
def import_thread(file: Any) -> None:
    """Read a thread from a file, proving that it is unaltered."""
    thread = ledger.imported(open_host(), file)
    click.echo(thread.id)


@click.command()
@click.argument("thread", shell_complete=thread_ids)
@click.option("--at", type=int, metavar="SEQ", help="Last message to keep (default: all).")
@json_flag
def fork(thread: str, at: int | None, as_json: bool) -> None:
    """Make a new thread that shares another's history, and print its id."""
    host = open_host()
    copy = host.fork(host.find(thread).id, at)
    record = facts(copy, host.states([copy])[copy.id])
    click.echo(msgspec.json.encode(record).decode() if as_json else copy.id)


def _row(thread: Thread, state: ThreadState, width: int) -> str:
    """One line: the id, what it does or how it ended, when, its folder, what it waits for."""
    word = state.state if state.state != "idle" else ending(state) or "idle"
    shown = click.style(f"{ending_words(word):<15}", fg=COLOURS.get(word))
    what = f"[imported] {thread.title}" if thread.imported else thread.title
    if state.activity.waiting:
        what = f"asks: {state.activity.waiting[0].what}"
    head = f"{click.style(thread.id, bold=True)}  {shown} {ago(thread.updated):<14}"
    left = max(width - len(click.unstyle(head)) - 2, 10)
    if left < 60:
        return f"{head}  {one_line(what, left)}"
    folder = one_line(thread.workspace, min(40, left // 3))
    rest = max(left - len(folder) - 24, 10)
    return f"{head} {thread.head:>6} messages  {folder}  {one_line(what, rest)}"


def _sentence(state: ThreadState) -> str:
    """What a thread is doing, in words."""
    doing = state.activity
    by = f" in process {state.owner.pid} on {state.owner.machine}" if state.owner else ""
    match state.state:
        case "running":
            return f"running{by}, turn {doing.turn}, step {doing.step}"
        case "waiting":
            asked = "; ".join(f"{one.corr} {one.what}" for one in doing.waiting)
            return f"waiting{by} for an answer: {safe(asked)}"
        case "queued":
            return f"queued{by}: {len(doing.queued) + state.requests} waiting"
    ended = ending(state)
    return f"idle{by}" + (f", the last turn: {ending_words(ended)}" if ended else "")
