"""`steer store`: where threads are kept, how much that is, and copying it elsewhere."""

import os
import sys

import click
import msgspec

from steersman.host import storage
from steersman.ports.cli.options import json_flag, open_host
from steersman.records.errors import Exit
from steersman.views.text import counted, safe


@click.group("store")
def command() -> None:
    """Look at the store, bring it up to date, copy it."""


@command.command("status")
@json_flag
def show(as_json: bool) -> None:
    """Show which store is used and how much it holds."""
    found = storage.looked_at(os.environ)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return
    rows = [
        ("store", f"{found.kind}, {safe(found.where)}"),
        ("database", safe(found.engine)),
        ("version", str(found.version)),
        ("threads", f"{found.threads:,}"),
        ("messages", f"{found.messages:,}"),
        ("requests", f"{found.requests:,} waiting"),
        ("size", f"{found.size / 1e6:,.1f} MB"),
    ]
    for name, value in rows:
        click.echo(f"{name:<9} {value}")


@command.command()
@json_flag
def migrate(as_json: bool) -> None:
    """Bring the store to the version that this Steersman uses."""
    found = storage.looked_at(os.environ)  # a store is migrated when it is opened
    if as_json:
        click.echo(msgspec.json.encode({"where": found.where, "version": found.version}).decode())
    else:
        click.echo(f"The store at {safe(found.where)} has version {found.version}.")


@command.command()
@click.option("--to", "url", required=True, metavar="URL", help="postgresql://…, or `sqlite`.")
@json_flag
def copy(url: str, as_json: bool) -> int:
    """Copy every thread into another store and verify it there; your store stays as it is.

    `--to sqlite` copies from Postgres into the file in the data folder. What was copied before is
    not copied again, so an interrupted copy can simply be repeated.
    """

    def progress(thread: str, done: int, every: int) -> None:
        if not as_json and sys.stderr.isatty():
            click.echo(f"\r{done:,} of {counted(every, 'thread')}", nl=done == every, err=True)

    found = storage.copied_to("" if url == "sqlite" else url, os.environ, progress)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
    else:
        messages = counted(found.messages, "message")
        click.echo(f"Copied {counted(found.threads, 'thread')}, {messages} new; all verified.")
        for thread, why in found.refused:
            click.echo(click.style(f"! {thread} was not copied: {safe(why)}", fg="yellow"))
    return Exit.FAILED if found.refused else Exit.DONE


@command.command()
@json_flag
def gc(as_json: bool) -> None:
    """Remove images, originals of files and long outputs that no thread refers to.

    What was kept in the last 24 hours stays; `steer threads rm` does the same. Room that images
    had in the database is used again; its file stays as large as it was.
    """
    found = open_host().prune()
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
    else:
        size = f"{found.bytes / 1e6:,.1f} MB"
        click.echo(f"Removed {counted(found.contents, 'content')} that no thread needs, {size}.")
