"""Every capability by name, for the palette: commands, the host's tools, threads to continue with.

The tools are `Host.tools`: the same list that `steer tools` prints and the MCP port offers.
"""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from steersman.records import validation
from steersman.records.dialogue import ToolSpec
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.message import ToolResult
from steersman.views.commands.builtin.threads import resume, thread_row
from steersman.views.commands.registry import Registry
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
        Capability("command", f"/{one.name}", f"/{one.name}", one.about, one.usage)
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
    said = await stage.ask(f"Arguments of {name}, as JSON: {fields(spec)}", sample(spec))
    if said is None:
        return
    message = await seat.call(name, given(said))
    if isinstance(message.body, ToolResult):
        stage.tell(f"{name}: {result_words(message.body)}")


def given(text: str) -> dict[str, Any]:
    """Arguments as a person typed them."""
    try:
        return msgspec.json.decode(text.strip() or "{}", type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise UsageProblem(
            "The arguments are not a JSON object.", validation.sentence(error)
        ) from error


def fields(spec: ToolSpec) -> str:
    """The names of a tool's arguments; those that may be left out in brackets."""
    needed = spec.parameters.get("required", [])
    named = spec.parameters.get("properties", {})
    return ", ".join(name if name in needed else f"[{name}]" for name in named)


def sample(spec: ToolSpec) -> str:
    """Arguments to begin with: everything that is needed, still empty."""
    blanks: dict[str, Any] = {"string": "", "integer": 1, "number": 1, "boolean": False,
                              "array": [], "object": {}}  # fmt: skip
    named = spec.parameters.get("properties", {})
    needed = spec.parameters.get("required", [])
    start = {name: blanks.get(named.get(name, {}).get("type", ""), "") for name in needed}
    return msgspec.json.encode(start).decode()


def _first_line(text: str) -> str:
    return one_line(text.splitlines()[0] if text else "")
