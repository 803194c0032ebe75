"""`/config`: settings, where each comes from, and changing one."""

import asyncio
from typing import TYPE_CHECKING

from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.commands.turns import change

if TYPE_CHECKING:
    from steersman.host.config import Entry

NOW = ("model", "mode", "trust", "approvals")  # what holds in this conversation at once


async def config(stage: Stage, arguments: str) -> None:
    """Show the settings, and set one."""
    from steersman.host import config as settings

    name, _, value = arguments.strip().partition(" ")
    chosen: str | None = name
    if not chosen:
        found = await asyncio.to_thread(settings.entries, stage.seat.folder, stage.environ)
        rows = [Row(one.name, one.name, f"{settings.shown(one.value)}  ({_place(one)})")
                for one in found]  # fmt: skip
        chosen = await stage.pick("Settings: choose one to change", rows)
        if not chosen:
            return
    said: str | None = value.strip()
    if not said:
        present = await asyncio.to_thread(settings.entry, chosen, stage.seat.folder, stage.environ)
        shown = settings.shown(present.value)
        said = await stage.ask(f"{chosen} is {shown} ({_place(present)}). New value")
        if not said:
            return
    done = await asyncio.to_thread(settings.change, chosen, said, stage.seat.folder, stage.environ)
    if done.name in NOW and not done.hidden_by:
        await change(stage, **{done.name: str(done.value)})
    later = "" if done.name in NOW else " It holds for what starts from now on."
    stage.tell(f"{done.name} = {settings.shown(done.value)}, in {done.path}.{later}")
    if done.hidden_by:
        stage.tell(f"{done.hidden_by} also sets it, and is used instead.")


def _place(one: "Entry") -> str:
    return f"{one.source}, {one.where}" if one.where else one.source


def _names(_: Stage, said: str) -> list[Choice]:
    from steersman.host.config import VALUES

    return [] if " " in said else [Choice(name) for name in VALUES]


COMMANDS = (
    Command(
        "config",
        "Show and change settings.",
        config,
        usage="[NAME [VALUE]]",
        more="Each value is shown with where it comes from; a change goes into your config.toml.",
        complete=_names,
        while_working=True,
    ),
)
