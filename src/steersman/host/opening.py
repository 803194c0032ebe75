"""How a process runs a thread, and what a thread keeps of it for the next one."""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steersman.records.mcp_tools import Wishes
from steersman.records.settings import LASTING, Settings, Value

# What a run was started with, and a process that continues with it keeps.
RUN = ("max_steps", "domains", "allow", "deny", "tools", "instructions", "add_dir")


class Opening(Struct, frozen=True):
    """How this process runs a thread.

    `attended`: someone can answer. `questions`: also what the agent asks, not only permissions.
    `yes`: every permission is allowed. `thinks`: with a model. `folder`: where its workspace is
    now, if it was moved. `resume`: a waiting turn continues.
    `client` answers what MCP servers ask, when the thread works for another program. `carries`: a
    process in the background, which continues with what someone else began.
    """

    settings: Settings
    carries: bool = False
    attended: bool = False
    questions: bool = True
    yes: bool = False
    thinks: bool = True
    folder: str | None = None
    resume: bool = True
    client: Wishes | None = None


class Kept(Struct, frozen=True, omit_defaults=True):
    """How a thread is worked on, by the names of flags.

    `lasting` is the thread's own: mode, model, trust, approvals, sandbox, skills. `run`
    holds for the work under way, and for a process that continues with it: limits, domains,
    rules, `yes`.
    """

    lasting: dict[str, Value] = {}
    run: dict[str, Any] = {}


def going_on(opening: Opening, run: dict[str, Any]) -> Opening:
    """How a process continues with work that another began: within the limits of that work."""
    settings = opening.settings
    limits = {name: run.get(f"max_{name}") for name in settings.budget.run.__struct_fields__}
    budget = replace(settings.budget, run=replace(settings.budget.run, **limits))
    begun = {name: run.get(name, getattr(settings, name)) for name in RUN}
    begun |= {name: tuple(value) for name, value in begun.items() if isinstance(value, list)}
    return replace(opening, settings=replace(settings, budget=budget, **begun))


def kept(settings: Settings, model: str, *, yes: bool) -> Kept:
    """What a thread that is worked on like this keeps."""
    lasting = {name: getattr(settings, name) for name in LASTING}
    lasting["model"] = model or settings.model
    limits = msgspec.to_builtins(settings.budget.run)
    run = {f"max_{name}": most for name, most in limits.items() if most is not None}
    run |= {name: msgspec.to_builtins(getattr(settings, name)) for name in RUN} | {"yes": yes}
    return Kept({name: value for name, value in lasting.items() if value != ""}, run)
