"""Opening the terminal application from the command line, and what is said when it has closed."""

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from steersman.host import Host
from steersman.ports.cli.options import folder_from, folders_from, open_host, settings_from
from steersman.ports.tui.reader import plain_wanted
from steersman.ports.tui.wanted import Wanted
from steersman.records.errors import Exit, UsageProblem
from steersman.records.settings import Settings


def open_terminal(flags: dict[str, Any]) -> int:
    """The conversation, full screen, or line by line where that is wanted."""
    if flags.get("plain") or plain_wanted(os.environ):
        from steersman.ports.tui.plain import main

        return main(flags, _wanted(flags))
    return asyncio.run(_run(flags, os.environ))


async def _run(flags: dict[str, Any], environ: Mapping[str, str]) -> int:
    from steersman.ports.tui.app import SteersmanApp
    from steersman.ports.tui.driver import Driver
    from steersman.ports.tui.first import begin
    from steersman.views.parting import rest
    from steersman.views.seat import Seat

    async with open_host() as host:

        def settings_for(folder: str) -> Settings:
            return settings_from(flags, host.permissions.settings_file(folder), attended=True)

        folder = folder_from(flags["workspace"])
        seat = Seat(host, folder, settings_for(folder), given=given(flags), yes=flags["yes"])
        wanted = _wanted(flags)
        app = SteersmanApp(
            seat, environ, lambda stage: begin(stage, wanted, settings_for), driver=Driver
        )
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, app.exit)
        loop.add_signal_handler(signal.SIGHUP, app.hang_up)
        left = None
        try:
            left = await app.run_async()
        finally:
            if seat.id:
                detached = left == "detached"
                jobs = {} if detached else seat.jobs
                width = shutil.get_terminal_size().columns
                lines = [] if detached else await rest(seat, app.follower.story, width)
                here = _is_here(seat.folder)
                lines.append(parting(seat.id, detached=detached, jobs=jobs, here=here))
                with suppress(OSError):  # the terminal may be gone
                    click.echo("\n".join(lines))
        if app.defect is not None:
            raise app.defect
        if left == "detached":
            await stay(host)
    return Exit.DONE


def _wanted(flags: Mapping[str, Any]) -> Wanted:
    say = " ".join(flags.get("task") or ())
    return Wanted(resume=flags["resume"] or "", say=say, choose=bool(flags.get("choose")))


def given(flags: Mapping[str, Any]) -> list[str]:
    """The settings that were named on the command line."""
    return [name for name, value in flags.items() if value is not None]


def _is_here(folder: str) -> bool:
    """Whether `steer -c` means a folder where the shell is."""
    try:
        return folder in folders_from(None)
    except UsageProblem:  # the shell's folder is gone
        return False


def parting(
    thread: str, *, detached: bool, jobs: Mapping[str, str] | None = None, here: bool = True
) -> str:
    """What is said when the application has closed; `jobs` end with it.

    `here`: the thread is of the folder that the shell is in.
    """
    if detached:
        return f"The turn continues in the background. Come back with: steer attach {thread}"
    last = "steer -c, or from anywhere: " if here else ""
    lines = [f"Continue with: {last}steer --resume {thread}"]
    if jobs:
        from steersman.views.leaving import job_lines

        lines[:0] = ["Stopped in the background:", *job_lines(jobs)]
    return "\n".join(lines)


async def stay(host: Host) -> None:
    """Continue without a terminal until what was begun is done."""
    from steersman.ports.cli.leaving import linger

    asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    await linger(host)
