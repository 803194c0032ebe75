"""Stopping background jobs: the user is asked first, and sees what each printed last.

They end with their thread, so whoever leaves it is asked as well.
"""

from collections.abc import Mapping

from steersman.records.escapes import without_escapes
from steersman.records.message import ToolResult
from steersman.views.commands.stage import Stage
from steersman.views.commands.words import fenced
from steersman.views.seat import Seat
from steersman.views.text import counted, one_line

OUTPUT = "workspace_read_command_output"
TAIL = 20_000  # bytes that are read
LAST = 5  # lines of a job that are shown with a question


async def agreed(stage: Stage) -> bool:
    """Whether to leave the thread; asked where that stops jobs."""
    jobs = stage.seat.jobs
    return not jobs or await stage.confirm(*await question(stage.seat, jobs))


async def question(seat: Seat, jobs: Mapping[str, str]) -> tuple[str, str]:
    """What is asked of someone who leaves, and what it is about."""
    return f"Leave and stop {counted(len(jobs), 'background job')}?", await last_words(seat, jobs)


async def last_words(seat: Seat, jobs: Mapping[str, str]) -> str:
    """Jobs, and under each what it printed last."""
    lines = []
    for name, command in jobs.items():
        last = (await printed(seat, name))[-LAST:]
        lines += [*job_lines({name: command}), *(f"    {one_line(line, 100)}" for line in last)]
    return fenced("\n".join(lines))


async def printed(seat: Seat, job: str) -> list[str]:
    """The last lines of what a job printed, without a first one that may be cut."""
    about = {"process_id": job, "offset": -TAIL, "limit": TAIL, "wait_timeout": 0}
    match (await seat.query(OUTPUT, about)).body:
        case ToolResult(output={"output": str(text), "offset": int(offset)}):
            lines = without_escapes(text).splitlines()[1 if offset else 0 :]
            return [line for line in lines if line.strip()]
    return []


def job_lines(jobs: Mapping[str, str]) -> list[str]:
    """Jobs by their names and commands, one a line."""
    return [f"{name}  {one_line(command, 70)}" for name, command in jobs.items()]
