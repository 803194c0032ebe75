"""`workspace_find_references`."""

import os
from typing import Annotated

from msgspec import Meta

from steersman.operations.code.facade import Facade
from steersman.operations.code.records import References
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.find_symbol import Name
from steersman.operations.tools.get_symbols_overview import inside
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Search
from steersman.records.errors import ToolProblem


class FindReferencesArgs(Arguments, frozen=True):
    """Which symbol: its name, and where there are several, where it is defined or used."""

    name: Name
    path: Annotated[str, Meta(description="file or folder of its definition")] = "."
    line: Annotated[int, Meta(ge=0, description="a line of path where it appears")] = 0
    max_results: Annotated[int, Meta(ge=1, le=500)] = 100


class FindReferences(Tool[FindReferencesArgs]):
    """Find uses of a symbol, compared with a text search for its name."""

    name = "workspace_find_references"
    family = Family.READ
    Args = FindReferencesArgs

    def __init__(self, facade: Facade) -> None:
        self._facade = facade

    async def plan(
        self, args: FindReferencesArgs, workspace: PlanningWorkspace
    ) -> Plan[FindReferencesArgs]:
        """Search the workspace: uses may be anywhere in it."""
        path = inside(workspace, args.path)
        if args.line and not os.path.isfile(path):
            raise ToolProblem(f"{args.path} is a folder.", try_this="Pass the file of that line.")
        return Plan(args, [Search(workspace.root, args.name)])

    async def perform(self, plan: Plan[FindReferencesArgs], bench: Bench) -> References:
        """The uses."""
        args = plan.args
        path = inside(bench.workspace, args.path)
        return await self._facade.references(
            args.name, path, args.line, bench, most=args.max_results
        )
