"""`/ask`, `/plan`, `/spec`, `/code`, `/debug`: what the agent may do from now on."""

from collections.abc import Awaitable, Callable

from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Stage
from steersman.views.commands.turns import change

ABOUT = {
    "ask": "Only read and answer: no changes, no commands.",
    "plan": "Research and write a plan; nothing else changes.",
    "spec": "Write requirements, design and tasks below docs/specs.",
    "code": "Do the work: edit and run, as far as you allow it.",
    "debug": "Look for a cause; every change is a proposal.",
}
MORE = "Text after it is sent at once in that mode."


async def next_mode(stage: Stage) -> None:
    """Switch to the mode after the current one; after the last comes the first."""
    modes = list(ABOUT)
    await change(stage, mode=modes[(modes.index(stage.seat.settings.mode) + 1) % len(modes)])


def _switch(mode: str) -> Callable[[Stage, str], Awaitable[None]]:
    async def run(stage: Stage, arguments: str) -> None:
        if stage.seat.settings.mode == mode and not arguments:
            stage.tell(f"The mode is {mode} already.")
            return
        await change(stage, mode=mode)
        stage.tell(f"Mode {mode}: {ABOUT[mode][0].lower()}{ABOUT[mode][1:]}")
        if arguments:
            await stage.say(arguments)

    return run


COMMANDS = tuple(
    Command(
        mode, f"Mode {mode}. {about}", _switch(mode), usage="[TASK]", more=MORE, while_working=True
    )
    for mode, about in ABOUT.items()
)
