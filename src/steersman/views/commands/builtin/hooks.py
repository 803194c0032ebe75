"""`/hooks`: the hooks that hold here, where they come from, and how each ended last."""

import asyncio

from steersman.host import hooks as host_hooks
from steersman.records.hooks import Hook
from steersman.records.message import HookRun, Message
from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Stage
from steersman.views.commands.words import cell
from steersman.views.text import ago


async def hooks(stage: Stage, arguments: str) -> None:
    """List them."""
    seat = stage.seat
    found = await asyncio.to_thread(
        host_hooks.known, seat.host, seat.folder, seat.settings, seat.id
    )
    lines = [_line(hook, last) for hook, last in found.hooks]
    lines += [f"- ! {cell(problem, 200)}" for problem in found.problems]
    if found.unused:
        lines.append("- ! The folder's own hooks are not used: it is not trusted.")
    if not lines:
        stage.tell("No hooks. docs/hooks.md shows how to add one.")
        return
    stage.show("Hooks", "\n".join(lines))


def _line(hook: Hook, last: Message | None) -> str:
    meant = f" {cell(hook.matcher, 60)}" if hook.matcher else ""
    return f"- **{hook.event}**{meant}: {cell(hook.command, 100)} ({hook.source}) · {_came(last)}"


def _came(last: Message | None) -> str:
    if last is None or not isinstance(last.body, HookRun):
        return "not run yet"
    ran = last.body
    said = ran.problem or " ".join(filter(None, (ran.decision or "done", ran.reason)))
    return f"{ago(last.time)}, {ran.ms} ms: {cell(said, 200)}"


COMMANDS = (
    Command(
        "hooks",
        "Show the hooks in effect here and how each ended last.",
        hooks,
        while_working=True,
    ),
)
