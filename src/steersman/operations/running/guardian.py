"""The host's side of `guardian_process.py`: commands start there, so none outlives the host.

One guardian serves a host process; it is started with the first command. For each command the host
sends it two descriptors, the guard's end of a lifeline and the pipe to print to, those that the
command is to inherit, and namespaces to join. On the lifeline the host sends the order (eight bytes
of length, then folder, numbers of inherited descriptors, limits and number of namespaces, place and
options of a view, number of arguments, arguments and environment, with NUL between them) and later
numbers of signals, a byte each. The guard answers in lines: `pid N` or `failed WHY`, `exit CODE`,
`unseen ERRNO` before that when a view cannot be mounted and nothing is started, `left N` when
others outlived the command, and `many N` when it ends a command for having started too many. The
host ends everything by closing its half; the guard closes the other when nobody is left.
"""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from steersman.operations.running.terminal import Size
from steersman.records.errors import ToolProblem

PROGRAM = Path(__file__).with_name("guardian_process.py")
# Imported and not run: Python compiles what it runs again each time, and keeps what it imports.
BEGIN = (
    "import os, sys; sys.path.append(os.path.dirname(sys.argv[1])); "
    "import guardian_process; guardian_process.main()"
)
NEEDED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # some builds of Python cannot start without
LEAVING = 5.0
MOST = 16  # descriptors a command can inherit


class Limits(Struct, frozen=True):
    """What a command may take of the machine; 0 is not a limit."""

    processes: int = 0  # with more it is ended
    file_bytes: int = 0  # the size of a file that it writes
    nice: int = 0  # by how much others go before it


NO_LIMITS = Limits()


class View(Struct, frozen=True):
    """An overlay that a guard mounts for itself and its command: where, and with what options."""

    place: str = ""
    options: str = ""


NO_VIEW = View()


class Handed(Struct, frozen=True):
    """What of the host a command gets: descriptors to inherit, namespaces to start in, a view.

    One that is to `talk` reads from the first descriptor and prints to the second; one that has a
    `terminal` of that size does both there.
    """

    inherit: tuple[int, ...] = ()
    spaces: tuple[int, ...] = ()
    view: View = NO_VIEW
    talk: tuple[int, ...] = ()
    terminal: Size | None = None


NOTHING = Handed()


class Lifeline:
    """The tie between the host and the guard of one command."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pid = 0
        self._reader = reader
        self._writer = writer
        self._ending = False

    async def order(self, order: bytes) -> None:
        """Have the command started."""
        try:
            self._writer.write(len(order).to_bytes(8, "big") + order)
            await self._writer.drain()
            word, _, rest = (await self._reader.readline()).decode().rstrip().partition(" ")
        except ConnectionError:
            word, rest = "", ""
        if word == "pid":
            self.pid = int(rest)
            return
        raise ToolProblem(
            "The command cannot be started.",
            rest or "The helper process that starts commands has ended.",
            "" if rest else "Try again.",
        )

    async def words(self) -> AsyncIterator[tuple[str, int]]:
        """What the guard reports, until nobody is left to guard."""
        try:
            while line := await self._reader.readline():
                word, _, number = line.decode().partition(" ")
                yield word, int(number)
        except ConnectionError:
            return

    def signal(self, number: signal.Signals) -> None:
        """Signal the command and all below it."""
        if not self._ending:
            self._writer.write(bytes([number]))

    def end(self) -> None:
        """Have everything killed that the command started, and the command itself."""
        if not self._ending:
            self._ending = True
            self._writer.write_eof()

    def close(self) -> None:
        """Let go; what still lives is killed."""
        self._ending = True
        self._writer.close()


class Guardian:
    """Starts commands that end when this process does, whatever ends it.

    One serves all threads of a host.
    """

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._nursery: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    def warm(self) -> None:
        """Start the guardian, if it does not run, without waiting for it."""
        with self._starting:
            if not self._runs:
                self._start()

    @property
    def _runs(self) -> bool:
        return self._nursery is not None and self._nursery.poll() is None

    def _start(self) -> None:
        self._end()
        # The line first: whoever sees that it runs, on another thread, speaks to it at once.
        self._line, theirs = socket.socketpair()
        with theirs:
            self._nursery = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", BEGIN, str(PROGRAM)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in NEEDED if name in os.environ},
                start_new_session=True,
            )

    async def start(
        self,
        argv: Sequence[str],
        cwd: str,
        environ: Mapping[str, str],
        output: int,
        handed: Handed = NOTHING,
        limits: Limits = NO_LIMITS,
    ) -> Lifeline:
        """Start a command that prints to a descriptor and inherits some, under the same numbers.

        Of one that is to talk only the errors go to `output`. It does not start where the
        namespaces cannot be joined.
        """
        inherit, spaces, talk = handed.inherit, handed.spaces, handed.talk
        assert min(inherit, default=3) > 2, "what a command reads and prints to is not inherited"
        given, numbers = (*talk, *inherit), (*((0, 1) if talk else ()), *inherit)
        assert len(given) + len(spaces) <= MOST, "more descriptors than a guard takes"
        bounds = f"{limits.processes} {limits.file_bytes} {limits.nice} {len(spaces)}"
        about = (bounds, handed.view.place, handed.view.options)
        order = b"\0".join(map(os.fsencode, _fields(argv, cwd, environ, numbers, about)))
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                if not self._runs:
                    await asyncio.to_thread(self.warm)
                assert self._line is not None
                socket.send_fds(self._line, [b"+"], [theirs.fileno(), output, *given, *spaces])
            lifeline = Lifeline(*await asyncio.open_connection(sock=ours))
        except OSError as error:
            ours.close()
            raise ToolProblem("The command cannot be started.", str(error), "Try again.") from error
        try:
            await lifeline.order(order)
        except BaseException:
            lifeline.close()
            raise
        return lifeline

    def close(self) -> None:
        """End the guardian and everything that was started in it."""
        with self._starting:
            self._end()

    def _end(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._nursery is not None:
            if not _ends(self._nursery, LEAVING):
                self._nursery.kill()
            self._nursery.wait()
        self._line = self._nursery = None


def _ends(child: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a child ends in time; where the system can tell, at the very moment it does."""
    if child.poll() is not None:
        return True
    try:
        handle = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        with suppress(subprocess.TimeoutExpired):
            child.wait(seconds)
        return child.returncode is not None
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(1000 * seconds))
    finally:
        os.close(handle)


def _fields(
    argv: Sequence[str],
    cwd: str,
    environ: Mapping[str, str],
    inherit: Sequence[int],
    about: Sequence[str],
) -> list[str]:
    """An order as a list; a NUL would be read as the end of a field."""
    pairs = [f"{name}={value}" for name, value in environ.items()]
    fields = [
        cwd,
        " ".join(map(str, inherit)),
        *about,
        str(len(argv)),
        *argv,
        *pairs,
    ]
    if any("\0" in field for field in fields):
        raise ToolProblem("A command and its environment must not contain a NUL character.")
    return fields
