"""`steer bench models`: small coding tasks against each model, measured, kept, shown and drawn."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from steersman.host import bench
from steersman.ports.cli.app import show_problem
from steersman.ports.cli.options import json_flag
from steersman.records.bench import Result, Row
from steersman.records.counting import counted
from steersman.records.errors import Exit
from steersman.views.text import one_line


@click.group()
def command() -> None:
    """Measure what models do."""


@command.command("models")
@click.option(
    "--models", "named", metavar="A,B", help="Models to try (default: the configured ones)."
)
@click.option("--tasks", "wanted", metavar="A,B", help="Tasks or kinds of them (default: all).")
@click.option("--seconds", type=click.FloatRange(1), default=900.0, help="Time for one task.")
@click.option("--plot", type=click.Path(dir_okay=False), help="SVG file to draw (default: kept).")
@click.option("--keep", "keep_in", metavar="DIR", help="Keep the worked-on folders there.")
@json_flag
def models(
    named: str | None,
    wanted: str | None,
    seconds: float,
    plot: str | None,
    keep_in: str | None,
    as_json: bool,
) -> int:
    """Let each model do the same small tasks and see whether hidden tests pass.

    The work is done in temporary copies, in the sandbox, and costs what the models cost. Results
    are kept; `model = "auto"` goes by them.
    """
    with bench.folder_for_work(keep_in) as folder:
        found = asyncio.run(_run(_split(named), _split(wanted), folder, seconds, as_json=as_json))
    if not found:
        return Exit.FAILED
    rows = bench.summary(found)
    if not as_json:
        click.echo("\n".join(["", *lines(rows)]))
    drawn = bench.draw(rows, plot, os.environ)
    told = f" and {drawn[1]}" if len(drawn) > 1 else "; no PNG: rsvg-convert is not installed"
    click.echo(f"\nDrew {drawn[0]}{told}.", err=as_json)
    return Exit.DONE


async def _run(
    named: Sequence[str], wanted: Sequence[str], folder: Path, seconds: float, *, as_json: bool
) -> list[Result]:
    found: list[Result] = []
    async for one in bench.run(named, wanted, folder, os.environ, seconds=seconds):
        if isinstance(one, bench.LeftOut):
            show_problem(one.problem)
            click.echo(f"  {one.model} is left out.", err=True)
        else:
            found.append(one)
            click.echo(msgspec.json.encode(one).decode() if as_json else line(one))
    return found


@command.command("results")
@json_flag
def results(as_json: bool) -> None:
    """Show the newest kept result of every model in every task."""
    found = bench.newest(os.environ)
    if as_json:
        for result in found:
            click.echo(msgspec.json.encode(result).decode())
    elif not found:
        click.echo("No results yet. `steer bench models --models A,B` makes some.")
    else:
        shown = [*(line(result) for result in found), "", *lines(bench.summary(found))]
        click.echo("\n".join(shown))


def line(result: Result) -> str:
    """One result as people read it."""
    mark = click.style("✓", fg="green") if result.passed else click.style("✗", fg="red")
    tokens = counted(result.input + result.output, "token")
    why = f"  {one_line(result.why, 60)}" if result.why else ""
    name = one_line(result.model, 40)
    return f"{mark} {result.task:<18} {name:<30} {result.seconds:>6.1f} s  {tokens:>14}{why}"


def lines(rows: Sequence[Row]) -> list[str]:
    """The summary as a table; figures are for one task."""
    head = ("model", "passed", "seconds", "first token", "input", "cached", "output", "cost")
    cells = [list(head)]
    for row in rows:
        cells.append(
            [
                one_line(row.model, 50),
                f"{row.passed}/{row.tried}",
                f"{row.seconds:.1f}",
                f"{row.first_token_ms:.0f} ms",
                f"{row.input:,.0f}",
                f"{row.cached:,.0f}",
                f"{row.output:,.0f}",
                "–" if row.cost is None else f"${row.cost:.4f}",
            ]
        )
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    return [
        f"{row[0]:<{widths[0]}}  " + "  ".join(row[n].rjust(widths[n]) for n in range(1, len(head)))
        for row in cells
    ]


def _split(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]
