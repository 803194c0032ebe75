"""`workspace_get_diagnostics`."""

import os
from typing import Annotated

from msgspec import Meta

from steersman.operations.code.facade import Facade
from steersman.operations.code.records import Diagnostics, Severity
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.get_symbols_overview import inside
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Read, Search


class GetDiagnosticsArgs(Arguments, frozen=True):
    """Which files, and how bad it must be."""

    paths: Annotated[
        tuple[str, ...], Meta(min_length=1, max_length=50, description="files or folders")
    ]
    min_severity: Severity = "warning"


class GetDiagnostics(Tool[GetDiagnosticsArgs]):
    """Check files: what compilers, type checkers and linters say about them."""

    name = "workspace_get_diagnostics"
    family = Family.READ
    Args = GetDiagnosticsArgs

    def __init__(self, facade: Facade) -> None:
        self._facade = facade

    async def plan(
        self, args: GetDiagnosticsArgs, workspace: PlanningWorkspace
    ) -> Plan[GetDiagnosticsArgs]:
        """Read those files, search those folders."""
        paths = [inside(workspace, name) for name in args.paths]
        return Plan(
            args, [Search(p, "diagnostics") if os.path.isdir(p) else Read(p) for p in paths]
        )

    async def perform(self, plan: Plan[GetDiagnosticsArgs], bench: Bench) -> Diagnostics:
        """The complaints."""
        paths = [inside(bench.workspace, name) for name in plan.args.paths]
        return await self._facade.diagnostics(paths, plan.args.min_severity, bench)
