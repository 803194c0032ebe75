"""`steer index`: what is known of a folder's code, built, asked, and written down."""

import os
import sys
from datetime import UTC, datetime

import click
import msgspec

from steersman.host.index import LEAST, MOST, USUAL, CodeIndex, Update, open_index
from steersman.ports.cli.options import folder_from, json_flag, workspace_option
from steersman.records.code_index import IndexState, RankedContext
from steersman.views.text import ago, counted, safe

LANGUAGES_SHOWN = 8


@click.group("index", invoke_without_command=True)
@workspace_option
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
    with open_index(folder_from(workspace), os.environ) as index:
        if write:
            _write(index, as_json)
        else:
            _show(index.state(), as_json)


@command.command()
@workspace_option
@json_flag
def build(workspace: str | None, as_json: bool) -> None:
    """Bring the index up to date now, and show it."""
    with open_index(folder_from(workspace), os.environ) as index:
        report = _update(index, tell=not as_json)
        if not as_json:
            read, kept = counted(report.read, "file"), counted(report.kept, "file")
            click.echo(f"Read {read}; {kept} unchanged, {report.gone:,} gone.")
        _show(index.state(), as_json)


@command.command()
@click.argument("question")
@click.option(
    "--budget",
    type=click.IntRange(LEAST, MOST),
    default=USUAL,
    show_default=True,
    help="Tokens the answer may have.",
)
@click.option("--file", "files", multiple=True, metavar="PATH", help="Already known to matter.")
@click.option("--symbol", "symbols", multiple=True, metavar="NAME", help="Already known to matter.")
@workspace_option
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
    with open_index(folder_from(workspace), os.environ) as index:
        _update(index, tell=not as_json)
        found = index.ask(question, budget, files, symbols)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
    else:
        _show_answer(found)


def _update(index: CodeIndex, *, tell: bool) -> Update:
    shown = tell and sys.stderr.isatty()

    def progress(done: int, whole: int) -> None:
        if shown:
            click.echo(f"\r{done:,} of {counted(whole, 'file')}", nl=done == whole, err=True)

    return index.update(progress)


def _write(index: CodeIndex, as_json: bool) -> None:
    _update(index, tell=not as_json)
    written = index.write()
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
        click.echo("Nothing matches that question.")
        return
    for excerpt in found.excerpts:
        place = f"{excerpt.path}:{excerpt.line}-{excerpt.end_line}"
        click.echo(f"{click.style(safe(place), bold=True)}  {safe(excerpt.why)}")
        click.echo(safe(excerpt.text) + "\n")
    if found.files:
        click.echo("Also: " + safe(", ".join(found.files)))
    click.echo(f"About {counted(found.tokens, 'token')}.")
