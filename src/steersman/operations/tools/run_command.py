"""`workspace_run_command`, in the foreground."""

import asyncio
import codecs
import time
from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.action import Action, Execute
from steersman.errors import ToolProblem
from steersman.operations.process import running
from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.workspace import Workspace

HEAD = TAIL = 16 * 1024


class CommandResult(Struct, frozen=True, omit_defaults=True):
    """How a command ended; `output` is its standard output and error together."""

    exit_code: int
    wall_ms: int
    output: str
    truncated: bool = False
    note: str = ""


class RunCommandArgs(Arguments, frozen=True):
    """What to run, where, and for how long at most."""

    command: Annotated[str, Meta(description="a bash command", min_length=1)]
    cwd: Annotated[str, Meta(description="folder, relative to the workspace")] = "."
    timeout_s: Annotated[float, Meta(gt=0, le=3600, description="seconds until it is ended")] = 120


class RunCommand(Tool[RunCommandArgs]):
    """Run a bash command in the workspace and wait for it. Standard input is closed."""

    name = "workspace_run_command"
    family = Family.RUN
    Args = RunCommandArgs

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def actions(self, args: RunCommandArgs, workspace: Workspace) -> Sequence[Action]:
        """Execute that command."""
        if "\0" in args.command:
            raise ToolProblem("A command must not hold a NUL character.")
        return [Execute(args.command, workspace.locate(args.cwd))]

    async def run(self, args: RunCommandArgs, bench: Bench) -> CommandResult:
        """Run it to its end or its time limit."""
        started = time.monotonic()
        output = Output(bench)
        timed_out = False
        cwd = bench.workspace.locate(args.cwd)
        try:
            async with running(args.command, cwd, self._environ, bench.call) as process:
                try:
                    async with asyncio.timeout(args.timeout_s):
                        await output.collect(process)
                except TimeoutError:
                    timed_out = True
        except OSError as error:
            raise ToolProblem("The command cannot be started.", str(error)) from error
        assert process.returncode is not None
        return CommandResult(
            exit_code=process.returncode,
            wall_ms=round(1000 * (time.monotonic() - started)),
            output=output.text(),
            truncated=output.dropped > 0,
            note=f"ended after {args.timeout_s:g} seconds, its time limit" if timed_out else "",
        )


class Output:
    """The head and the tail of what a command prints, in bounded memory."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._head = bytearray()
        self._tail = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.dropped = 0

    async def collect(self, process: asyncio.subprocess.Process) -> None:
        """Read until the command has ended, not until everything it left behind has."""
        assert process.stdout is not None
        ended = asyncio.ensure_future(process.wait())
        try:
            while True:
                reading = asyncio.ensure_future(process.stdout.read(65536))
                await asyncio.wait({reading, ended}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    # A child that outlives the command may hold the pipe open for ever.
                    await asyncio.wait({reading}, timeout=0.2)
                    if not reading.done():
                        reading.cancel()
                        return
                piece = reading.result()
                if not piece:
                    await ended
                    return
                self._add(piece)
        finally:
            ended.cancel()

    def _add(self, piece: bytes) -> None:
        self._bench.progress(self._decoder.decode(piece))
        room = HEAD - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        if len(self._tail) > TAIL:
            excess = len(self._tail) - TAIL
            self.dropped += excess
            del self._tail[:excess]

    def text(self) -> str:
        """What is shown of the output."""
        gap = f"\n[… {self.dropped:,} bytes left out …]\n".encode() if self.dropped else b""
        return bytes(self._head + gap + self._tail).decode("utf-8", errors="replace")
