"""`workspace_propose_refactoring`."""

import re
from typing import Annotated

from msgspec import Meta

from steersman.operations.code.proposals import Operation, Proposer, Refactored, Refactoring
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.get_symbols_overview import a_file
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Search
from steersman.records.errors import ToolProblem

_NAME = re.compile(r"[\w$@#]+[?!]?")


class ProposeRefactoringArgs(Arguments, frozen=True):
    """What to do to which symbol."""

    operation: Operation
    name_path: Annotated[str, Meta(min_length=1, max_length=300, description="Client/send")]
    path: Annotated[str, Meta(description="file of its definition")]
    text: Annotated[str, Meta(description="the new name, or the code to put there")] = ""


class ProposeRefactoring(Tool[ProposeRefactoringArgs]):
    """Rename, replace, insert beside or delete a symbol, with all its uses; it can be undone."""

    name = "workspace_propose_refactoring"
    family = Family.EDIT
    Args = ProposeRefactoringArgs

    def __init__(self, proposer: Proposer) -> None:
        self._proposer = proposer

    async def plan(
        self, args: ProposeRefactoringArgs, workspace: PlanningWorkspace
    ) -> Plan[ProposeRefactoringArgs]:
        """Look at the workspace; what would change is known and judged when it was tried."""
        a_file(workspace, args.path)
        if args.operation != "safe_delete_symbol" and not args.text.strip():
            raise ToolProblem(f"{args.operation} needs text.", try_this="Pass text.")
        if args.operation == "rename_symbol" and not _NAME.fullmatch(args.text.strip()):
            raise ToolProblem(f"{args.text!r} is not a name.", try_this="Pass the bare new name.")
        return Plan(args, [Search(workspace.root, args.name_path)])

    async def perform(self, plan: Plan[ProposeRefactoringArgs], bench: Bench) -> Refactored:
        """What was changed."""
        args = plan.args
        path = bench.workspace.shown(a_file(bench.workspace, args.path))
        text = args.text.strip() if args.operation == "rename_symbol" else args.text
        wanted = Refactoring(args.operation, args.name_path, path, text)
        return await self._proposer.propose(wanted, bench)
