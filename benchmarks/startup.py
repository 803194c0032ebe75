"""What it costs to start: against a Python that does nothing, in the same run."""

import subprocess
from pathlib import Path

from benchmarks.measure import PYTHON, STEER, Figure, cost, script, world

HEAVY = ("asyncio", "click", "msgspec", "sqlite3", "re", "typing", "json")


def figures() -> list[Figure]:
    """CPU time of --version, --help and a one-turn run."""
    with world() as (folder, environ):
        work = folder / "work"
        nothing = cost([PYTHON, "-c", "pass"], environ, work, 40).cpu
        version = cost([STEER, "--version"], environ, work, 40).cpu
        usage = cost([STEER, "--help"], environ, work, 20).cpu
        model = script(folder, [{"text": "Done."}])
        run = [STEER, "run", "--json", "--model", model, "--approvals", "never", "hello"]
        turn = cost(run, environ, work, 15).cpu
        imported = _imported([PYTHON, "-X", "importtime", STEER, "--version"], environ, work)
    return [
        Figure("`steer --version`, CPU, against `python -c pass`", version / nothing, 2, "×"),
        Figure("heavy modules that `--version` imports", len(imported), 0, "modules"),
        Figure("`steer --help`, CPU, against `python -c pass`", usage / nothing, 8, "×"),
        Figure("one-turn scripted `steer run`, CPU", turn, 0.35, "s", f"{turn / nothing:.0f} ×"),
    ]


def _imported(command: list[str], environ: dict[str, str], cwd: Path) -> list[str]:
    done = subprocess.run(command, env=environ, cwd=cwd, capture_output=True, text=True, check=True)
    names = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    return [name for name in HEAVY if name in names]
