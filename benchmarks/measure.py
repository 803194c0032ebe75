"""How things are measured: CPU time of child processes, the least of several runs."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

BIN = Path(sys.executable).parent
PYTHON = sys.executable
STEER = str(BIN / "steer")


class Figure(NamedTuple):
    """One measured figure and the limit it is held against."""

    what: str
    value: float
    limit: float
    unit: str
    note: str = ""

    @property
    def good(self) -> bool:
        """True when the limit holds."""
        return self.value <= self.limit


class Cost(NamedTuple):
    """What a process took."""

    cpu: float
    wall: float


@contextmanager
def world() -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder and an environment that no other measurement touches."""
    with TemporaryDirectory(prefix="steersman-bench-") as name:
        folder = Path(name)
        (folder / "work").mkdir()
        (folder / "work" / "calc.py").write_text("def add(a, b):\n    return a - b\n" * 20)
        yield (
            folder,
            {
                "PATH": os.environ["PATH"],
                "HOME": name,
                "STEERSMAN_HOME": str(folder / "data"),
                "XDG_CONFIG_HOME": str(folder / "config"),
            },
        )


def script(folder: Path, turns: list[dict[str, Any]]) -> str:
    """A script of turns; the answer is the model's name."""
    path = folder / "script.json"
    path.write_text(json.dumps({"turns": turns}))
    return f"scripted:{path}"


def cost(command: Sequence[str], environ: dict[str, str], cwd: Path, runs: int = 1) -> Cost:
    """The least CPU and wall time of a command over several runs."""
    best = Cost(float("inf"), float("inf"))
    for _ in range(runs):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, env=environ, cwd=cwd, capture_output=True, check=False)
        wall = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed: {done.stderr.decode()}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = Cost(min(best.cpu, cpu), min(best.wall, wall))
    return best


def table(figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table."""
    lines = ["| what | measured | limit | holds |", "|---|---|---|---|"]
    for f in figures:
        note = f" ({f.note})" if f.note else ""
        holds = "yes" if f.good else "**no**"
        lines.append(
            f"| {f.what}{note} | {f.value:.3g} {f.unit} | {f.limit:g} {f.unit} | {holds} |"
        )
    return "\n".join(lines)
