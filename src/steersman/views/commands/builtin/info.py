"""`/status`, `/context`, `/cost`, `/copy`, `/help`, `/keys`: the status, what can be done."""

import asyncio
import os

from steersman.host import models
from steersman.records.message import ToolResult, UsageReport
from steersman.views import filling
from steersman.views.commands.registry import Choice, Command, Registry
from steersman.views.commands.stage import Stage
from steersman.views.commands.words import cell, fenced, nothing
from steersman.views.facts import branch, owner, servers, writes_to
from steersman.views.text import ago, amount, counted, one_line, tokens

ESTIMATED = "The parts are estimated. `/compact` makes room."
RECENT = 2000  # messages that are looked at for what is only there sometimes


async def status(stage: Stage, arguments: str) -> None:
    """Show the status."""
    nothing("status", arguments)
    stage.show("Status", "\n".join(f"- **{name}** {text}" for name, text in standing(stage)))


def standing(stage: Stage) -> list[tuple[str, str]]:
    """What there is to say, each with its name."""
    seat, said = stage.seat, stage.seat.settings
    told = [
        ("folder", cell(seat.folder)),
        ("branch", cell(branch(seat.folder))),
        ("mode", said.mode),
        ("trust", said.trust),
        ("approvals", said.approvals),
        ("can write", cell(", ".join(writes_to(seat, stage.environ)) or "nothing", 300)),
        ("can also read", cell(", ".join(said.add_dir), 300)),
        ("model", cell(said.model)),
        ("effort", said.effort if said.effort != "default" else ""),
        ("style", cell(said.output_style) if said.output_style != "default" else ""),
    ]
    if seat.thread is None:
        told.append(("thread", "none yet; your first message starts one"))
    else:
        thread = seat.host.find(seat.id)
        doing = "a turn runs" if seat.doing == "working" else "idle"
        place = f" in {owner(seat.owner)}" if seat.owner else ""
        imported = " · imported from a file" if thread.imported else ""
        told += [
            ("thread", f"{thread.id} · {cell(thread.title, 60)}{imported}"),
            ("log", f"{counted(thread.head, 'message')}, started {ago(thread.created)}"),
            ("now", doing + place),
            ("context", _context(stage)),
            ("cost", _spent(stage)),
            ("MCP servers", cell(", ".join(servers(seat)))),
            ("code", cell(_code(stage))),
        ]
    if not seat.host.permissions.folder(seat.folder).loads:
        told.append(
            ("note", "this folder's configuration is not used; review it with `steer policy trust`")
        )
    return [(name, text) for name, text in told if text]


def _usage(stage: Stage) -> list[UsageReport]:
    found = stage.seat.host.messages(stage.seat.id, kinds={"usage"})
    return [message.body for message in found if isinstance(message.body, UsageReport)]


def _used(stage: Stage) -> int:
    """How many tokens of the window the conversation uses."""
    return filling.context(stage.seat.host.messages(stage.seat.id, kinds=filling.USED))


def _context(stage: Stage) -> str:
    """What the last request took of the model's window."""
    used = _used(stage)
    if not used:
        return ""
    room = models.window(stage.seat.settings, stage.environ)
    full = f"{amount(used)} of {tokens(room)}, {filling.percent(used, room)}" if room else ""
    return full or tokens(used)


def _spent(stage: Stage) -> str:
    spent = _usage(stage)
    if not spent:
        return ""
    total = sum(one.input + one.output for one in spent)
    dollars = sum(one.cost for one in spent)
    price = f" · ${dollars:,.4f}" if dollars else ""
    return f"{counted(len(spent), 'request')}, {tokens(total)}{price}"


def _code(stage: Stage) -> str:
    """What answered the last question about code, as the log has it."""
    seat = stage.seat
    since = max(seat.host.find(seat.id).head - RECENT, 0)
    name = ""
    for message in seat.host.messages(seat.id, after=since, kinds={"tool_result"}):
        match message.body:
            case ToolResult(output={"backend": str(found)}):
                name = found
    return name


