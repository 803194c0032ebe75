"""`steer bench`'s work: small coding tasks tried by each model, measured, kept and drawn."""

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from steersman.host import models
from steersman.host.settings import settings_for, state_folder
from steersman.host.storage import open_host
from steersman.host.trials import attempt
from steersman.intelligence.benching import plot, results
from steersman.intelligence.benching.tasks import tasks
from steersman.records.bench import Result, Row
from steersman.records.counting import counted
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.limits import Limits
from steersman.records.settings import Budgets, Settings


class LeftOut(Struct, frozen=True):
    """A model that could not be tried, and why."""

    model: str
    problem: SteersmanError


async def run(
    named: Sequence[str],
    wanted: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    *,
    seconds: float,
) -> AsyncIterator[Result | LeftOut]:
    """Every task by every model, one after the other: they are timed. Results are kept.

    Without names, the models that the settings name, and all tasks.
    """
    settings = settings_for(environ, {})
    chosen = list(named) or models.configured(settings)
    if not chosen:
        raise UsageProblem(
            "No model is configured.", try_this="Pass --models provider:name,provider:name."
        )
    work = tasks(wanted)
    file = results.results_file(state_folder(environ))
    known = models.known(settings, environ)
    async with open_host(_with_this_python(environ)) as host:
        for number, model in enumerate(chosen):
            own = _settings(settings, model, seconds)
            for task in work:
                place = folder / f"{number}-{task.name}"
                place.mkdir(parents=True)
                try:
                    result = await attempt(host, task, own, place, known)
                except SteersmanError as problem:
                    yield LeftOut(model, problem)
                    break
                results.keep(file, result)
                yield result


def newest(environ: Mapping[str, str]) -> list[Result]:
    """The newest kept result of every model in every task."""
    return results.newest(results.kept(results.results_file(state_folder(environ))))


def summary(found: Sequence[Result]) -> list[Row]:
    """Each model over its tasks."""
    return results.summary(found)


@contextmanager
def folder_for_work(keep_in: str | None) -> Iterator[Path]:
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
            f"{place} is not an empty folder.", try_this="Pass a new folder with --keep."
        )
    place.mkdir(parents=True, exist_ok=True)
    yield place


def draw(rows: Sequence[Row], path: str | None, environ: Mapping[str, str]) -> list[Path]:
    """Draw a summary as SVG and, where a program for that is installed, as PNG; the files."""
    kept = results.results_file(state_folder(environ)).with_name("models.svg")
    drawn = Path(path) if path else kept
    title = f"steer bench models: {counted(max(row.tried for row in rows), 'task')}"
    try:
        drawn.write_text(plot.svg(rows, title), encoding="utf-8")
        image = plot.png(drawn)
    except OSError as error:
        raise UsageProblem(f"{drawn} cannot be written.", error.strerror or str(error)) from error
    return [drawn, image] if image else [drawn]


def _settings(settings: Settings, model: str, seconds: float) -> Settings:
    """Nobody is asked, and what would need asking is refused, as in any headless run."""
    limits = Budgets(run=Limits(seconds=seconds))
    return msgspec.structs.replace(
        settings, model=model, mode="code", trust="sandboxed", approvals="never", budget=limits
    )


def _with_this_python(environ: Mapping[str, str]) -> dict[str, str]:
    """The tasks call `python3`; let that be the Python that runs this."""
    path = environ.get("PATH", "")
    return {**environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{path}"}
