"""Leaving the terminal: the shell gets it back, and the work continues in a process without one.

The chat runs in a child of the process that the shell started. Until it lets go, the two live and
die together.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from steersman.host import Host

PR_SET_PDEATHSIG = 1
_launcher = 0  # the process that the shell waits for; 0 when there is none


def split() -> None:
    """Continue in a child, so that the shell gets its terminal back while the work continues."""
    global _launcher
    sys.stdout.flush()
    sys.stderr.flush()
    launcher = os.getpid()
    child = os.fork()
    if child:
        _stand_in(child)
    _die_with_parent(signal.SIGKILL)
    if os.getppid() != launcher:
        os._exit(1)
    _launcher = launcher


def _stand_in(child: int) -> NoReturn:
    """Wait for the child in the shell's place: end, stop and continue as it does."""
    signal.signal(signal.SIGUSR1, lambda *_: os._exit(0))
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    while True:
        try:
            _, status = os.waitpid(child, os.WUNTRACED)
        except InterruptedError:
            continue
        except ChildProcessError:
            os._exit(1)
        if os.WIFSTOPPED(status):
            os.kill(os.getpid(), signal.SIGSTOP)
        else:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def let_go() -> None:
    """Belong to no terminal any more; the shell continues."""
    _die_with_parent(0)
    with suppress(OSError):
        os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if _launcher:
        with suppress(ProcessLookupError):
            os.kill(_launcher, signal.SIGUSR1)


async def linger(host: "Host") -> None:
    """Give the terminal back, and stay until nothing is left to do in the threads that run here."""
    let_go()
    await host.drain()


def _die_with_parent(number: int) -> None:
    """Let the system end this process with its parent; only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
