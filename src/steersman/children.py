"""Programs that the host starts for itself and waits for: whatever ends the host ends them.

A child asks the system to be killed when the thread that started it ends: `run` waits in that very
thread, and `start` belongs to the thread of the event loop. Commands, and programs that the host
talks with, are started by the guardian instead.

None belongs to the terminal: the host may leave that, and it would take them along.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

PR_SET_PDEATHSIG = 1
Word = str | bytes


def run(
    argv: Sequence[Word],
    *,
    seconds: float | None,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    said: bytes = b"",
    tied: bool = True,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end, with `said` as its input; for a thread that may block.

    One that ties itself to the host, or ends at once, need not be `tied`: to tie it takes a copy of
    all of the host's memory, which is paid for long after.
    """
    return subprocess.run(
        argv,
        cwd=cwd,
        env=environ,
        input=said,
        capture_output=True,
        timeout=seconds,
        check=False,
        start_new_session=True,
        preexec_fn=_tie() if tied else None,
    )


def run_whole(
    argv: Sequence[Word],
    *,
    seconds: float,
    cwd: str | None,
    environ: Mapping[str, str],
    said: bytes,
) -> subprocess.CompletedProcess[bytes]:
    """The same for a shell command, which may start others: when time is up, all of them end."""
    with subprocess.Popen(
        argv,
        cwd=cwd,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_tie(),
    ) as child:
        try:
            printed, _ = child.communicate(said, timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(argv, child.returncode, printed, b"")


def talk(
    argv: Sequence[Word], *, cwd: str | None = None, environ: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a program with pipes to and from it; for a thread that may block and sees it end."""
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_tie(),
    )


async def start(
    argv: Sequence[Word], cwd: str, environ: Mapping[str, str]
) -> asyncio.subprocess.Process:
    """Start a program with pipes to and from it."""
    return await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env=environ,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_tie(),
    )


def _tie() -> Callable[[], None] | None:
    """What a child does first; it imports and looks up nothing: no other thread continues in it."""
    if sys.platform != "linux":
        return None
    import ctypes

    prctl, parent, kill = ctypes.CDLL(None).prctl, os.getpid(), int(signal.SIGKILL)

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, kill, 0, 0, 0)
        if os.getppid() != parent:  # it ended before it could be asked
            os._exit(1)

    return tie
