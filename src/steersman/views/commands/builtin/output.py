"""`/output`: all of what a call printed or the model thought, where only a part is shown."""

import asyncio

from steersman.records.errors import UsageProblem
from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.printed import opened, title
from steersman.views.story import Story
from steersman.views.text import ago, one_line


async def output(stage: Stage, arguments: str) -> None:
    """Open one by its words, or choose from a list."""
    blocks = {one.key: one for one in opened((await asyncio.to_thread(_story, stage)).blocks)}
    words = arguments.casefold().split()
    rows = [Row(key, title(one), ago(one.time) if one.time else "") for key, one in blocks.items()]
    rows = [row for row in rows if all(word in row.text.casefold() for word in words)]
    if not rows:
        about = f" with “{one_line(arguments, 40)}”" if words else ""
        raise UsageProblem(f"There is no output{about} in this thread.")
    chosen = rows[0].key if words else await stage.pick("Choose what to read", rows)
    if chosen in blocks:
        await stage.unfold(blocks[chosen])


def _story(stage: Stage) -> Story:
    story = Story()
    if stage.seat.id:
        for message in stage.seat.host.messages(stage.seat.id):
            story.feed(message)
    return story


COMMANDS = (
    Command(
        "output",
        "Read all of an output or a thought that is folded.",
        output,
        usage="[WORDS]",
        more="Without words, a list, the last first; with words, the last one that has them.",
        while_working=True,
    ),
)
