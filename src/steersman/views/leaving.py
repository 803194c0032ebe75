"""Leaving a thread that has background jobs: they end with it, so the user is asked first."""

from collections.abc import Mapping

from steersman.views.commands.stage import Stage
from steersman.views.commands.words import fenced
from steersman.views.text import counted, one_line


async def agreed(stage: Stage) -> bool:
    """Whether to leave the thread; asked where that stops jobs."""
    jobs = stage.seat.jobs
    return not jobs or await stage.confirm(*question(jobs))


def question(jobs: Mapping[str, str]) -> tuple[str, str]:
    """What is asked, and what it is about."""
    title = f"Leave and stop {counted(len(jobs), 'background job')}?"
    return title, fenced("\n".join(job_lines(jobs)))


def job_lines(jobs: Mapping[str, str]) -> list[str]:
    """Jobs by their names and commands, one a line."""
    return [f"{name}  {one_line(command, 70)}" for name, command in jobs.items()]
