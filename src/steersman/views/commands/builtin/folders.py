"""`/add-dir`: another folder that the agent may read."""

import asyncio
import os

from msgspec.structs import replace

from steersman.records.errors import UsageProblem
from steersman.views.commands.builtin.work import files
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Stage

READS = (
    "It can list, search and read the files there; files with secrets stay hidden. It can write "
    "nothing there, because undo covers only the workspace. This holds until you leave."
)


async def add_dir(stage: Stage, arguments: str) -> None:
    """Let the agent read another folder."""
    seat, named = stage.seat, arguments.strip()
    if not named:
        there = ", ".join(seat.settings.add_dir)
        raise UsageProblem(
            "Name the folder to add.",
            f"Added so far: {there}." if there else "",
            "/add-dir PATH",
        )
    path = os.path.abspath(os.path.join(seat.folder, os.path.expanduser(named)))
    root = os.path.realpath(seat.folder)
    wanted = replace(seat.settings, add_dir=(*seat.settings.add_dir, path))
    changed = await asyncio.to_thread(seat.host.permissions.resolved, root, wanted)
    more = [folder for folder in changed.add_dir if folder not in seat.settings.add_dir]
    if not more:
        stage.tell(f"The agent can read {path} already.")
    elif await stage.confirm(f"Let the agent read {more[0]}?", READS):
        await seat.change(add_dir=changed.add_dir)
        stage.tell(f"The agent can read {more[0]}.")


def _folders(stage: Stage, begun: str) -> list[Choice]:
    return [one for one in files(stage, begun) if one.text.endswith("/")]


COMMANDS = (
    Command(
        "add-dir",
        "Let the agent read another folder.",
        add_dir,
        usage="PATH",
        more="It can write nothing there. `steer --add-dir PATH` does the same from the start.",
        complete=_folders,
        while_working=True,
    ),
)
