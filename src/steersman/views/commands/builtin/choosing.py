"""`/model`, `/effort`, `/approvals`, `/trust`, `/theme`: how the work continues."""

import asyncio
from collections.abc import Mapping

from steersman.host import models
from steersman.records.errors import UsageProblem
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.commands.turns import change
from steersman.views.commands.words import choices, one_of

EFFORT = {
    "default": "The model decides, or its entry in your settings.",
    "low": "The model thinks briefly: fast and cheap.",
    "medium": "The model thinks where that helps.",
    "high": "The model thinks longer, for hard tasks.",
}
NO_EFFORT = "This model has no effort setting; yours is kept for models that do."
APPROVALS = {
    "review": "Edits and contained commands happen at once; you review them when the turn ends.",
    "on-request": "You are asked before each edit; commands in the sandbox run unasked.",
    "on-failure": "Work continues until a command fails; then you can have it run again.",
    "never": "You are never asked: what cannot be undone is denied, and a summary ends the run.",
}
TRUST = {
    "restricted": "Nothing is written, run or fetched.",
    "sandboxed": "Commands run in the sandbox.",
    "untrusted": "No sandbox, full access: never for code you do not trust.",
}


async def model(stage: Stage, arguments: str) -> None:
    """Use another model."""
    wanted: str | None = arguments.strip()
    if not wanted:
        found = await models.choices(stage.seat.settings, stage.environ)
        now = stage.seat.settings.model
        rows = [Row(one.name, one.name, one.about, one.name == now) for one in found]
        if not rows:
            raise UsageProblem(
                "No model was found.",
                "There is no key and no model server on this machine.",
                "Log in with /login, or say /model provider:name.",
            )
        wanted = await stage.pick("Choose a model", rows)
    if not wanted:
        return
    if stage.seat.thread is None:
        await asyncio.to_thread(models.check, wanted, stage.seat.settings, stage.environ)
    await change(stage, model=wanted)
    stage.tell(f"The model is {wanted}.")


def _models(stage: Stage, _: str) -> list[Choice]:
    said = stage.seat.settings
    return choices(dict.fromkeys(filter(None, (said.model, *said.models, "auto"))))


async def effort(stage: Stage, arguments: str) -> None:
    """How hard the model thinks."""
    await _choose(stage, "effort", arguments, EFFORT, "How hard does the model think?")


async def approvals(stage: Stage, arguments: str) -> None:
    """When the user is asked."""
    await _choose(stage, "approvals", arguments, APPROVALS, "When are you asked?")


async def trust(stage: Stage, arguments: str) -> None:
    """How far the folder is trusted."""
    await _choose(stage, "trust", arguments, TRUST, "How far is this folder trusted?")


async def _choose(
    stage: Stage, name: str, arguments: str, known: Mapping[str, str], title: str
) -> None:
    present = getattr(stage.seat.settings, name)
    wanted: str | None = one_of(name, arguments, tuple(known))
    if not wanted:
        rows = [Row.value(one, about, now=one == present) for one, about in known.items()]
        wanted = await stage.pick(title, rows)
    if not wanted or (wanted == "untrusted" != present and not await _sure(stage)):
        return
    await change(stage, **{name: wanted})
    said = known[wanted]
    if name == "effort" and wanted != "default" and not await _takes_effort(stage):
        said = NO_EFFORT
    stage.tell(f"{name.capitalize()} {wanted}: {said[0].lower()}{said[1:]}")


async def _takes_effort(stage: Stage) -> bool:
    return await asyncio.to_thread(models.takes_effort, stage.seat.settings, stage.environ)


async def _sure(stage: Stage) -> bool:
    return await stage.confirm(
        "No sandbox, full access?",
        "Commands would run outside the sandbox, with all your permissions. "
        "For code that you do not trust, choose restricted.",
    )


async def theme(stage: Stage, arguments: str) -> None:
    """Choose a theme."""
    known = tuple(stage.themes())
    wanted: str | None = one_of("theme", arguments, known)
    if not wanted:
        wanted = await stage.pick("Theme", [Row(name, name) for name in known])
    if wanted:
        stage.theme(wanted)


def _has_themes(stage: Stage) -> bool:
    return len(stage.themes()) > 1


COMMANDS = (
    Command(
        "model",
        "Use another model.",
        model,
        usage="[PROVIDER:NAME]",
        more="Without a name, you choose from those that your keys can use.",
        complete=_models,
        while_working=True,
    ),
    Command(
        "effort",
        "Choose how hard the model thinks.",
        effort,
        usage="[LEVEL]",
        more="For models that have such a choice; the others think as they do.",
        complete=lambda _, __: choices(EFFORT, EFFORT),
        while_working=True,
    ),
    Command(
        "approvals",
        "Choose when you are asked.",
        approvals,
        usage="[LEVEL]",
        complete=lambda _, __: choices(APPROVALS, APPROVALS),
        while_working=True,
    ),
    Command(
        "trust",
        "Choose how far this folder is trusted.",
        trust,
        usage="[LEVEL]",
        complete=lambda _, __: choices(TRUST, TRUST),
        while_working=True,
    ),
    Command(
        "theme",
        "Choose a theme.",
        theme,
        usage="[NAME]",
        complete=lambda stage, _: choices(stage.themes()),
        available=_has_themes,
        while_working=True,
    ),
)
