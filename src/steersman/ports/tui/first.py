"""What comes first: whether the folder is trusted, whether there is a model, and which thread."""

import asyncio
from collections.abc import Callable

from steersman.host import models
from steersman.ports.tui.staging import AppStage
from steersman.ports.tui.wanted import Wanted
from steersman.records.errors import SteersmanError
from steersman.records.settings import Settings
from steersman.views.commands.builtin.threads import resume
from steersman.views.commands.stage import Row

LEVELS = (
    Row("review", "review", "You review changes when a turn ends."),
    Row(
        "on-request",
        "on-request",
        "You are asked before each edit; commands in the sandbox run unasked.",
    ),
)


async def begin(stage: AppStage, wanted: Wanted, settings_for: Callable[[str], Settings]) -> None:
    """Ask what must be asked, then sit down."""
    seat = stage.seat
    try:
        if not wanted.resume:
            await _settle(stage, settings_for)
            if wanted.choose:
                await resume(stage, "")
        else:
            async with seat.on_the_way():
                found = await asyncio.to_thread(seat.host.find, wanted.resume)
                seat.folder = found.workspace
                await _settle(stage, settings_for)
                await seat.take(wanted.resume)
    except SteersmanError as problem:
        stage.tell(problem.facts, problem.try_this)
    await stage.moved()
    if not wanted.say:
        await _last(stage)
    if (seat.here or not seat.id) and await _think(stage):
        await _level(stage)
    if wanted.say:
        await stage.say(wanted.say)


async def _settle(stage: AppStage, settings_for: Callable[[str], Settings]) -> None:
    if await _trusted(stage):
        stage.seat.settings = await asyncio.to_thread(settings_for, stage.seat.folder)


async def _trusted(stage: AppStage) -> bool:
    """Ask about what the folder comes with; True when its own settings may be read from now on."""
    permissions, folder = stage.seat.host.permissions, stage.seat.folder
    standing = await asyncio.to_thread(permissions.folder, folder)
    if standing.state not in ("unknown", "changed"):
        return False
    brought = "this" if standing.found else "nothing now"
    told = f"{folder} comes with {brought}. {standing.why}"
    answer = await stage.trust(told, [(found.path, found.what) for found in standing.found])
    if answer is not None:
        await asyncio.to_thread(permissions.trust, folder, standing, trusted=answer)
    return bool(answer)


async def _level(stage: AppStage) -> None:
    """At the very beginning, say that work is reviewed afterwards, and offer to ask before."""
    seat = stage.seat
    if seat.settings.approvals != "review":
        return  # someone chose it
    from steersman.host import config

    said = stage.notices()
    level = await stage.pick("When are you asked? Now: review (Esc keeps it)", LEVELS)
    for text in said:  # what came of logging in was covered by the question
        stage.tell_long(text)
    if level != "on-request":
        return
    try:
        changed = await asyncio.to_thread(
            config.change, "approvals", level, seat.folder, stage.environ
        )
        await seat.change(approvals=level)
        stage.tell(f"You are asked before each edit. It is in {changed.path}.")
    except SteersmanError as problem:
        stage.tell(problem.facts, problem.try_this)
    await stage.moved()


async def _think(stage: AppStage) -> bool:
    """Without a model, offer those that were found, logging in, and the demo.

    True when one was chosen to work with; the demo plays by itself.
    """
    if await asyncio.to_thread(models.chosen, stage.seat.settings, stage.environ):
        return False  # whether it can be reached shows when it is used
    from steersman.views.beginning import choose_model

    return await choose_model(stage)


async def _last(stage: AppStage) -> None:
    """Offer to go on with the last thread of the folder."""
    here = await asyncio.to_thread(stage.seat.threads)
    if here and not stage.seat.id:
        stage.offer(here[0])
