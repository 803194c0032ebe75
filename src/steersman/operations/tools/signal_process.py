"""`workspace_signal_process`."""

from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.running.processes import ENDING, Processes, SignalName
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.errors import ToolProblem

GRACE = 2.0


class Signalled(Struct, frozen=True, omit_defaults=True):
    """How a process was after the signal; one that should end was given a moment for it."""

    success: bool
    process_id: str
    signal: SignalName
    state: str
    exit_code: int | None = None
    error: str = ""


class SignalProcessArgs(Arguments, frozen=True):
    """Which process, which signal."""

    process_id: Annotated[str, Meta(description="as workspace_run_command gave it, such as p1")]
    signal: SignalName


class SignalProcess(Tool[SignalProcessArgs]):
    """Send a signal to a running command and all it started.

    HUP, USR1 and USR2 go to those that handle them, if any does. KILL always ends everything.
    """

    name = "workspace_signal_process"
    family = Family.RUN
    Args = SignalProcessArgs

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    async def plan(
        self, args: SignalProcessArgs, workspace: PlanningWorkspace
    ) -> Plan[SignalProcessArgs]:
        """None: only what this thread started can be reached."""
        return Plan(args)

    async def perform(self, plan: Plan[SignalProcessArgs], bench: Bench) -> Signalled:
        """Send it, and see what comes of it."""
        args = plan.args
        running = self._processes.get(args.process_id)
        if running.state.exit_code is not None:
            raise ToolProblem(
                f"{running.id} has ended: {running.state}.",
                try_this="Its output can still be read with workspace_read_command_output.",
            )
        running.signal(args.signal)
        ended = args.signal in ENDING and await running.wait(GRACE)
        still = args.signal in ENDING and not ended
        return Signalled(
            success=not still,
            process_id=running.id,
            signal=args.signal,
            state=str(running.state),
            exit_code=running.state.exit_code,
            error=f"still running {GRACE:g} seconds later; KILL ends it" if still else "",
        )
