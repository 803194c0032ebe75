"""`/memory`: the instruction files that the model gets; `# text` adds a line to one of them."""

import asyncio

from steersman.host import memory as files
from steersman.records.errors import UsageProblem
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.text import one_line

LATER = "Threads that you open from now on use it."


async def memory(stage: Stage, arguments: str) -> None:
    """Change an instruction file, or add a line to one."""
    verb, _, line = arguments.partition(" ")
    if verb not in ("", "add") or (verb and not line.strip()):
        raise UsageProblem("/memory takes nothing, or add and a text.", try_this="/memory add TEXT")
    path = await _chosen(stage, "Add this line to which file?" if verb else "Instruction files")
    if not path:
        if verb:
            stage.compose(f"# {line.strip()}")
    elif verb:
        await asyncio.to_thread(files.add, path, " ".join(line.split()))
        stage.tell(f"Added to {path}. {LATER}")
    else:
        await _edited(stage, path)


async def _chosen(stage: Stage, title: str) -> str | None:
    found, notes = await asyncio.to_thread(files.found, stage.seat.folder, stage.environ)
    for note in notes:
        stage.tell(note)
    rows = [Row(one.path, one.name, one.about if one.used else f"new, {one.about}")
            for one in found]  # fmt: skip
    return await stage.pick(title, rows)


async def _edited(stage: Stage, path: str) -> None:
    before = await asyncio.to_thread(files.read, path)
    after = await stage.edit(one_line(path, 200), before)
    if after is None or after.rstrip("\n") == before.rstrip("\n"):
        stage.tell(f"{path} is as it was.")
        return
    await asyncio.to_thread(files.write, path, before, after)
    stage.tell(f"Wrote {path}. {LATER}")


COMMANDS = (
    Command(
        "memory",
        "Show and change the instruction files that the model gets.",
        memory,
        usage="[add TEXT]",
        more="A message that is one line and begins with `# ` adds that line to one of them.",
        complete=lambda _, __: [Choice("add ", "add a line to one of them")],
        while_working=True,
    ),
)
