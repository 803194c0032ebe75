"""`workspace_find_symbol`."""

from typing import Annotated

from msgspec import Meta

from steersman.operations.code.backend import Wanted
from steersman.operations.code.facade import Facade
from steersman.operations.code.records import Symbols
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.get_symbols_overview import Path, inside
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Search

Name = Annotated[str, Meta(min_length=1, max_length=300, description="send, or Client/send")]
MOST = 200


class FindSymbolArgs(Arguments, frozen=True):
    """Which name, and where."""

    name: Name
    path: Path = "."
    substring: Annotated[bool, Meta(description="match a part of the name")] = False
    kinds: Annotated[tuple[str, ...], Meta(description="class, function, method …")] = ()
    body: Annotated[bool, Meta(description="with its code")] = False
    depth: Annotated[int, Meta(ge=0, le=5, description="levels inside")] = 0
    max_results: Annotated[int, Meta(ge=1, le=MOST)] = 30


class FindSymbol(Tool[FindSymbolArgs]):
    """Find definitions of a symbol by its name."""

    name = "workspace_find_symbol"
    family = Family.READ
    Args = FindSymbolArgs

    def __init__(self, facade: Facade) -> None:
        self._facade = facade

    async def plan(
        self, args: FindSymbolArgs, workspace: PlanningWorkspace
    ) -> Plan[FindSymbolArgs]:
        """Search below that path."""
        return Plan(args, [Search(inside(workspace, args.path), args.name)])

    async def perform(self, plan: Plan[FindSymbolArgs], bench: Bench) -> Symbols:
        """The definitions."""
        args = plan.args
        wanted = Wanted(
            name=args.name,
            within=bench.workspace.below(inside(bench.workspace, args.path)),
            substring=args.substring,
            kinds=tuple(kind.lower() for kind in args.kinds),
            body=args.body,
            depth=args.depth,
            most=args.max_results,
        )
        return await self._facade.find(wanted, bench)
