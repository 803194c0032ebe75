"""`/permissions`: the rules and remembered answers that hold here, and forgetting one."""

import asyncio

from steersman.host import policy
from steersman.records.errors import UsageProblem
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Stage
from steersman.views.commands.words import cell
from steersman.views.text import one_line

ANSWERS = ("turn", "thread", "here")
FORGET = "`/permissions forget ID` deletes a remembered answer."


async def permissions(stage: Stage, arguments: str) -> None:
    """Show what holds, or forget an answer."""
    match arguments.split():
        case []:
            stage.show("Permissions", await asyncio.to_thread(_shown, stage))
        case ["forget", name]:
            gone = await asyncio.to_thread(policy.forget, stage.seat.host, name)
            stage.tell(f"Deleted: {one_line(gone.about, 200)}")
        case _:
            raise UsageProblem(
                "/permissions takes nothing, or forget and the id of an answer.",
                try_this="/permissions shows the ids.",
            )


def _shown(stage: Stage) -> str:
    seat = stage.seat
    said = seat.settings
    reads = [f"- may also read {cell(folder, 300)}, and not write there" for folder in said.add_dir]
    found = policy.rules(seat.host, seat.folder, said, seat.id)
    lines = [f"Mode **{said.mode}**, trust **{said.trust}**, approvals **{said.approvals}**.", ""]
    for one in found:
        why = f" — {cell(one.rule.reason, 200)}" if one.rule.reason else ""
        where = f"{cell(one.rule.id, 60)}, {cell(one.stands, 80)}"
        lines.append(f"- **{one.rule.decision}** {cell(one.about, 300)} ({where}){why}")
    if len(lines) == 2:
        lines.append("There are no rules and no remembered answers; the approvals level decides.")
        lines += [""] if reads else []
    forget = ["", FORGET] if any(one.rule.source in ANSWERS for one in found) else []
    return "\n".join([*lines, *reads, *forget])


def _answers(stage: Stage, typed: str) -> list[Choice]:
    seat = stage.seat
    found = policy.rules(seat.host, seat.folder, seat.settings, seat.id)
    answers = [one for one in found if one.rule.source in ANSWERS]
    return [Choice(f"forget {one.rule.id}", one_line(one.about, 60)) for one in answers]


COMMANDS = (
    Command(
        "permissions",
        "Show the rules and remembered answers in effect here.",
        permissions,
        usage="[forget ID]",
        complete=_answers,
        while_working=True,
    ),
)
