"""What a transaction costs: against plain bubblewrap, and against a run that keeps no journal."""

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Figure
from steersman.operations.journal.commit import apply
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.snapshot import Snapshot
from steersman.operations.running.overlay import Overlay, available

RUNS = 120
FILES = 2000


def figures() -> list[Figure]:
    """The least wall time of many interleaved runs."""
    with TemporaryDirectory(prefix="steersman-bench-") as name:
        root, scratch = Path(name, "work"), Path(name, "scratch")
        _plant(root)
        overlay = available(str(root), str(scratch))
        if not isinstance(overlay, Overlay):
            raise SystemExit(overlay.reason)
        return _measure(overlay, str(root), str(scratch), Path(name))


def _plant(root: Path) -> None:
    for number in range(FILES):
        folder = root / f"folder {number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file {number}").write_text(f"content {number}\n" * 20)


def _measure(overlay: Overlay, root: str, scratch: str, folder: Path) -> list[Figure]:
    objects = Objects(folder / "objects")

    def plain() -> None:
        mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", root, root]
        start = overlay.bubblewrap.start()
        subprocess.run([*start, *mounts, "--chdir", root, "--", "true"], check=True)

    def run(command: Sequence[str], *, journal: bool) -> None:
        with overlay.begin(root, scratch) as transaction:
            line = transaction.argv(command, root)
            subprocess.run(line, pass_fds=transaction.descriptors, check=True)
            if journal:
                done = transaction.changes(objects)
                apply(root, done.changes, objects, times=done.times, remove=done.remove)

    def directly() -> None:
        subprocess.run(["true"], cwd=root, check=True)

    def under_snapshot() -> None:
        snapshot = Snapshot.take(root, objects, str(folder / "index"))
        directly()
        snapshot.changes_since()

    under_snapshot()
    time.sleep(0.1)
    under_snapshot()
    true = ["true"]
    least = _least(
        plain,
        lambda: run(true, journal=True),
        lambda: run(true, journal=False),
        directly,
        under_snapshot,
    )
    bind, whole, unkept, bare, watched = least
    per_file = (watched - bare) / FILES * 1e6
    return [
        Figure("`true` as a transaction, against bubblewrap and a bind", whole / bind, 3, "×",
               f"{whole * 1000:.1f} ms"),
        Figure("journal of a command that changes nothing, against none", whole / unkept, 1.1, "×"),
        Figure("snapshot before and after a direct command, a file", per_file, 50, "µs",
               f"{FILES} files, index warm"),
    ]  # fmt: skip


def _least(*measured: Callable[[], None]) -> list[float]:
    """The least time of each, taken in turns so that a busy moment hits all of them."""
    best = [float("inf")] * len(measured)
    for _ in range(RUNS):
        for number, run in enumerate(measured):
            started = time.perf_counter()
            run()
            best[number] = min(best[number], time.perf_counter() - started)
    return best
