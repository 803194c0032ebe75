"""`/jobs`: the background commands of this thread, what they print, and stopping one."""

from typing import Any

from steersman.records.errors import UsageProblem
from steersman.records.escapes import without_escapes
from steersman.records.message import ToolResult
from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Deed, Row, Stage
from steersman.views.commands.words import fenced
from steersman.views.text import lasting, one_line

LIST, SIGNAL = "workspace_list_processes", "workspace_signal_process"
OUTPUT = "workspace_read_command_output"
TAIL = 20_000  # bytes that are read
STOP = Deed("s", "stop it")


async def jobs(stage: Stage, arguments: str) -> None:
    """List them and show what one printed, or stop one by its name."""
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
    printed = {str(one["process_id"]): await _printed(stage, one) for one in found}
    rows = [_row(one, printed[str(one["process_id"])]) for one in found]
    chosen = await stage.pick("Background jobs: choose one to see its output", rows)
    job = next((one for one in found if str(one["process_id"]) == chosen), None)
    if job is None:
        return
    text = "\n".join(await _printed(stage, job)) or "(no output yet)"
    title = f"{job['process_id']}  {one_line(str(job['command']), 60)}"
    if await stage.read(title, fenced(text), (STOP,)) != STOP.key:
        return
    if await stage.confirm(f"Stop {job['process_id']}?", fenced(str(job["command"]))):
        await _stop(stage, str(job["process_id"]))


def _row(job: dict[str, Any], printed: list[str]) -> Row:
    """A job as a line to choose: how long it runs, and the last line that it printed."""
    last = f" · {one_line(printed[-1], 60)}" if printed else ""
    command = f"{job['process_id']}  {one_line(str(job['command']), 60)}"
    return Row(str(job["process_id"]), command, f"{lasting(int(job['seconds']))}{last}")


async def _printed(stage: Stage, job: dict[str, Any]) -> list[str]:
    """The last lines of what a job printed, without a first one that may be cut."""
    about = {"process_id": job["process_id"], "offset": -TAIL, "limit": TAIL, "wait_timeout": 0}
    match (await stage.seat.query(OUTPUT, about)).body:
        case ToolResult(output={"output": str(text), "offset": int(offset)}):
            lines = without_escapes(text).splitlines()[1 if offset else 0 :]
            return [line for line in lines if line.strip()]
    return []


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
        "Background commands of this thread: their output; stop one.",
        jobs,
        usage="[stop NAME]",
        while_working=True,
    ),
)
