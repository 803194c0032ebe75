"""What comes first: whether the folder is trusted, whether there is a model, and which thread."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from steersman.host import models
from steersman.ports.tui.staging import AppStage
from steersman.records.errors import SteersmanError
from steersman.records.settings import Settings
from steersman.views.commands.stage import Row

NO_MODEL = """\
Steersman uses a model that you choose. None is set, and none was found on this machine.

- With a key: set `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`; start again.
- On this machine: start Ollama, llama.cpp, vLLM or LM Studio.
- Any other: `steer --model provider:name`, or `model = "provider:name"` in `config.toml`.
- Only to look: `steer demo` needs no model.

`steer doctor` shows what was found and what is missing.
"""


class Wanted(Struct, frozen=True):
    """What a person asked for on the command line."""

    resume: str = ""
    say: str = ""


async def begin(stage: AppStage, wanted: Wanted, settings_for: Callable[[str], Settings]) -> None:
    """Ask what must be asked, then sit down."""
    seat = stage.seat
    try:
        if not wanted.resume:
            await _settle(stage, settings_for)
        else:
            async with seat.on_the_way():
                seat.folder = seat.host.find(wanted.resume).workspace
                await _settle(stage, settings_for)
                await seat.take(wanted.resume)
    except SteersmanError as problem:
        stage.tell(str(problem))
    await stage.moved()
    if seat.here or not seat.id:
        await _think(stage)
    if wanted.say:
        await stage.say(wanted.say)


async def _settle(stage: AppStage, settings_for: Callable[[str], Settings]) -> None:
    if await _trusted(stage):
        stage.seat.settings = settings_for(stage.seat.folder)


async def _trusted(stage: AppStage) -> bool:
    """Ask about what the folder comes with; True when its own settings may be read from now on."""
    permissions, folder = stage.seat.host.permissions, stage.seat.folder
    standing = permissions.folder(folder)
    if standing.state not in ("unknown", "changed"):
        return False
    told = standing.sentence(folder).removesuffix(" None of it is used.")
    answer = await stage.trust(told, [(found.path, found.what) for found in standing.found])
    if answer is not None:
        permissions.trust(folder, standing, trusted=answer)
    return bool(answer)


async def _think(stage: AppStage) -> None:
    """Without a model, offer those that were found, or say what to do."""
    seat = stage.seat
    if models.chosen(seat.settings, stage.environ):
        return  # one that cannot be reached is reported when it is used
    found = await asyncio.to_thread(models.found, stage.environ)
    rows = [Row(one.name, one.name, one.about) for one in found]
    if not rows:
        stage.show("There is no model yet", NO_MODEL)
        return
    model = await stage.pick("Choose a model", rows)
    if model:
        try:
            await seat.change(model=model)
        except SteersmanError as problem:
            stage.tell(str(problem))
        await stage.moved()
