"""The processes of one open thread: started, watched, moved to the background, listed, ended.

A process has ended when its leader has. What it left behind is killed after a moment, so nothing
waits for a pipe that a grandchild holds, and what was printed is complete.
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.running.guardian import (
    NO_LIMITS,
    NOTHING,
    Guardian,
    Handed,
    Lifeline,
    Limits,
)
from steersman.operations.running.output import SPOOL, Output
from steersman.operations.running.terminal import Size, Terminal, open_terminal
from steersman.records.errors import ToolProblem
from steersman.records.private_files import make_private_folder
from steersman.store.redactor import Redactor

MARK = "STEERSMAN_CALL"
PIECE = 64 * 1024
REST = 1024 * 1024
DRAIN = 0.2  # seconds for what a command left behind to print its last and end
TIDY = 5.0  # the same, when it was reported to end
LEAVING = 5.0  # seconds until a process that cannot be killed is left to its guard
KEPT = 32  # ended processes whose output can still be read
PATIENCE = 10.0  # seconds that a command is waited for when nobody says how long
MOST = 64  # processes that may run at the same time

SignalName = Literal["TERM", "INT", "KILL", "HUP", "USR1", "USR2", "STOP", "CONT"]
_CROWD = b"\n[Steersman: ended: it had %d processes, more than max_processes allows.]\n"
ENDING = frozenset({"TERM", "INT", "KILL", "HUP"})


class Condition(Struct, frozen=True):
    """Whether a process runs; `number` is its exit code or the signal that killed it."""

    word: Literal["running", "exited", "killed"]
    number: int = 0

    def __str__(self) -> str:
        match self.word:
            case "running":
                return "running"
            case "exited":
                return f"exited {self.number}"
            case "killed":
                return f"killed by {_signal_name(self.number)}"

    @property
    def exit_code(self) -> int | None:
        """As a shell says it: 128 and the signal for a process that was killed."""
        if self.word == "running":
            return None
        return self.number + (128 if self.word == "killed" else 0)


RUNNING = Condition("running")


class Running:
    """A command that was started, under the handle it keeps."""

    def __init__(
        self,
        id: str,
        command: str,
        lifeline: Lifeline,
        output: Output,
        pipe: int,
        size: Size | None = None,
    ) -> None:
        self.id = id
        self.command = command
        self.pid = lifeline.pid
        self.started = datetime.now(UTC)
        self.state = RUNNING
        self.output = output
        self.background = False
        self.cut = False  # it was ended because the thread was closed
        self.unseen = 0  # why its view could not be mounted, as an errno: it did not start
        self.halted = False  # it was asked to end, or made to
        self.left = 0  # processes that outlived it and were ended
        self.seen = 0  # how much of the output someone has been shown
        self.terminal = Terminal(pipe, size) if size else None
        self._lifeline = lifeline
        self._pipe = pipe
        self._moment = DRAIN
        self._begun = time.monotonic()
        self._seconds: float | None = None
        self._news = asyncio.Event()
        self._following = asyncio.create_task(self._follow(), name=f"process-{id}")
        self._following.add_done_callback(lambda _: self._news.set())

    @property
    def ended(self) -> bool:
        """True when it has ended, with everything it started, and its output is complete."""
        return self._following.done()

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return time.monotonic() - self._begun if self._seconds is None else self._seconds

    async def wait(self, at_most: float | None = None) -> bool:
        """Wait for the end, for so many seconds at most; True when it has come."""
        await asyncio.wait({self._following}, timeout=at_most)
        return self.ended

    async def wait_for_output(self, offset: int, at_most: float) -> None:
        """Wait until something is printed past an offset, until the end, or until time is up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(at_most):
                while self.output.size <= offset and not self.ended:
                    self._news.clear()
                    await self._news.wait()

    def signal(self, name: SignalName) -> None:
        """Send a signal to the command and all it started."""
        if name == "KILL":
            self.kill_tree()
            return
        if name in ENDING:
            self.halted, self._moment = True, TIDY
        self._lifeline.signal(signal.Signals[f"SIG{name}"])

    def kill_tree(self) -> None:
        """Kill the command and all it started, wherever that went; `wait` shows when it is done."""
        self.halted = self.halted or not self.ended
        self._lifeline.end()

    async def end(self) -> bool:
        """Kill all of it and wait until it is gone; False when the system would not let go."""
        self.kill_tree()
        return await self.wait(LEAVING)

    def abandon(self) -> None:
        """Stop following; the guard continues killing what has not ended."""
        self._following.cancel()

    async def _follow(self) -> None:
        """From the start to the end, for which this task is the owner of all that is open."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._pipe, self._read)
        try:
            await self._attend()
        finally:
            loop.remove_reader(self._pipe)
            self._read_rest()
            if self.terminal:
                loop.remove_writer(self._pipe)
                self.terminal.close()
            os.close(self._pipe)
            self._lifeline.close()
            self.output.finish()
            if self.state is RUNNING:  # its guard was killed, and it with its guard
                self.state = Condition("killed", signal.SIGKILL)
            if self._seconds is None:
                self._seconds = self.seconds

    async def _attend(self) -> None:
        """Hear the guard out; once the leader has ended, the rest has a moment to do so too."""
        killing: asyncio.TimerHandle | None = None
        async for word, number in self._lifeline.words():
            if word == "left":
                self.left = number
            elif word == "unseen":
                self.unseen = number
            elif word == "many":
                self.halted = True
                self.output.add(_CROWD % number)
                if self.terminal:
                    self.terminal.add((_CROWD % number).replace(b"\n", b"\r\n"))
            elif word == "exit":
                self._seconds = self.seconds
                self.state = Condition("exited" if number >= 0 else "killed", abs(number))
                later = asyncio.get_running_loop().call_later
                killing = later(self._moment, self._lifeline.end)
        if killing:
            killing.cancel()
        else:
            await self._outlive()

    async def _outlive(self) -> None:
        """Wait for the end of a command whose guard was killed: the guardian ends it now."""
        try:
            leader = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            return
        gone = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(leader, gone.set)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(LEAVING):
                    await gone.wait()
        finally:
            loop.remove_reader(leader)
            os.close(leader)

    def _read_rest(self) -> None:
        """Take what is still in the pipe, and no more than a pipe can hold."""
        for _ in range(REST // PIECE):
            if not self._read():
                return

    def _read(self) -> bool:
        """Take what is in the pipe; False when there is nothing now."""
        try:
            piece = self.terminal.read() if self.terminal else os.read(self._pipe, PIECE)
        except BlockingIOError:
            return False
        if not piece:
            asyncio.get_running_loop().remove_reader(self._pipe)
            return False
        self.output.add(piece)
        self._news.set()
        return True


class Processes:
    """Starts and keeps the processes of one thread; closing it ends them.

    Output is spooled to files in a folder that belongs to whoever opened the thread. A command in
    the foreground is waited for `patience` seconds when nobody says how long.
    """

    def __init__(
        self,
        spool_folder: Path,
        guardian: Guardian | None = None,
        *,
        max_output: int = SPOOL,
        limits: Limits = NO_LIMITS,
        patience: float = PATIENCE,
    ) -> None:
        self.patience = patience
        self._folder = spool_folder
        self._max_output = max_output
        self._limits = limits
        self._own_guardian = guardian is None
        self._guardian = guardian or Guardian()
        self._known: dict[str, Running] = {}
        self._count = 0
        self._closed = False

    def warm(self) -> None:
        """Start the program that starts commands, so that the first one need not wait for it."""
        self._guardian.warm()

    async def start(
        self,
        argv: Sequence[str],
        cwd: str,
        environ: Mapping[str, str],
        *,
        call: str,
        command: str = "",
        progress: Callable[[str], None] | None = None,
        redactor: Redactor | None = None,
        handed: Handed = NOTHING,
    ) -> Running:
        """Start a command in a session of its own; `call` marks it and all it starts.

        Of what is open in the host it has what it is `handed`, under the same numbers; it starts
        in the namespaces that are, or not at all.
        """
        self._check_room()
        self._count += 1
        id = f"p{self._count}"
        output = self._spool(id, progress, redactor)
        try:
            pipe, inlet = open_terminal(size) if (size := handed.terminal) else os.pipe()
        except OSError as error:
            output.finish()
            output.path.unlink(missing_ok=True)
            raise ToolProblem("The command was not started.", str(error), "Try again.") from error
        os.set_blocking(pipe, False)
        if size:
            handed = replace(handed, talk=(inlet, inlet))
        try:
            marked = {**environ, MARK: call}
            lifeline = await self._guardian.start(
                argv, cwd, marked, inlet, handed, limits=self._limits
            )
        except BaseException as error:
            os.close(pipe)
            output.finish()
            output.path.unlink(missing_ok=True)
            if self._closed and isinstance(error, ToolProblem):
                raise _closing() from error
            raise
        finally:
            os.close(inlet)
        running = Running(id, command or " ".join(argv), lifeline, output, pipe, size)
        self._known[id] = running
        self._forget()
        if self._closed:
            await running.end()
            raise _closing()
        return running

    def adopt(self, running: Running) -> None:
        """Let a foreground command continue in the background, under the handle it has."""
        running.background = True
        running.output.mute()

    def get(self, id: str) -> Running:
        """The process with a handle."""
        try:
            return self._known[id]
        except KeyError:
            known = ", ".join(f"{running.id} ({running.state})" for running in self.listing())
            raise ToolProblem(
                f"There is no process “{id}”.",
                f"Known processes: {known}."
                if known
                else "None was started since the thread was opened.",
                "Use one of these." if known else "Start one with background: true.",
            ) from None

    def listing(self) -> list[Running]:
        """Processes that run, and the last that ended, in the order they were started."""
        return list(self._known.values())

    def jobs(self) -> dict[str, str]:
        """The commands that run in the background, by their handles."""
        return {one.id: one.command for one in self.listing() if one.background and not one.ended}

    def terminals(self) -> dict[str, Running]:
        """The programs that have a terminal, by their handles."""
        return {one.id: one for one in self.listing() if one.terminal}

    async def close(self) -> None:
        """End everything."""
        self._closed = True
        async with asyncio.TaskGroup() as group:
            for running in self.listing():
                running.cut = not running.ended
                group.create_task(running.end())
        for running in self.listing():
            running.abandon()
            await running.wait()
        if self._own_guardian:
            await asyncio.to_thread(self._guardian.close)

    def _check_room(self) -> None:
        if self._closed:
            raise _closing()
        going = [running.id for running in self.listing() if not running.ended]
        if len(going) >= MOST:
            raise ToolProblem(
                f"{MOST} processes are running already.",
                f"They are: {', '.join(going)}.",
                "End some with workspace_signal_process.",
            )

    def _spool(
        self, id: str, progress: Callable[[str], None] | None, redactor: Redactor | None
    ) -> Output:
        try:
            make_private_folder(self._folder)
            path = self._folder / f"{id}-{token_hex(4)}.out"
            return Output(path, progress, redactor, most=self._max_output)
        except OSError as error:
            what = "The command was not started: its output cannot be stored."
            raise ToolProblem(what, str(error)) from error

    def _forget(self) -> None:
        for id in [running.id for running in self.listing() if running.ended][:-KEPT]:
            del self._known[id]


def _closing() -> ToolProblem:
    return ToolProblem("The command was not started: the thread is being closed.")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
