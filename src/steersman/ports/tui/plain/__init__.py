"""`steer --plain`: the conversation line by line, for dumb terminals, pipes and screen readers.

No line is ever drawn over and nothing moves. What is shown comes from the log, as `steer run`
prints it; commands are the same as in the full-screen application.
"""

import asyncio
import os
from typing import Any

import click

from steersman.ports.cli.options import folder_from, open_host, settings_from
from steersman.ports.cli.prompts import consent
from steersman.ports.tui.opening import given, stay
from steersman.ports.tui.plain.conversation import Plain
from steersman.ports.tui.plain.lines import Lines
from steersman.ports.tui.wanted import Wanted
from steersman.records.errors import Exit
from steersman.views.seat import Seat


def main(flags: dict[str, Any], wanted: Wanted) -> Exit:
    """Hold a conversation."""
    with click.Context(click.Command("steer"), color=False):
        return asyncio.run(_converse(flags, wanted))


async def _converse(flags: dict[str, Any], wanted: Wanted) -> Exit:
    lines, resume = Lines(), wanted.resume
    async with open_host() as host:
        folder = host.find(resume).workspace if resume else folder_from(flags.get("workspace"))
        await consent(host, folder, attended=lines.interactive)
        own = host.permissions.settings_file(folder)
        settings = settings_from(flags, own, attended=lines.interactive)
        seat = Seat(
            host,
            folder,
            settings,
            given=given(flags),
            attended=lines.interactive,
            yes=bool(flags.get("yes")),
        )
        plain = Plain(seat, lines, os.environ)
        done = await plain.run(wanted)
        if plain.detached:
            await stay(host)
        return done
