"""The first minute without a model: what was found, logging in, and the demo."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from steersman.host import demo, models
from steersman.records.errors import SteersmanError
from steersman.views.commands.stage import Row, Stage
from steersman.views.login import Given, log_in

if TYPE_CHECKING:
    from steersman.host.models import Found

LOGIN, DEMO = "login", "demo"


async def choose_model(stage: Stage) -> bool:
    """Offer what was found; else logging in, and the demo. True when a model was chosen."""
    found = await asyncio.to_thread(models.found, stage.environ)
    chosen = await stage.pick("Choose a model", rows(found))
    try:
        if chosen == LOGIN:
            chosen = await log_in(stage, stage.environ, Given())
        elif chosen == DEMO:
            await _demo(stage)
            return False
        if chosen:
            await stage.seat.change(model=chosen)
            await stage.moved()
        return bool(chosen)
    except SteersmanError as problem:
        stage.tell(problem.facts, problem.try_this)
        return False


def rows(found: "Iterable[Found]") -> list[Row]:
    """What there is to choose from. Pure."""
    listed, programs = [], []
    for one in found:
        listed += [Row(name, name, f"{one.name}: {one.detail}") for name in one.models]
        programs += [one.name] * (one.kind == "program")
    also = f"; found {', '.join(programs)}, but not a key of theirs" * bool(programs and not listed)
    known = "OpenAI, Anthropic, Gemini, OpenRouter or another server"
    return [
        *listed,
        Row(LOGIN, "Log in with a key", f"{known}{also}"),
        Row(DEMO, "See the demo", "a scripted model fixes a bug; needs no key"),
    ]


def told(found: "Iterable[Found]") -> str:
    """The same as lines to read, where nobody can choose. Pure."""
    lines = ["No model is chosen yet."]
    for one in found:
        use = f": {one.command}" if one.command else ""
        lines.append(f"- {one.name}, {one.detail}{use}")
    lines += [
        "- With a key: steer login",
        "- Any other: steer --model provider:name",
        "- Without a model: steer demo",
    ]
    return "\n".join(lines)


async def tell_models(stage: Stage) -> None:
    """Say what was found."""
    stage.tell("", told(await asyncio.to_thread(models.found, stage.environ)))


async def _demo(stage: Stage) -> None:
    """Play the demo here: a sample project in a new folder, and a scripted model."""
    seat = stage.seat
    folder = await asyncio.to_thread(demo.lay_out)
    seat.folder = str(folder)
    await seat.change(model=demo.model())
    await stage.moved()
    stage.tell(f"The demo is in {folder}. Afterwards, start steer in your own project.")
    await stage.say(demo.TASK)
