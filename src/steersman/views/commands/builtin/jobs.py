"""`/jobs`: the commands that run in the background of this thread, and stopping one."""

from typing import Any

from steersman.records.errors import UsageProblem
from steersman.records.message import ToolResult
from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.text import lasting, one_line

LIST, SIGNAL = "workspace_list_processes", "workspace_signal_process"


async def jobs(stage: Stage, arguments: str) -> None:
    """List them and stop the one that is chosen, or stop one by its name."""
    match arguments.split():
        case []:
            await _choose(stage)
        case ["stop", name]:
            await _stop(stage, name)
        case _:
            raise UsageProblem(
                "/jobs takes nothing, or stop and the name of a job.", try_this="Say /jobs."
            )


async def _choose(stage: Stage) -> None:
    found = await _running(stage)
    if not found:
        stage.tell("No background jobs are running in this thread.")
        return
    rows = [
        Row(
            str(one["process_id"]),
            f"{one['process_id']}  {one_line(str(one['command']), 60)}",
            f"running for {lasting(int(one['seconds']))}",
        )
        for one in found
    ]
    chosen = await stage.pick("Background jobs: Enter stops one, Esc goes back", rows)
    if chosen:
        await _stop(stage, chosen)


async def _running(stage: Stage) -> list[dict[str, Any]]:
    if stage.seat.thread is None:
        return []
    match (await stage.seat.query(LIST, {})).body:
        case ToolResult(output={"processes": list(listed)}):
            return [one for one in listed if one["background"] and one["state"] == "running"]
    return []


async def _stop(stage: Stage, name: str) -> None:
    match (await stage.seat.call(SIGNAL, {"process_id": name, "signal": "TERM"})).body:
        case ToolResult(status="ok", output={"state": str(state)}) if state != "running":
            stage.tell(f"{name} is stopped.")
        case ToolResult(status="ok"):
            stage.tell(f"{name} was asked to stop and is still running.")
        case ToolResult(message=message):
            stage.tell(message)


COMMANDS = (
    Command(
        "jobs",
        "Background commands of this thread; stop one.",
        jobs,
        usage="[stop NAME]",
        while_working=True,
    ),
)
