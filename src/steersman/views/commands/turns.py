"""Turns that a command begins: with other settings than the person's, and back to theirs after."""

from typing import Any

from steersman.records.errors import SteersmanError
from steersman.views.commands.stage import Stage


async def change(stage: Stage, **settings: Any) -> None:
    """Go on with other settings, and let the stage follow the thread that was opened anew."""
    seat = stage.seat
    if all(getattr(seat.settings, name) == value for name, value in settings.items()):
        return
    try:
        await seat.change(**settings)
    finally:
        await stage.moved()


async def in_one_turn(stage: Stage, prompt: str, **settings: Any) -> None:
    """Say something with other settings, wait for the end, and go back to those before."""
    seat = stage.seat
    before = {name: getattr(seat.settings, name) for name in settings}
    await change(stage, **settings)
    thread = ""
    try:
        await stage.say(prompt)
        thread = seat.id
        await seat.host.wait(thread)
    finally:
        # Somebody who went elsewhere meanwhile, or chose otherwise, is left in peace.
        same = all(getattr(seat.settings, name) == value for name, value in settings.items())
        if same and seat.id == thread and seat.doing != "working":
            await _back(stage, before)


async def _back(stage: Stage, before: dict[str, Any]) -> None:
    try:
        await change(stage, **before)
    except SteersmanError as problem:
        stage.tell(f"The settings from before could not be taken up again. {problem}")
