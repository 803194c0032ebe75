"""Turns that a command begins: with other settings than the user's, and back to theirs after."""

from steersman.records.errors import SteersmanError
from steersman.records.settings import Value
from steersman.views.commands.stage import Stage


async def change(stage: Stage, **settings: Value) -> None:
    """Continue with other settings, from the next model call on."""
    seat = stage.seat
    if any(getattr(seat.settings, name) != value for name, value in settings.items()):
        await seat.change(**settings)


async def in_one_turn(stage: Stage, prompt: str, **settings: Value) -> None:
    """Say something with other settings, wait for the end, and go back to those before."""
    seat = stage.seat
    before = {name: getattr(seat.settings, name) for name in settings}
    await change(stage, **settings)
    thread = ""
    try:
        await stage.say(prompt)
        thread = seat.id
        await seat.handle.wait()
    finally:
        # Someone who went elsewhere meanwhile, or chose otherwise, is left in peace.
        same = all(getattr(seat.settings, name) == value for name, value in settings.items())
        if same and seat.id == thread:
            await _back(stage, before)


async def _back(stage: Stage, before: dict[str, Value]) -> None:
    try:
        await change(stage, **before)
    except SteersmanError as problem:
        what = f"The previous settings could not be restored. {problem.facts}"
        stage.tell(what, problem.try_this)
