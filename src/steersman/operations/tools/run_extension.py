"""A tool of one file: each call is a command of its thread, confined, journaled and ended.

The text that was read when the thread was opened is what runs, whatever the file says by now.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from steersman.operations.extensions import ANSWER, LINE, answer, problems, request, silence
from steersman.operations.running.command_result import CommandResult
from steersman.operations.tool import Arguments, Bench, Family, Malformed, Plan, Tool
from steersman.operations.tools.run_command import RunCommandArgs
from steersman.operations.tools.talking import Talking
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Action, Execute, Network
from steersman.records.dialogue import Call, ToolSpec
from steersman.records.errors import ToolProblem
from steersman.records.extensions import Extension, ToolFile
from steersman.systems import Permit

MOST = 60_000  # characters of an answer that a model gets


class Said(Struct, frozen=True, omit_defaults=True):
    """What a tool returned, what it printed meanwhile, and what it changed."""

    content: Any
    printed: str = ""
    changes: list[str] = []
    cut: str = ""
    note: str = ""


class ExtensionArgs(Arguments, frozen=True):
    """Whatever the tool's own schema asks for; its process checks it."""

    arguments: dict[str, Any] = field(default_factory=dict)


class RunExtension(Tool[ExtensionArgs]):
    """A tool of one file."""

    family = Family.RUN
    Args = ExtensionArgs

    def __init__(self, tool: Extension, file: ToolFile, runner: Talking) -> None:
        self.name = tool.name
        self._tool = tool
        self._file = file
        self._runner = runner

    @property
    def writes(self) -> bool:
        """Whether it says that it changes files."""
        return self._tool.files == "write"

    def spec(self) -> ToolSpec:
        """The tool as a model sees it."""
        return spec(self._tool)

    def parse(self, call: Call) -> ExtensionArgs:
        """The arguments as they are."""
        if call.malformed is not None:
            return super().parse(call)
        return ExtensionArgs(call.arguments)

    async def plan(self, args: ExtensionArgs, workspace: PlanningWorkspace) -> Plan[ExtensionArgs]:
        """A command in the workspace."""
        return Plan(args, [Execute(self._command, workspace.root)])

    async def perform(self, plan: Plan[ExtensionArgs], bench: Bench) -> Said:
        """Run it with no more than it says that it needs."""
        timeout = self._tool.timeout
        args = RunCommandArgs(self._command, wait_timeout=timeout, kill_on_timeout=True)
        said = request(self._file, call=plan.args.arguments)
        ran, printed = await self._runner.talk(args, self._narrowed(bench), said, ANSWER)
        reply = answer(printed)
        if reply is None or not reply.keys() & {"output", "malformed", "problems"}:
            late = timeout if ran.wall_ms >= 1000 * timeout else 0
            why = silence(ran.exit_code, late, ran.output)
            raise ToolProblem(f"{self.name} gave no answer: {why}", _changed(ran))
        if "malformed" in reply:
            fields = ", ".join(self._tool.parameters.get("properties", {}))
            raise Malformed(
                f"The arguments of {self.name} are not valid: {str(reply['malformed'])[:500]}.",
                f"It takes: {fields or 'no arguments'}.",
                "Send the call again with valid arguments.",
            )
        if wrong := problems(reply):
            told = "\n".join(filter(None, (*wrong, _changed(ran))))
            raise ToolProblem(f"{self.name} failed.", told)
        return _said(reply["output"], ran)

    @property
    def _command(self) -> str:
        return shlex.join([*LINE, self.name])

    def _narrowed(self, bench: Bench) -> Bench:
        """The bench with as much of the gate's permission as the tool says that it needs."""
        tool, profile = self._tool, bench.profile
        if not profile.sandbox:
            return bench
        profile = replace(
            profile,
            files=profile.files if self.writes else "read",
            network=profile.network if tool.hosts else "none",
        )

        async def admit(actions: Sequence[Action]) -> Permit:
            for action in actions:
                if isinstance(action, Network) and not _named(action, tool.hosts):
                    raise ToolProblem(f"{self.name} does not name {action.host} among its hosts.")
            return await bench.admit(actions)

        return replace(bench, profile=profile, admit=admit)


def spec(tool: Extension) -> ToolSpec:
    """A tool of one file as a model sees it."""
    family = Family.RUN if tool.hosts or tool.files == "write" else Family.READ
    return ToolSpec(tool.name, tool.description, dict(tool.parameters), family.value[0])


def _named(action: Network, hosts: Sequence[str]) -> bool:
    return action.host in hosts or f"{action.host}:{action.port}" in hosts


def _changed(ran: CommandResult) -> str:
    return f"It had changed: {', '.join(ran.changes)}." if ran.changes else ""


def _said(content: Any, ran: CommandResult) -> Said:
    text = msgspec.json.encode(content).decode()
    left = len(text) - MOST
    said: Mapping[str, Any] = {"content": content}
    if left > 0:
        said = {"content": text[:MOST], "cut": f"{left:,} characters are left out"}
    return Said(**said, printed=ran.output, changes=ran.changes, note=ran.note)
