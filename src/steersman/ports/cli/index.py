"""`steer index`: what is known of a folder's code, built, asked, and written down."""

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import click
import msgspec

from steersman.governance.secret_finder import Finder
from steersman.identity.settings import data_folder
from steersman.operations.code.index import export
from steersman.operations.code.index.answering import Asked, answer
from steersman.operations.code.index.build import Report
from steersman.operations.code.index.upkeep import Records
from steersman.operations.code.index.walk import listed
from steersman.operations.tools.ranked_context import LEAST, MOST, USUAL, reader
from steersman.ports.cli.options import folder_from, json_flag
from steersman.ports.cli.text import ago, counted, safe
from steersman.records.code_index import IndexState, RankedContext
from steersman.records.errors import UsageProblem

LANGUAGES_SHOWN = 8
_workspace = click.option("--workspace", "-w", metavar="DIR", help="Folder (default: here).")


@click.group("index", invoke_without_command=True)
@_workspace
@json_flag
@click.option("--write", is_flag=True, help="Write PROJECT_INDEX.json and PROJECT_INDEX.md there.")
@click.pass_context
def command(ctx: click.Context, workspace: str | None, as_json: bool, write: bool) -> None:
    """Show what is known of a folder's code; build it, ask it, write it down.

    Files that .gitignore leaves out and secret files are not in it. It is kept in Steersman's own
    data folder.
    """
    if ctx.invoked_subcommand is not None:
        if write or as_json or workspace:
            raise click.UsageError("Options go after the name of the command.")
        return
    folder = _folder(workspace)
    if write:
        _write(folder, as_json)
        return
    with _records(folder) as records:
        _show(records.state(), as_json)


@command.command()
@_workspace
@json_flag
def build(workspace: str | None, as_json: bool) -> None:
    """Bring the index up to date now, and show it."""
    with _records(_folder(workspace)) as records:
        report = _update(records, tell=not as_json)
        if not as_json:
            read, kept = counted(report.read, "file"), counted(report.kept, "file")
            click.echo(f"Read {read}; {kept} had not changed, {report.gone:,} are gone.")
        _show(records.state(), as_json)


@command.command()
@click.argument("question")
@click.option(
    "--budget",
    type=click.IntRange(LEAST, MOST),
    default=USUAL,
    show_default=True,
    help="Tokens the answer may have.",
)
@click.option("--file", "files", multiple=True, metavar="PATH", help="Matters already.")
@click.option("--symbol", "symbols", multiple=True, metavar="NAME", help="Matters already.")
@_workspace
@json_flag
def ask(
    question: str,
    budget: int,
    files: tuple[str, ...],
    symbols: tuple[str, ...],
    workspace: str | None,
    as_json: bool,
) -> None:
    """Show the parts of the code that matter most for QUESTION."""
    folder = _folder(workspace)
    with _records(folder) as records:
        _update(records, tell=not as_json)
        picture = records.picture(records.touches(os.environ))
        named = tuple(os.path.relpath(os.path.realpath(file), folder) for file in files)
        asked = Asked(question, budget, named, symbols)
        found = answer(picture, asked, records.spans, reader(folder, _secret(folder)), time.time())
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
    else:
        _show_answer(found)


@contextmanager
def _records(folder: str) -> Iterator[Records]:
    records = Records(folder, data_folder(os.environ))
    try:
        yield records
    finally:
        records.close()


def _folder(workspace: str | None) -> str:
    folder = folder_from(workspace)
    if not os.path.isdir(folder):
        raise UsageProblem(
            f"{folder} is not a folder.", try_this="Pass an existing folder with --workspace."
        )
    return folder


def _secret(folder: str) -> str:
    return Finder(folder).find(deep=False)[0].lines


def _update(records: Records, *, tell: bool) -> Report:
    files = asyncio.run(listed(records.root, _secret(records.root), os.environ))
    shown = tell and sys.stderr.isatty()

    def progress(done: int, whole: int) -> None:
        if shown:
            click.echo(f"\r{done:,} of {whole:,} files", nl=done == whole, err=True)

    return records.update(files, progress)


def _write(folder: str, as_json: bool) -> None:
    with _records(folder) as records:
        _update(records, tell=not as_json)
        picture = records.picture()
        languages = {path: entry.language for path, entry in records.index.files().items()}
        index = export.project(picture, languages, records.index.outlines())
        written = [
            export.write(folder, export.JSON_NAME, export.as_json(index)),
            export.write(folder, export.MARKDOWN_NAME, export.as_markdown(index, picture)),
        ]
    if as_json:
        click.echo(msgspec.json.encode({"written": written}).decode())
    else:
        click.echo("\n".join(f"Wrote {safe(path)}." for path in written))


def _show(state: IndexState, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(state).decode())
        return
    if not state.files:
        click.echo("There is no index of this folder yet. `steer index build` makes one.")
        return
    parts = [f"{name} {count:,}" for name, count in state.languages.items()]
    more = f" … {len(parts) - LANGUAGES_SHOWN} more" if len(parts) > LANGUAGES_SHOWN else ""
    rows = [
        ("folder", safe(state.root)),
        ("files", f"{state.files:,}"),
        ("definitions", f"{state.definitions:,}"),
        ("languages", safe(", ".join(parts[:LANGUAGES_SHOWN])) + more),
        ("changed", ago(datetime.fromtimestamp(state.updated, UTC))),
        ("size", _bytes(state.size)),
        ("kept in", safe(state.path)),
    ]
    for name, value in rows:
        click.echo(f"{click.style(name, bold=True):<{_width(rows, name)}}  {value}")


def _bytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _width(rows: list[tuple[str, str]], name: str) -> int:
    """Room for the longest name; the marks that make it bold take none on the screen."""
    return max(len(row[0]) for row in rows) + len(click.style(name, bold=True)) - len(name)


def _show_answer(found: RankedContext) -> None:
    if not found.excerpts:
        click.echo("Nothing fits that question.")
        return
    for excerpt in found.excerpts:
        place = f"{excerpt.path}:{excerpt.line}-{excerpt.end_line}"
        click.echo(f"{click.style(safe(place), bold=True)}  {safe(excerpt.why)}")
        click.echo(safe(excerpt.text) + "\n")
    if found.files:
        click.echo("Also: " + safe(", ".join(found.files)))
    click.echo(f"About {found.tokens:,} tokens.")
