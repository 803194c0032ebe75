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


CYCLE = ("code", "plan", "ask", "debug", "spec")  # one key from the work to planning it


async def next_mode(stage: Stage) -> str:
    """Switch to the mode after the current one, and say which; after the last comes the first."""
    mode = CYCLE[(CYCLE.index(stage.seat.settings.mode) + 1) % len(CYCLE)]
    await change(stage, mode=mode)
    return _told(mode)


def _told(mode: str) -> str:
    return f"Mode {mode}: {ABOUT[mode][0].lower()}{ABOUT[mode][1:]}"


def _switch(mode: str) -> Callable[[Stage, str], Awaitable[None]]:
    async def run(stage: Stage, arguments: str) -> None:
        if stage.seat.settings.mode == mode and not arguments:
            stage.tell(f"The mode is {mode} already.")
            return
        await change(stage, mode=mode)
        stage.tell(_told(mode))
        if arguments:
            await stage.say(arguments)

    return run


COMMANDS = tuple(
    Command(
        mode, f"Mode {mode}. {about}", _switch(mode), usage="[TASK]", more=MORE, while_working=True
    )
    for mode, about in ABOUT.items()
)
