"""`steer bench models`: small coding tasks against each model, measured, kept, shown and drawn."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from steersman.host import Host
from steersman.identity.settings import data_folder, load_settings
from steersman.intelligence.benching.plot import png, svg
from steersman.intelligence.benching.results import (
    keep,
    kept,
    newest,
    results_file,
    summary,
)
from steersman.intelligence.benching.tasks import Task, tasks
from steersman.intelligence.configured import Config, read_config
from steersman.intelligence.models import AUTO, Models
from steersman.ports.cli.app import show_problem
from steersman.ports.cli.options import json_flag
from steersman.ports.cli.text import one_line
from steersman.ports.cli.trials import attempt
from steersman.records.bench import Result, Row
from steersman.records.errors import Exit, SteersmanError, UsageProblem
from steersman.records.limits import Limits
from steersman.records.settings import Budgets, Settings


@click.group()
def command() -> None:
    """Measure what models do."""


@command.command("models")
@click.option("--models", "named", metavar="A,B", help="Models to try (default: the configured).")
@click.option("--tasks", "wanted", metavar="A,B", help="Tasks or kinds of them (default: all).")
@click.option("--seconds", type=click.FloatRange(1), default=900.0, help="Time for one task.")
@click.option("--plot", type=click.Path(dir_okay=False), help="SVG file to draw (default: kept).")
@click.option("--keep", "keep_in", metavar="DIR", help="Leave the worked-on folders there.")
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
    settings = load_settings(os.environ, {})
    chosen = _split(named) or configured(settings)
    work = tasks(_split(wanted))
    with _folder(keep_in) as folder:
        found = asyncio.run(_all(chosen, work, settings, folder, seconds, as_json=as_json))
    if not found:
        return Exit.FAILED
    rows = summary(found)
    if not as_json:
        click.echo("\n".join(["", *lines(rows)]))
    _draw(rows, plot, as_json=as_json)
    return Exit.DONE


@command.command("results")
@json_flag
def results(as_json: bool) -> None:
    """Show the newest kept result of every model in every task."""
    found = newest(kept(results_file(data_folder(os.environ))))
    if as_json:
        for result in found:
            click.echo(msgspec.json.encode(result).decode())
    elif not found:
        click.echo("No results yet. `steer bench models --models A,B` makes some.")
    else:
        click.echo("\n".join([*(line(result) for result in found), "", *lines(summary(found))]))


def configured(settings: Settings) -> list[str]:
    """Every model that the settings name."""
    config = _config(settings)
    named = [
        settings.model,
        *config.roles.values(),
        *(name for name, model in config.models.items() if model.provider),
        *(name for others in config.fallback.values() for name in others),
    ]
    found = list(dict.fromkeys(name for name in named if name and name != AUTO))
    if not found:
        raise UsageProblem(
            "No model is configured.", try_this="Pass --models provider:name,provider:name."
        )
    return found


async def _all(
    chosen: Sequence[str],
    work: Sequence[Task],
    settings: Settings,
    folder: Path,
    seconds: float,
    *,
    as_json: bool,
) -> list[Result]:
    """Every task by every model, one after the other: they are timed."""
    home = data_folder(os.environ)
    file = results_file(home)
    known = Models(os.environ, _config(settings), file)
    found: list[Result] = []
    async with Host.at(home, _environ()) as host:
        for number, model in enumerate(chosen):
            own = _settings(settings, model, seconds)
            for task in work:
                place = folder / f"{number}-{task.name}"
                place.mkdir(parents=True)
                try:
                    result = await attempt(host, task, own, place, known)
                except SteersmanError as problem:
                    show_problem(problem)
                    click.echo(f"  {model} is left out.", err=True)
                    break
                keep(file, result)
                found.append(result)
                click.echo(msgspec.json.encode(result).decode() if as_json else line(result))
    return found


def _settings(settings: Settings, model: str, seconds: float) -> Settings:
    """Nobody is asked, and what would need asking is refused, as in any headless run."""
    limits = Budgets(run=Limits(seconds=seconds))
    return msgspec.structs.replace(
        settings, model=model, mode="code", trust="sandboxed", approvals="never", budget=limits
    )


def _config(settings: Settings) -> Config:
    return read_config(
        getattr(settings, "models", None),
        getattr(settings, "providers", None),
        getattr(settings, "roles", None),
        getattr(settings, "fallback", None),
    )


def _environ() -> dict[str, str]:
    """The tasks call `python3`; let that be the Python that runs this."""
    path = os.environ.get("PATH", "")
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{path}"}


@contextmanager
def _folder(keep_in: str | None) -> Iterator[Path]:
    """Where the work is done; thrown away unless it is to be kept."""
    if keep_in is None:
        made = Path(tempfile.mkdtemp(prefix="steersman-bench-"))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return
    place = Path(keep_in).expanduser().absolute()
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageProblem(
            f"{place} is not an empty folder.", try_this="Name a new folder with --keep."
        )
    place.mkdir(parents=True, exist_ok=True)
    yield place


def _draw(rows: Sequence[Row], plot: str | None, *, as_json: bool) -> None:
    path = Path(plot) if plot else results_file(data_folder(os.environ)).with_name("models.svg")
    title = f"steer bench models: {max(row.tried for row in rows)} tasks"
    try:
        path.write_text(svg(rows, title), encoding="utf-8")
        image = png(path)
    except OSError as error:
        raise UsageProblem(f"{path} cannot be written.", error.strerror or str(error)) from error
    told = f" and {image}" if image else "; no PNG: rsvg-convert is not installed"
    click.echo(f"\nDrew {path}{told}.", err=as_json)


def line(result: Result) -> str:
    """One result as people read it."""
    mark = click.style("✓", fg="green") if result.passed else click.style("✗", fg="red")
    tokens = f"{result.input + result.output:,} tokens"
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
