"""`change_setting`."""

import asyncio
from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Setting
from steersman.records.configure import Configure


class ChangedSetting(Struct, frozen=True, omit_defaults=True):
    """What was written where; `hidden_by` counts more than it."""

    key: str
    value: str
    path: str
    hidden_by: str = ""


class ChangeSettingArgs(Arguments, frozen=True):
    """Which setting, and its new value."""

    key: Annotated[str, Meta(min_length=1, description="its name, such as model")]
    value: Annotated[str, Meta(description="its new value; a list is separated by commas")]


class ChangeSetting(Tool[ChangeSettingArgs]):
    """Change one of the user's settings, in their config.toml. Settings that decide what agents may
    do are changed by the user only.
    """

    name = "change_setting"
    family = Family.EDIT
    Args = ChangeSettingArgs
    offered = False

    def __init__(self, configure: Callable[[], Configure]) -> None:
        self._configure = configure

    async def plan(
        self, args: ChangeSettingArgs, workspace: PlanningWorkspace
    ) -> Plan[ChangeSettingArgs]:
        """Change it, knowing what it is."""
        before = await asyncio.to_thread(self._configure().present, args.key)
        return Plan(args, [Setting(args.key, args.value, before)])

    async def perform(self, plan: Plan[ChangeSettingArgs], bench: Bench) -> ChangedSetting:
        """Write it, once it is known to be right."""
        key, value = plan.args.key, plan.args.value
        path, hidden = await asyncio.to_thread(self._configure().change, key, value)
        return ChangedSetting(key, value, path, hidden)
