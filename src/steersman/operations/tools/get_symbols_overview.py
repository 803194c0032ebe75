"""`workspace_get_symbols_overview`, and how tools for code say which file they mean."""

import os
from typing import Annotated

from msgspec import Meta

from steersman.operations.code.facade import Facade
from steersman.operations.code.records import Overview
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import Read
from steersman.records.errors import ToolProblem

Path = Annotated[str, Meta(description="file or folder")]
File = Annotated[str, Meta(description="file")]


def inside(workspace: Workspace, name: str) -> str:
    """The real path of something in the workspace, or why it cannot be asked about."""
    path = workspace.locate(name)
    if not workspace.contains(path):
        raise ToolProblem(
            f"{name} is outside the workspace.",
            "Code is known only inside it.",
            "Read such a file with workspace_read_file.",
        )
    if not os.path.exists(path):
        raise ToolProblem(
            f"{name} does not exist.", try_this="List the folder with workspace_list_files."
        )
    return path


def a_file(workspace: Workspace, name: str) -> str:
    """The real path of a plain file in the workspace."""
    path = inside(workspace, name)
    if os.path.isdir(path):
        raise ToolProblem(
            f"{name} is a folder.", try_this="Pass a file, or use workspace_find_symbol."
        )
    if not os.path.isfile(path):
        raise ToolProblem(f"{name} is not a regular file.", "It is a pipe, socket or device.")
    return path


class GetSymbolsOverviewArgs(Arguments, frozen=True):
    """Which file, and how deep."""

    path: File
    depth: Annotated[int, Meta(ge=0, le=5, description="levels inside: 1 shows methods")] = 1


class GetSymbolsOverview(Tool[GetSymbolsOverviewArgs]):
    """List the symbols a file defines, with their lines."""

    name = "workspace_get_symbols_overview"
    family = Family.READ
    Args = GetSymbolsOverviewArgs

    def __init__(self, facade: Facade) -> None:
        self._facade = facade

    async def plan(
        self, args: GetSymbolsOverviewArgs, workspace: PlanningWorkspace
    ) -> Plan[GetSymbolsOverviewArgs]:
        """Read that file."""
        return Plan(args, [Read(a_file(workspace, args.path))])

    async def perform(self, plan: Plan[GetSymbolsOverviewArgs], bench: Bench) -> Overview:
        """Its symbols."""
        path = a_file(bench.workspace, plan.args.path)
        return await self._facade.overview(path, plan.args.depth, bench)
