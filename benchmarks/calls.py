"""A run of 20 shell calls in this tree, in turns with the tree of an earlier commit and pi.

`python -m benchmarks calls --since COMMIT --rounds 12`. Medians, and the median of the differences
of neighbours. On a machine that others use, the wall time is only comparable within one run. Pi is
left out where `peers` has not installed it. Not among the default subjects.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.measure import Figure
from benchmarks.peers import CALLS, TURNS, _pi, _play, _steer
from benchmarks.programs import CACHE, Setting, Start, model_server
from benchmarks.tree import REPOSITORY, Spent

# The command line of a tree, with the Python and the packages of this one.
OTHER = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from steersman.__main__ import steer; steer()"
)


def figures(options: Sequence[str] = ()) -> list[Figure]:
    """Our CPU and wall time against the earlier tree's and pi's."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks calls")
    parser.add_argument("--since", default="HEAD~1", metavar="COMMIT")
    parser.add_argument("--rounds", type=int, default=12)
    wanted = parser.parse_args(options)
    with (
        TemporaryDirectory(prefix="steersman-bench-") as name,
        model_server(Path(name), TURNS) as url,
    ):
        runs = _in_turns(_starts(Path(name), url, wanted.since), Path(name), wanted.rounds)
    ours = runs.pop("now")
    return [
        _compared(f"{CALLS} shell calls, {what}, against {who}", a, b)
        for who, theirs in runs.items()
        for what, a, b in (
            ("CPU", [run.cpu for run in theirs], [run.cpu for run in ours]),
            ("wall", [run.wall for run in theirs], [run.wall for run in ours]),
        )
    ]


def _starts(folder: Path, url: str, since: str) -> dict[str, Start]:
    packed = subprocess.run(
        ["git", "-C", str(REPOSITORY), "archive", since, "src"], capture_output=True, check=True
    )
    (folder / "tree").mkdir()
    subprocess.run(["tar", "x", "-C", str(folder / "tree")], input=packed.stdout, check=True)
    trees = {"before": folder / "tree" / "src", "now": REPOSITORY / "src"}
    starts = {name: _started(tree, _setting(folder, name, url)) for name, tree in trees.items()}
    if (CACHE / "pi" / "installed").exists():
        starts["pi"] = _pi(_setting(folder, "pi", url))
    return starts


def _started(tree: Path, setting: Setting) -> Start:
    """Both trees in the same way: the start script of the installed one is quicker."""
    line, environ = _steer(setting)
    return [sys.executable, "-c", OTHER, str(tree), *line[1:]], environ


def _setting(folder: Path, name: str, url: str) -> Setting:
    setting = Setting(CACHE / name, folder / name, url)
    (setting.home / "tmp").mkdir(parents=True)
    return setting


def _in_turns(starts: dict[str, Start], folder: Path, rounds: int) -> dict[str, list[Spent]]:
    """Everybody, round after round; the first round only fills caches."""
    runs: dict[str, list[Spent]] = {name: [] for name in starts}
    for number in range(rounds + 1):
        for name, start in starts.items():
            run, calls = _play(folder / name, start, watch=False)
            if calls != CALLS:
                raise SystemExit(f"{name}: {calls} of {CALLS} calls, exit {run.code}: {run.said}")
            runs[name] += [run] if number else []
    return runs


def _compared(title: str, theirs: Sequence[float], ours: Sequence[float]) -> Figure:
    own, other = median(ours), median(theirs)
    less = median(a - b for a, b in zip(theirs, ours, strict=True))
    apart = f"{abs(1000 * less):.0f} ms {'less' if less >= 0 else 'more'}"
    note = f"{own:.2f} s against {other:.2f} s, {apart}"
    return Figure(title, own / other, 1, "×", note)
