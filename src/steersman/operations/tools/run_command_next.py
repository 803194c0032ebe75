"""`workspace_run_command`, in the foreground or in the background."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.action import Action, Execute
from steersman.errors import ToolProblem
from steersman.operations.processes import Processes, Running
from steersman.operations.quieting import note_for, quiet_environment
from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.workspace import Workspace

SHELL = ("bash", "--norc", "--noprofile", "-c")
FOREGROUND, BACKGROUND = 120.0, 1.0  # how long a command is waited for when nobody says
GRACE = 2.0

Launcher = Callable[[Sequence[str]], Sequence[str]]


class CommandResult(Struct, frozen=True, omit_defaults=True):
    """How a command ended, or goes on; `output` is its standard output and error together."""

    wall_ms: int
    output: str
    exit_code: int | None = None
    truncated: bool = False
    background_process_id: str = ""
    note: str = ""


class RunCommandArgs(Arguments, frozen=True):
    """What to run, where, and how long to wait for it."""

    command: Annotated[str, Meta(description="a bash command", min_length=1)]
    cwd: Annotated[str, Meta(description="folder, relative to the workspace")] = "."
    background: Annotated[bool, Meta(description="for servers and watchers")] = False
    wait_timeout: (
        Annotated[
            float,
            Meta(
                gt=0,
                le=3600,
                description="seconds to wait; then it goes on in the background (default 120)",
            ),
        ]
        | None
    ) = None
    kill_on_timeout: Annotated[bool, Meta(description="end it when that time is up")] = False


class RunCommand(Tool[RunCommandArgs]):
    """Run a bash command in the workspace. Standard input is closed.

    A command that takes longer than wait_timeout goes on in the background; read what it prints
    with workspace_read_command_output. What a command leaves running when it ends is ended too:
    start servers with background, not with &.
    """

    name = "workspace_run_command"
    family = Family.RUN
    Args = RunCommandArgs

    def __init__(
        self, environ: Mapping[str, str], processes: Processes, launcher: Launcher = list
    ) -> None:
        self._environ = quiet_environment(environ)
        self._processes = processes
        self._launcher = launcher

    def actions(self, args: RunCommandArgs, workspace: Workspace) -> Sequence[Action]:
        """Execute that command."""
        if "\0" in args.command:
            raise ToolProblem("A command must not hold a NUL character.")
        return [Execute(args.command, workspace.locate(args.cwd))]

    async def run(self, args: RunCommandArgs, bench: Bench) -> CommandResult:
        """Run it to its end, or for as long as it is waited for."""
        running = await self._processes.start(
            self._launcher([*SHELL, args.command]),
            bench.workspace.locate(args.cwd),
            self._environ,
            call=bench.call,
            command=args.command,
            progress=bench.progress,
        )
        notes = [note_for(args.command)]
        try:
            ended = await running.wait(args.wait_timeout or _patience(args))
            if not ended and args.kill_on_timeout:
                notes.append(f"ended after {running.seconds:.0f} seconds, its time limit")
                await _end(running)
            elif not ended:
                self._processes.adopt(running)
        finally:
            if not running.background:
                await running.end()
        return _result(running, notes)


def _patience(args: RunCommandArgs) -> float:
    return BACKGROUND if args.background else FOREGROUND


async def _end(running: Running) -> None:
    """End a command that may tidy up first."""
    running.signal("TERM")
    if not await running.wait(GRACE):
        await running.end()


def _result(running: Running, notes: list[str]) -> CommandResult:
    """What there is to say now; a command that goes on is not waited for."""
    output = running.output
    goes_on = not running.ended
    if goes_on:
        running.seen = output.size
        notes.append(
            f"goes on in the background as {running.id}; "
            "workspace_read_command_output waits for what it prints next"
        )
    elif output.truncated:
        notes.append(
            f"workspace_read_command_output reads any part of all {output.size:,} bytes: "
            f"process_id {running.id}"
        )
    if running.left:
        notes.append(f"{running.left} processes it left running were ended")
    return CommandResult(
        wall_ms=round(1000 * running.seconds),
        output=output.text(),
        exit_code=None if goes_on else running.state.exit_code,
        truncated=output.truncated,
        background_process_id=running.id if goes_on else "",
        note="; ".join(filter(None, notes)),
    )
