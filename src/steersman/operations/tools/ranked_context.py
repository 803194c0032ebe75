"""`workspace_ranked_context`."""

import asyncio
import os
from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from steersman.operations.code.index.keepers import IndexKeepers
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import Search
from steersman.records.code_index import RankedContext as Context
from steersman.records.errors import ToolProblem
from steersman.records.secret_files import SecretFiles

LEAST, USUAL, MOST = 200, 4000, 16_000
LARGEST = 1 << 20
Hints = Annotated[tuple[str, ...], Meta(max_length=50)]


class RankedContextArgs(Arguments, frozen=True):
    """What is asked, what the answer may cost, and what is known already."""

    question: Annotated[
        str,
        Meta(min_length=1, max_length=4000, description="in words; names of code help"),
    ]
    budget_tokens: Annotated[int, Meta(ge=LEAST, le=MOST)] = USUAL
    files: Annotated[Hints, Meta(description="paths that matter already")] = ()
    symbols: Annotated[Hints, Meta(description="names that matter: Client, Client/send")] = ()
    path: Annotated[str, Meta(description="answer only from below this folder")] = "."


class RankedContext(Tool[RankedContextArgs]):
    """Find the parts of the workspace that matter most for a question or a task, within a budget of
    tokens: excerpts, best first, each with why it is there, and the next best files. Good to begin
    with; to find one known text or name, search for it.
    """

    name = "workspace_ranked_context"
    family = Family.READ
    Args = RankedContextArgs

    def __init__(self, keepers: IndexKeepers) -> None:
        self._keepers = keepers

    async def plan(
        self, args: RankedContextArgs, workspace: PlanningWorkspace
    ) -> Plan[RankedContextArgs]:
        """Search below that path."""
        return Plan(args, [Search(workspace.locate(args.path), args.question)])

    async def perform(self, plan: Plan[RankedContextArgs], bench: Bench) -> Context:
        """The best excerpts."""
        args = plan.args
        workspace = bench.workspace
        top = workspace.below(workspace.locate(args.path))
        if not workspace.contains(top):
            raise ToolProblem(
                f"{args.path} is outside the workspace, and only the workspace is indexed.",
                try_this="Search there with workspace_search_files.",
            )
        if not os.path.lexists(top):
            raise ToolProblem(
                f"{args.path} does not exist.",
                try_this="List the folder with workspace_list_files.",
            )
        keeper = await asyncio.to_thread(self._keepers.of, workspace.root, workspace.secret)
        from steersman.operations.code.index.answering import Asked  # the keeper brought it

        below = "" if top == workspace.root else workspace.shown(top)
        asked = Asked(
            args.question,
            args.budget_tokens,
            tuple(_relative(path, workspace) for path in args.files),
            args.symbols,
            tuple(workspace.shown_files()),
            below,
        )
        return await keeper.answer(asked, reader(workspace.root, workspace.secret))


def reader(root: str, secret: str) -> Callable[[str], str | None]:
    """Reads files of a workspace by their relative path; None for what is not text, or secret."""
    from steersman.operations.finding.scan import text_of

    secret_files = SecretFiles(root, secret)

    def read(path: str) -> str | None:
        full = os.path.join(root, path)
        try:
            # A folder on the way that became a link may lead anywhere.
            if secret_files.covers(full) or os.path.realpath(full) != full:
                return None
            if os.stat(full, follow_symlinks=False).st_size > LARGEST:
                return None
            text = text_of(os.fsencode(full))
        except OSError:
            return None
        return None if text is None else text.encode("utf-8", "replace").decode("utf-8", "replace")

    return read


def _relative(name: str, workspace: Workspace) -> str:
    return workspace.shown(workspace.locate(name))
