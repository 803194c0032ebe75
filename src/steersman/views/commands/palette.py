"""Every capability by name, for the palette: commands, the host's tools, threads to continue with.

The tools are `Host.tools`: the same list that `steer tools` prints and the MCP port offers.
"""

from typing import Literal

from msgspec import Struct

from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.message import ToolResult
from steersman.views.capabilities import fields, given, sample
from steersman.views.commands.builtin.threads import resume, thread_row
from steersman.views.commands.registry import Command, Registry
from steersman.views.commands.stage import Stage
from steersman.views.text import one_line, result_words

THREADS = 200


class Capability(Struct, frozen=True):
    """One thing that can be done: `key` is unique, `name` is what a person looks for."""

    kind: Literal["command", "tool", "thread"]
    key: str
    name: str
    about: str = ""
    detail: str = ""


def capabilities(stage: Stage, registry: Registry) -> list[Capability]:
    """All there are now: commands, then tools, then the threads of this folder."""
    seat = stage.seat
    commands = [
        Capability("command", f"/{one.name}", f"/{one.name}", _about(one, registry), one.usage)
        for one in registry.available(stage)
    ]
    tools = [
        Capability("tool", f"tool:{one.name}", one.name, _first_line(one.description), fields(one))
        for one in seat.host.tools(seat.folder)
    ]
    threads = []
    for one in seat.threads()[:THREADS]:
        if one.id != seat.id:
            row = thread_row(one)
            threads.append(Capability("thread", f"thread:{one.id}", row.text, "thread", row.detail))
    return [*commands, *tools, *threads]


async def choose(stage: Stage, registry: Registry, key: str) -> None:
    """Do what a person chose: run a command, call a tool, continue with a thread."""
    kind, _, name = key.partition(":")
    try:
        if key.startswith("/"):
            await _command(stage, registry, key)
        elif kind == "thread":
            registry.check(stage, registry.get("resume"))
            await resume(stage, name)
        else:
            await call(stage, name)
    except SteersmanError as problem:
        stage.tell(problem.facts, problem.try_this)


async def _command(stage: Stage, registry: Registry, name: str) -> None:
    usage = registry.get(name).usage
    if usage and not usage.startswith("["):
        stage.compose(f"{name} ")  # it needs more words
    else:
        await registry.run(stage, name)


async def call(stage: Stage, name: str) -> None:
    """Call a tool oneself; its arguments are asked for as JSON."""
    seat = stage.seat
    spec = next((one for one in seat.host.tools(seat.folder) if one.name == name), None)
    if spec is None:
        raise UsageProblem(f"There is no tool “{one_line(name, 60)}” here.")
    said = await stage.ask(f"Arguments of {name}, as JSON or flags: {fields(spec)}", sample(spec))
    if said is None:
        return
    message = await seat.call(name, given(spec, said))
    if isinstance(message.body, ToolResult):
        stage.tell(f"{name}: {result_words(message.body)}")


def _about(command: Command, registry: Registry) -> str:
    """What it is about, and the other names by which it may be looked for."""
    return " ".join((command.about, *(f"/{name}" for name in registry.also(command))))


def _first_line(text: str) -> str:
    return one_line(text.splitlines()[0] if text else "")
