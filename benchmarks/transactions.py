"""What a sandbox and a transaction cost: against a plain command, bubblewrap, and no journal."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Figure
from steersman.operations.journal.commit import apply
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.snapshot import Snapshot
from steersman.operations.running.confine import Sandbox, Workspace
from steersman.operations.running.overlay import Overlay, available
from steersman.operations.running.scratch import Scratch
from steersman.records.profile import Profile

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

    profile = _profile(folder)
    sandbox = Sandbox(overlay.bubblewrap)
    bound = Workspace(root, ("--bind", root, root))

    def plain() -> None:
        own = Scratch(scratch)
        try:
            line = sandbox.argv(["true"], root, profile, bound, own)
            subprocess.run(line, check=True, pass_fds=own.descriptors)
        finally:
            own.discard()

    def run(command: Sequence[str], *, journal: bool) -> None:
        with overlay.begin(root, scratch) as transaction:
            line = transaction.argv(command, root, profile)
            subprocess.run(line, check=True, pass_fds=transaction.descriptors)
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
    least, quarter = _least(
        plain,
        lambda: run(true, journal=True),
        lambda: run(true, journal=False),
        directly,
        under_snapshot,
    )
    bind, whole, unkept, bare, watched = least
    over = f"min {whole * 1000:.1f}, p25 {quarter[1] * 1000:.1f}; plain {bare * 1000:.1f} ms"
    per_file = (watched - bare) / FILES * 1e6
    return [
        Figure("`true` in the full sandbox as a transaction, over a plain command",
               (whole - bare) * 1000, 25, "ms", over),
        Figure("the same, against that sandbox with a bind instead of a view", whole / bind, 3, "×",
               f"{whole * 1000:.1f} ms"),
        Figure("journal of a command that changes nothing, against none", whole / unkept, 1.1, "×"),
        Figure("snapshot before and after a direct command, a file", per_file, 50, "µs",
               f"{FILES} files, index warm"),
    ]  # fmt: skip


def _profile(folder: Path) -> Profile:
    """A usual profile: a dozen secrets, in and outside the workspace, and an environment."""
    hidden = [folder / "work" / ".env", folder / "work" / "folder 0" / "key.pem"]
    hidden += [folder / "home" / f"secret {number}" for number in range(10)]
    for path in hidden:
        path.parent.mkdir(exist_ok=True)
        path.write_text("secret")
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}
    return Profile(hidden=tuple(map(str, hidden)), environ=environ)


def _least(*measured: Callable[[], None]) -> tuple[list[float], list[float]]:
    """The least time of each, and a quarter from below, taken in turns so that a busy moment hits
    all of them."""
    times: list[list[float]] = [[] for _ in measured]
    for _ in range(RUNS):
        for number, run in enumerate(measured):
            started = time.perf_counter()
            run()
            times[number].append(time.perf_counter() - started)
    return [min(taken) for taken in times], [sorted(taken)[RUNS // 4] for taken in times]
