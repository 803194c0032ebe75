"""`read_skill`: a way of working that was written down, when a task fits it."""

import asyncio
from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.errors import ToolProblem, UsageProblem


class ReadSkillArgs(Arguments, frozen=True):
    """Which skill, and which of its files."""

    name: Annotated[str, Meta(description="name of the skill", min_length=1)]
    file: Annotated[str, Meta(description="one of its files")] = "SKILL.md"


class ReadSkill(Tool[ReadSkillArgs]):
    """Read a skill by its name before you begin a task that fits its description; also another
    file of a skill, by the name that its text gives."""

    name = "read_skill"
    family = Family.READ
    Args = ReadSkillArgs

    def __init__(self, load: Callable[[str, str], str]) -> None:
        self._load = load

    async def plan(self, args: ReadSkillArgs, workspace: PlanningWorkspace) -> Plan[ReadSkillArgs]:
        """None: the user decided on it when it was installed, enabled, or the folder trusted."""
        return Plan(args)

    async def perform(self, plan: Plan[ReadSkillArgs], bench: Bench) -> str:
        """Read it."""
        try:
            return await asyncio.to_thread(self._load, plan.args.name, plan.args.file)
        except UsageProblem as problem:
            raise ToolProblem(problem.what, problem.why, problem.try_this) from problem
