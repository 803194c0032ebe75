"""Opening the terminal application from the command line, and what is said when it has closed."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from steersman.ports.cli.options import folder_from, open_host, settings_from
from steersman.ports.tui.reader import plain_wanted
from steersman.records.errors import Exit
from steersman.records.settings import Settings


def open_terminal(flags: dict[str, Any]) -> int:
    """The conversation, full screen, or line by line where that is wanted."""
    if flags.get("plain") or plain_wanted(os.environ):
        from steersman.ports.tui.plain import main

        return main(flags, flags["resume"] or "", " ".join(flags.get("task") or ()))
    return asyncio.run(_run(flags, os.environ))


async def _run(flags: dict[str, Any], environ: Mapping[str, str]) -> int:
    from steersman.ports.tui.app import SteersmanApp
    from steersman.ports.tui.driver import Driver
    from steersman.ports.tui.first import Wanted, begin
    from steersman.views.seat import Seat

    async with open_host() as host:

        def settings_for(folder: str) -> Settings:
            return settings_from(flags, host.permissions.settings_file(folder))

        folder = folder_from(flags["workspace"])
        seat = Seat(host, folder, settings_for(folder), yes=flags["yes"])
        wanted = Wanted(resume=flags["resume"] or "", say=" ".join(flags.get("task") or ()))
        app = SteersmanApp(
            seat, environ, lambda stage: begin(stage, wanted, settings_for), driver=Driver
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, app.exit)
        try:
            await app.run_async()
        finally:
            last = seat.id
            with suppress(OSError):  # the terminal may be gone
                click.echo(f"Go on with: steer --resume {last}" if last else "", nl=bool(last))
        if app.defect is not None:
            raise app.defect
    return Exit.DONE
