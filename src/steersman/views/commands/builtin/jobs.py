"""`/jobs`: the background commands of this thread, what they print, and stopping one."""

from typing import Any

from steersman.records.errors import UsageProblem
from steersman.records.message import ToolResult
from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Deed, Row, Stage
from steersman.views.commands.words import fenced
from steersman.views.leaving import last_words, printed
from steersman.views.text import lasting, one_line

LIST, SIGNAL = "workspace_list_processes", "workspace_signal_process"
CLOSE, STOP = Deed("c", "close"), Deed("s", "stop it")


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
    rows = [_row(one, await printed(stage.seat, str(one["process_id"]))) for one in found]
    chosen = await stage.pick("Background jobs: choose one to see its output", rows)
    job = next((one for one in found if str(one["process_id"]) == chosen), None)
    if job is None:
        return
    name, command = str(job["process_id"]), str(job["command"])
    text = "\n".join(await printed(stage.seat, name)) or "(no output yet)"
    title = f"{name}  {one_line(command, 60)}"
    if await stage.read(title, fenced(text), (CLOSE, STOP)) != STOP.key:
        return
    if await stage.confirm(
        f"Stop {_named(name, command)}?", await last_words(stage.seat, {name: command})
    ):
        await _stop(stage, name)


def _row(job: dict[str, Any], printed: list[str]) -> Row:
    """A job as a line to choose: how long it runs, and the last line that it printed."""
    last = f" · {one_line(printed[-1], 60)}" if printed else ""
    command = f"{job['process_id']}  {one_line(str(job['command']), 60)}"
    return Row(str(job["process_id"]), command, f"{lasting(int(job['seconds']))}{last}")


async def _running(stage: Stage) -> list[dict[str, Any]]:
    if stage.seat.thread is None:
        return []
    match (await stage.seat.query(LIST, {})).body:
        case ToolResult(output={"processes": list(listed)}):
            return [one for one in listed if one["background"] and one["state"] == "running"]
    return []


def _named(name: str, command: str) -> str:
    """A job by its name, with the command that it is, where that is known."""
    return f"{name} ({one_line(command, 60)})" if command else name


async def _stop(stage: Stage, name: str) -> None:
    named = _named(name, stage.seat.jobs.get(name, ""))
    match (await stage.seat.call(SIGNAL, {"process_id": name, "signal": "TERM"})).body:
        case ToolResult(status="ok", output={"state": str(state)}) if state != "running":
            stage.tell(f"{named} is stopped.")
        case ToolResult(status="ok"):
            stage.tell(f"{named} was asked to stop and is still running.")
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