async def context(stage: Stage, arguments: str) -> None:
    """What fills the window."""
    nothing("context", arguments)
    seat = stage.seat
    used = _used(stage) if seat.id else 0
    if not used:
        stage.tell("Nothing was sent to a model in this thread yet.")
        return
    room = models.window(seat.settings, stage.environ)
    found = await asyncio.to_thread(
        lambda: filling.shares(seat.host.messages(seat.id, kinds=filling.KINDS), used, room)
    )
    drawn = fenced(filling.bars(found, used, room))
    read = {one.name for part in found for one in part.inside}
    unread = [cell(one) for one in stage.files() if os.path.normpath(one) not in read]
    named = f"In context, not read yet: {', '.join(unread)}.\n\n" if unread else ""
    stage.show("What fills the window", f"{drawn}\n\n{named}{ESTIMATED}")


async def copy(stage: Stage, arguments: str) -> None:
    """Copy what the model said last."""
    nothing("copy", arguments)
    said = await stage.seat.handle.last_words()
    if not said:
        stage.tell("There is no answer to copy yet.")
    elif stage.copy(said):
        stage.tell(f"Copied the last answer: {counted(len(said.splitlines()), 'line')}.")
    else:
        stage.show("There is no clipboard here. The last answer", fenced(said))


NARROW = 56  # columns of a box on a screen of eighty


async def cost(stage: Stage, arguments: str) -> None:
    """What the thread spent."""
    from steersman.host.costs import spent
    from steersman.views.bills import narrow_table

    nothing("cost", arguments)
    seat = stage.seat
    threads = [seat.host.find(seat.id)] if seat.id else []
    by_agent, by_model = spent(seat.host, threads, "agent", "model")
    if not by_model.bills:
        stage.tell("No usage in this thread yet.")
        return
    accounts = (by_agent, by_model) if len(by_agent.bills) > 1 else (by_model,)
    tables = ["\n".join(narrow_table(one.by, [*one.bills, one.total], NARROW)) for one in accounts]
    stage.show("Cost of this thread", fenced("\n\n".join(tables)))


async def usage(stage: Stage, arguments: str) -> None:
    """What commands there are, or all about one."""
    registry = Registry.at(stage)
    if arguments.strip():
        command = registry.get(arguments.split()[0])
        stage.show(f"/{command.name}", about(command))
    else:
        stage.show("Commands", overview(registry, stage))


def about(command: Command) -> str:
    """All about a command."""
    facts = [f"`{one_line(command.line)}`", cell(command.about, 300), cell(command.more, 400)]
    if command.aliases:
        facts.append("Also: " + ", ".join(f"`/{name}`" for name in command.aliases))
    if not command.while_working:
        facts.append("Not while a turn runs.")
    return "\n\n".join(filter(None, facts))


def overview(registry: Registry, stage: Stage) -> str:
    """All commands, ours first, and what was wrong with written ones."""
    here = registry.available(stage)
    parts = [_list([one for one in here if not one.source])]
    if written := [one for one in here if one.source]:
        parts.append("**Written for this folder or by you**\n\n" + _list(written))
    if registry.problems:
        parts.append("\n".join(f"- {cell(problem, 500)}" for problem in registry.problems[:20]))
    parts.append(
        "Anything else you write goes to the model. `@file` names a file, `$skill` a skill, "
        "`!command` runs a command through the gate, `# text` adds a line to an instruction file."
    )
    return "\n\n".join(parts)


def _list(commands: list[Command]) -> str:
    return "\n".join(f"- `{one_line(one.line)}` {cell(one.about)}" for one in commands)


def _names(stage: Stage, _: str) -> list[Choice]:
    return [Choice(one.name, one.about) for one in Registry.at(stage).available(stage)]


async def keys(stage: Stage, arguments: str) -> None:
    """List the keys."""
    nothing("keys", arguments)
    if not await stage.open("keys"):
        stage.tell("There are no special keys here.")


COMMANDS = (
    Command("status", "Show the status.", status, while_working=True),
    Command("context", "Show what fills the model's window.", context, while_working=True),
    Command("cost", "Show what this thread used and cost.", cost, while_working=True),
    Command(
        "copy",
        "Copy the last answer.",
        copy,
        more="It goes to the clipboard of your terminal, if that allows it (OSC 52).",
        while_working=True,
    ),
    Command("keys", "List the keys.", keys, while_working=True),
    Command(
        "help",
        "List the commands.",
        usage,
        usage="[COMMAND]",
        complete=_names,
        while_working=True,
        aliases=("?",),
    ),
)
