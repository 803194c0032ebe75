"""What a program and everything it starts take: wall time, CPU time and memory of a whole tree.

`spent` runs a command below a small parent of its own, to which the system gives every orphan of
the tree (`PR_SET_CHILD_SUBREAPER`). So a daemon that is left behind is seen, ended and counted.
"""

import ctypes
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import PYTHON

PAGE = resource.getpagesize()
REPOSITORY = Path(__file__).parents[1]
LIBC = ctypes.CDLL(None)
SUBREAPER = 36
KCMP, KCMP_VM = {"aarch64": 272, "x86_64": 312}, 1
INTERVAL = 0.02
LINGER = 1.0


class Spent(NamedTuple):
    """Seconds, seconds, bytes, and how it ended; memory is 0 where it was not watched."""

    wall: float
    cpu: float
    memory: int
    code: int
    said: str


def spent(
    command: Sequence[str], environ: dict[str, str], cwd: Path, *, watch: bool, limit: float = 120
) -> Spent:
    """Run a command once; with `watch`, look at the memory of its tree every 20 ms.

    Looking takes time of its own, so a run is either timed or watched.
    """
    task = {"command": list(command), "cwd": str(cwd), "watch": watch, "limit": limit}
    done = subprocess.run(
        [PYTHON, "-m", "benchmarks.tree"],
        input=json.dumps(task | {"environ": environ}),
        capture_output=True,
        cwd=REPOSITORY,
        text=True,
        check=False,
    )
    if done.returncode:
        raise OSError(done.stderr.strip().rpartition("\n")[2])
    return Spent(**json.loads(done.stdout))


# --- in the small parent ----------------------------------------------------------------------


def main() -> None:
    """Read a task, run it, end what it left, and print what all of it took."""
    task = json.load(sys.stdin)
    LIBC.prctl(SUBREAPER, 1, 0, 0, 0)
    said = os.memfd_create("said")
    signal.signal(signal.SIGALRM, lambda *_: _end_all())
    signal.setitimer(signal.ITIMER_REAL, task["limit"])
    started = time.perf_counter()
    try:
        program = subprocess.Popen(
            task["command"], env=task["environ"], cwd=task["cwd"], start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=said, stderr=said,
        )  # fmt: skip
        memory = _peak(program) if task["watch"] else 0
        code = program.wait()
        wall = time.perf_counter() - started
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _bury()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = os.pread(said, 1 << 24, 0)[-2000:].decode(errors="replace")
    print(json.dumps(Spent(wall, used.ru_utime + used.ru_stime, memory, code, words)._asdict()))


def _peak(program: subprocess.Popen[bytes]) -> int:
    """The most memory the tree held at any look: resident pages, summed over its processes.

    A child that is just being started shares its parent's memory (`vfork`) and has none of its own.
    """
    most = 0
    while program.poll() is None:
        own = [pid for pid, above in below(os.getpid()) if not _share(pid, above)]
        most = max(most, sum(map(_resident, own)))
        time.sleep(INTERVAL)
    return most


def _share(pid: int, other: int) -> bool:
    """Whether two processes are in one memory."""
    return bool(LIBC.syscall(KCMP[platform.machine()], pid, other, KCMP_VM, 0, 0) == 0)


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):  # it has ended meanwhile
        return 0


def below(pid: int) -> Iterator[tuple[int, int]]:
    """Every process below this one, with its parent; those that end meanwhile are left out."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        try:
            children = Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            yield child, pid
            yield from below(child)


def _end_all() -> None:
    for pid, _ in list(below(os.getpid())):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _bury() -> None:
    """Give what is left a moment to end by itself, then end it, until there is nothing left."""
    patience = time.monotonic() + LINGER
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            if time.monotonic() > patience:
                _end_all()
            time.sleep(INTERVAL)


if __name__ == "__main__":
    main()
