"""`workspace_get_diagnostics`."""

import os
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from steersman.operations.code.facade import Facade
from steersman.operations.code.records import Diagnostics, Severity
from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.tools.get_symbols_overview import inside
from steersman.operations.workspace import Workspace
from steersman.records.action import Action, Read, Search


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

    def actions(self, args: GetDiagnosticsArgs, workspace: Workspace) -> Sequence[Action]:
        """Read those files, search those folders."""
        paths = [inside(workspace, name) for name in args.paths]
        return [Search(p, "diagnostics") if os.path.isdir(p) else Read(p) for p in paths]

    async def run(self, args: GetDiagnosticsArgs, bench: Bench) -> Diagnostics:
        """The complaints."""
        paths = [inside(bench.workspace, name) for name in args.paths]
        return await self._facade.diagnostics(paths, args.min_severity, bench)
