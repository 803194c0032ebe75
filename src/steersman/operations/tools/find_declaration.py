"""`workspace_find_declaration`."""

import asyncio
from typing import Annotated

from msgspec import Meta

from steersman.operations.code.facade import Facade
from steersman.operations.code.records import Symbols
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.get_symbols_overview import File, a_file
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Read, Search
from steersman.records.errors import ToolProblem


class FindDeclarationArgs(Arguments, frozen=True):
    """The place where a name is used: its line, and its column or the name itself."""

    path: File
    line: Annotated[int, Meta(ge=1)]
    name: Annotated[str, Meta(max_length=300, description="the name in that line")] = ""
    column: Annotated[int, Meta(ge=0, description="instead of name, from 1")] = 0


class FindDeclaration(Tool[FindDeclarationArgs]):
    """Find where a name that is used in a line is defined."""

    name = "workspace_find_declaration"
    family = Family.READ
    Args = FindDeclarationArgs

    def __init__(self, facade: Facade) -> None:
        self._facade = facade

    async def plan(
        self, args: FindDeclarationArgs, workspace: PlanningWorkspace
    ) -> Plan[FindDeclarationArgs]:
        """Read that file, and search the workspace."""
        if not args.name and not args.column:
            raise ToolProblem(
                f"Which name in line {args.line} do you mean?", try_this="Pass name or column."
            )
        path = a_file(workspace, args.path)
        return Plan(
            args, [Read(path), Search(workspace.root, args.name or f"{args.path}:{args.line}")]
        )

    async def perform(self, plan: Plan[FindDeclarationArgs], bench: Bench) -> Symbols:
        """The definitions, mostly one."""
        from steersman.operations.code.spots import spot_of

        args = plan.args
        path = a_file(bench.workspace, args.path)
        spot = await asyncio.to_thread(spot_of, path, args.line, args.column, args.name, bench)
        return await self._facade.declaration(spot, bench)
