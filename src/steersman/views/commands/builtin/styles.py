"""`/style`: how the model words its answers."""

import asyncio
from difflib import get_close_matches

from steersman.host import styles
from steersman.records.errors import UsageProblem
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.commands.turns import change
from steersman.views.text import one_line


def _known(stage: Stage) -> dict[str, str]:
    return styles.find(stage.seat.host, stage.seat.folder, stage.environ)


async def style(stage: Stage, arguments: str) -> None:
    """Answer in another style, from the next model call on."""
    known = await asyncio.to_thread(_known, stage)
    now = stage.seat.settings.output_style
    wanted: str | None = arguments.strip().lower()
    if not wanted:
        rows = [Row.value(name, about, now=name == now) for name, about in known.items()]
        wanted = await stage.pick("Output style", rows)
    if not wanted:
        return
    if wanted not in known:
        near = get_close_matches(wanted, known, n=1)
        raise UsageProblem(
            f"There is no output style “{one_line(wanted, 40)}”.",
            f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}.",
        )
    await change(stage, output_style=wanted)
    stage.tell(f"The output style is {wanted}.")


COMMANDS = (
    Command(
        "style",
        "How the model words its answers.",
        style,
        usage="[NAME]",
        more="Without a name, a list. Styles are Markdown files: see `steer docs settings`.",
        complete=lambda stage, _: [Choice(name, about) for name, about in _known(stage).items()],
        while_working=True,
    ),
)
