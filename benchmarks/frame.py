"""Threads between processes: answers, live pieces, idle readers, many threads, the price of it all.

The last is measured against the commit before threads could be reached from other processes.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import PYTHON, Cost, Figure, cost, script, world

ROOT = Path(__file__).parent.parent
BEFORE = (
    "71a5df2"  # the last commit in which only the process that opened a thread could speak to it
)
APPROVALS, PIECES, THREADS, STEPS, RUNS = 40, 60, 200, 300, 7
_PRINT = f"for n in $(seq {PIECES}); do echo word$n; sleep 0.05; done"
_TALK = {"tool_calls": [{"name": "workspace_run_command", "arguments": {"command": _PRINT}}]}
LIMITS = {"SQLite": 50, "Postgres": 30}  # milliseconds until an answer is at the gate


def figures() -> list[Figure]:
    """Both stores, then what concerns one process."""
    found = []
    with _postgres() as url:
        for name, store in (("SQLite", ""), ("Postgres", url)):
            found += _between_processes(name, store)
    return [*found, *_many_threads(), _step()]


@contextmanager
def _postgres() -> Iterator[str]:
    from tests.postgres import a_server

    with a_server() as server:
        yield server.url


def _between_processes(name: str, store: str) -> list[Figure]:
    with world() as (folder, environ):
        environ |= {"STEERSMAN_STORE": store}
        child = _Children(folder / "work", environ)
        model = script(folder, [*map(_asking, range(APPROVALS)), _TALK, {"text": "Done."}])
        with child("own", model) as owner:
            thread = json.loads(owner.stdout.readline())
            idle = float(child.result("read", thread))
            with child("answer", thread) as other:
                other.stdout.readline()
                owner.stdin.write("go\n")
                owner.stdin.flush()
                theirs = json.loads(other.stdout.readline())
            ours = json.loads(owner.stdout.readline())
    waits = [1000 * (ours["heard"][corr] - time) for corr, time in theirs["given"].items()]
    lags = _lags(ours["shown"], theirs["shown"])
    return [
        Figure(
            f"{name}: an answer from another process is at the gate, median",
            median(waits), LIMITS[name], "ms",
            f"{len(waits)} answers, 9 of 10 within {quantiles(waits, n=10)[-1]:.0f} ms",
        ),
        Figure(
            f"{name}: live pieces in another process, behind, 19 of 20",
            quantiles(lags, n=20)[-1], 300, "ms",
            f"{len(lags)} pieces, median {median(lags):.0f} ms, slowest {max(lags):.0f} ms",
        ),
        Figure(f"{name}: an idle attached reader, of a core", 100 * idle, 0.5, "%"),
    ]  # fmt: skip


def _asking(number: int) -> dict[str, Any]:
    """A turn that needs an approval."""
    asking = {"command": f"true {number}", "outside_sandbox": True}
    return {"tool_calls": [{"name": "workspace_run_command", "arguments": asking}]}


def _lags(shown: list[Any], seen: list[Any]) -> list[float]:
    """How long after a piece was shown here it had come there too, in milliseconds."""
    lags = []
    for length, time in shown:
        came = next((there for reached, there in seen if reached >= length), None)
        if came is None:
            raise SystemExit(f"pieces were lost: {seen[-1:]} of {shown[-1:]}")
        lags.append(1000 * (came - time))
    return lags


class _Children:
    """Starts the processes of a measurement."""

    def __init__(self, work: Path, environ: dict[str, str]) -> None:
        self._work = work
        self._environ = {**environ, "PYTHONPATH": str(ROOT)}

    @contextmanager
    def __call__(self, *role: str) -> Iterator[Any]:
        process = subprocess.Popen(
            self.command(*role), env=self._environ, cwd=self._work, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            yield process
            if process.wait(60):
                raise SystemExit(f"{role} failed")
        finally:
            process.kill()
            process.communicate()

    def command(self, *role: str) -> list[str]:
        """What starts a role."""
        return [PYTHON, "-m", "benchmarks.frame_child", *role]

    def result(self, *role: str) -> str:
        """What a role says."""
        with self(*role) as process:
            return str(process.stdout.readline())

    def cost(self, *role: str) -> Cost:
        """What a role takes, with the commands it runs."""
        return cost(self.command(*role), self._environ, self._work)


def _many_threads() -> list[Figure]:
    with world() as (folder, environ):
        command = {"name": "workspace_run_command", "arguments": {"command": "true"}}
        model = script(folder, [{"tool_calls": [command]}, {"text": "Done."}])
        child = _Children(folder / "work", environ)
        said = json.loads(child.result("many", model, str(THREADS)))
        pairs = [
            (
                child.cost("many", model, str(THREADS)).cpu,
                child.cost("one-by-one", model, str(THREADS)).cpu,
            )
            for _ in range(3)
        ]
    together, apart = (min(costs) for costs in zip(*pairs, strict=True))
    return [
        Figure(f"{THREADS} open threads, memory each", said["memory"] / 1e6, 4, "MB"),
        Figure(f"processes beside the host of {THREADS} open threads", said["processes"], 2, ""),
        Figure(
            f"{THREADS} threads with a command each, CPU, against one after the other",
            together / apart, 1.3, "×", f"{together:.1f} s against {apart:.1f} s",
        ),
    ]  # fmt: skip


def _step() -> Figure:
    """A step of one process alone, against what it cost before, in turns."""
    with TemporaryDirectory(prefix="steersman-before-") as name, world() as (folder, environ):
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", BEFORE, "src"], capture_output=True, check=True
        )
        subprocess.run(["tar", "x", "-C", name], input=archive.stdout, check=True)
        costs: dict[str, list[tuple[float, float]]] = {"before": [], "now": []}
        for _ in range(RUNS):
            costs["before"].append(_runs(folder, environ, f"{name}/src"))
            costs["now"].append(_runs(folder, environ, str(ROOT / "src")))
    now, before = (_a_step(costs[tree]) for tree in ("now", "before"))
    what = f"a step of {STEPS} in one process, CPU, against before"
    return Figure(what, now / before, 1.05, "×", f"{now:.2f} ms, {before:.2f} ms before")


def _a_step(runs: list[tuple[float, float]]) -> float:
    """Milliseconds: the least of the long runs without the least of the empty ones."""
    empty, full = (min(costs) for costs in zip(*runs, strict=True))
    return 1000 * (full - empty) / STEPS


def _runs(folder: Path, environ: dict[str, str], tree: str) -> tuple[float, float]:
    """CPU of a run without steps and of one with many."""
    read = {"name": "workspace_read_file", "arguments": {"path": "calc.py"}}
    steps = [{"text": f"Step {n}.", "tool_calls": [read]} for n in range(STEPS)]
    used = []
    for turns in ([], steps):
        model = script(folder, [*turns, {"text": "Done."}])
        with TemporaryDirectory(dir=folder) as home:
            run = [PYTHON, "-P", "-m", "steersman", "run", "--json", "--approvals", "never"]
            own = {**environ, "PYTHONPATH": tree, "STEERSMAN_HOME": home}
            used.append(cost([*run, "--model", model, "go"], own, folder / "work").cpu)
    return used[0], used[1]
