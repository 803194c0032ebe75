"""`steer ledger` and `steer replay`: the log as it was written."""

import asyncio
import sys

import click
import msgspec

from steersman.ports.cli.options import json_flag, open_host, write_lines
from steersman.ports.cli.values import thread_ids
from steersman.ports.cli.views import JsonView, PlainView
from steersman.records.counting import counted
from steersman.records.errors import Exit
from steersman.records.message import Message, encode_message
from steersman.records.schema import message_schema
from steersman.views.text import json_line, line


@click.group()
def command() -> None:
    """Show, follow, verify or export the log of a thread."""


@command.command("show")
@click.argument("thread", shell_complete=thread_ids)
@click.option("--after", type=int, default=0, metavar="SEQ", help="Only later messages.")
@json_flag
def show(thread: str, after: int, as_json: bool) -> None:
    """Print every message of a thread, a line each."""
    host = open_host()
    for message in host.messages(host.find(thread).id, after=after):
        click.echo(_line(message, as_json=as_json))


@command.command("follow")
@click.argument("thread", shell_complete=thread_ids)
@click.option("--after", type=int, default=0, metavar="SEQ", help="Only later messages.")
@json_flag
def follow(thread: str, after: int, as_json: bool) -> None:
    """Print messages as they are written, by whichever process; ends with the session."""
    asyncio.run(_follow(thread, after, as_json=as_json))


async def _follow(thread: str, after: int, *, as_json: bool) -> None:
    async with open_host() as host:
        handle = await host.attach(host.find(thread).id)
        await host.tidy(handle.id)
        async for message in handle.session_events(after):
            if message.seq:
                click.echo(
                    json_line(encode_message(message)).decode() if as_json else line(message)
                )
                sys.stdout.flush()


@command.command("verify")
@click.argument("threads", shell_complete=thread_ids, nargs=-1)
def verify(threads: tuple[str, ...]) -> int:
    """Prove that threads are as they were written; without names, all of them."""
    host = open_host()
    names = [host.find(name).id for name in threads] or [t.id for t in host.threads()]
    bad = 0
    for name in names:
        found = host.verify(name)
        bad += bool(found)
        if found:
            click.echo(f"{name}: NOT ok")
            for flaw in found:
                click.echo(f"  at {flaw.seq}: {flaw.what}")
        else:
            click.echo(f"{name}: ok, {counted(host.find(name).head, 'message')}")
    return Exit.FAILED if bad else Exit.DONE


def _line(message: Message, *, as_json: bool) -> str:
    return json_line(encode_message(message)).decode() if as_json else line(message)


@command.command("export")
@click.argument("thread", shell_complete=thread_ids)
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="File (default: stdout).")
def export(thread: str, output: str | None) -> None:
    """Write every message as a JSON line."""
    host = open_host()
    messages = host.messages(host.find(thread).id)
    write_lines(output, (json_line(encode_message(message)) for message in messages))


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of a message line."""
    click.echo(msgspec.json.format(msgspec.json.encode(message_schema())).decode())


@click.command()
@click.argument("thread", shell_complete=thread_ids)
@json_flag
@click.option("--plain", is_flag=True, help="Print the conversation even when piped.")
def replay(thread: str, as_json: bool, plain: bool) -> None:
    """Show a thread again: the conversation on a terminal, JSON lines when piped."""
    host = open_host()
    found = host.find(thread)
    asyncio.run(host.tidy(found.id))
    machine = as_json or not (plain or sys.stdout.isatty())
    view = JsonView() if machine else PlainView(prompts=True)
    for message in host.messages(found.id):
        view.show(message)
