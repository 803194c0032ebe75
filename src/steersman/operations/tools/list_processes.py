"""`workspace_list_processes`."""

from msgspec import Struct

from steersman.operations.running.processes import Processes, Running
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.exits import exit_words

SHOWN = 200


class ProcessEntry(Struct, frozen=True, omit_defaults=True):
    """One process; `seconds` is how long it has been running, or ran.

    `success` unless it ended with an `error`.
    """

    success: bool
    process_id: str
    command: str
    state: str
    seconds: float
    bytes: int
    pid: int
    background: bool
    exit_code: int | None = None
    error: str = ""


class ProcessList(Struct, frozen=True):
    """Processes in the order they were started."""

    success: bool
    processes: list[ProcessEntry]


class ListProcessesArgs(Arguments, frozen=True):
    """Nothing to say."""


class ListProcesses(Tool[ListProcessesArgs]):
    """List the commands that run and those that ended last: state, age, bytes printed."""

    name = "workspace_list_processes"
    family = Family.READ
    Args = ListProcessesArgs

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    async def plan(
        self, args: ListProcessesArgs, workspace: PlanningWorkspace
    ) -> Plan[ListProcessesArgs]:
        """None: the commands were judged when they were started."""
        return Plan(args)

    async def perform(self, plan: Plan[ListProcessesArgs], bench: Bench) -> ProcessList:
        """List them."""
        return ProcessList(True, [_entry(running) for running in self._processes.listing()])


def _entry(running: Running) -> ProcessEntry:
    command, code = running.command, running.state.exit_code
    return ProcessEntry(
        success=not code,
        process_id=running.id,
        command=command if len(command) <= SHOWN else f"{command[:SHOWN]}…",
        state=str(running.state),
        seconds=round(running.seconds, 1),
        bytes=running.output.size,
        pid=running.pid,
        background=running.background,
        exit_code=code,
        error=exit_words(code) if code else "",
    )
