"""`open_terminal`, for ports that can show one."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.running.command_result import CommandResult
from steersman.operations.running.terminal import Cells, Size
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.run_command import Given, RunCommand, RunCommandArgs
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import Execute
from steersman.records.errors import ToolProblem


class OpenTerminalArgs(Arguments, frozen=True):
    """What to run, where, and how large the terminal is."""

    command: Annotated[str, Meta(description="a bash command; your shell when it is empty")] = ""
    cwd: Annotated[str, Meta(description="folder, relative to the workspace")] = "."
    columns: Cells = 80
    rows: Cells = 24


class OpenedTerminal(Struct, frozen=True, omit_defaults=True):
    """A program in a terminal, by its name among the thread's processes."""

    process_id: str
    command: str
    note: str = ""


class OpenTerminal(Tool[OpenTerminalArgs]):
    """Run a program in a terminal of its own, where you can type."""

    name = "open_terminal"
    family = Family.RUN
    Args = OpenTerminalArgs
    offered = False

    def __init__(self, runner: "TerminalRunner") -> None:
        self._runner = runner

    async def plan(
        self, args: OpenTerminalArgs, workspace: PlanningWorkspace
    ) -> Plan[OpenTerminalArgs]:
        """Execute the program; what is typed into it is not judged, only confined."""
        if "\0" in args.command:
            raise ToolProblem("A command must not contain a NUL character.")
        return Plan(args, [await asyncio.to_thread(self._runner.judged, args, workspace)])

    async def perform(self, plan: Plan[OpenTerminalArgs], bench: Bench) -> OpenedTerminal:
        """Start it; it continues like a command in the background."""
        return await self._runner.open(plan.args, bench)


class TerminalRunner(RunCommand):
    """Runs programs in terminals, confined, journaled and ended like other commands."""

    def judged(self, args: OpenTerminalArgs, workspace: Workspace) -> Execute:
        """What the gate is asked."""
        return self._wanted(self._command(args), workspace)

    async def open(self, args: OpenTerminalArgs, bench: Bench) -> OpenedTerminal:
        """Start a program in a terminal."""
        command, size = self._command(args), Size(args.columns, args.rows)
        ran = await self._run(command, bench, Given(last=True), size=size)
        assert isinstance(ran, CommandResult), "it asks for no more"
        return OpenedTerminal(ran.background_process_id, command.command, ran.note)

    def _command(self, args: OpenTerminalArgs) -> RunCommandArgs:
        """What runs; where nothing is named, the shell of whoever started the host."""
        command = args.command or self._environ.get("SHELL") or "bash"
        return RunCommandArgs(command, args.cwd, background=True)
