"""`workspace_status`."""

from collections.abc import Sequence

from msgspec import Struct

from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.workspace import Workspace
from steersman.records.action import Action, List, Read
from steersman.records.errors import ToolProblem


class WorkspaceStatus(Struct, frozen=True, omit_defaults=True):
    """Where the agent is; `branch` is absent outside a git repository."""

    workspace: str
    entries: list[str]
    branch: str = ""


class StatusArgs(Arguments, frozen=True):
    """Nothing to say."""


class Status(Tool[StatusArgs]):
    """Show the workspace folder, what is at its top, and the git branch."""

    name = "workspace_status"
    family = Family.READ
    Args = StatusArgs

    def actions(self, args: StatusArgs, workspace: Workspace) -> Sequence[Action]:
        """Look at the top folder and at git's note of the branch; git itself is not run."""
        return [List(workspace.root), Read(workspace.locate(".git/HEAD"))]

    async def run(self, args: StatusArgs, bench: Bench) -> WorkspaceStatus:
        """Look."""
        root = bench.workspace.root
        entries = [entry.name + "/" * entry.is_dir() for entry in bench.workspace.listing(root)]
        return WorkspaceStatus(root, entries, _branch(bench.workspace))


def _branch(workspace: Workspace) -> str:
    try:
        head = workspace.read(workspace.locate(".git/HEAD")).decode(errors="replace").strip()
    except ToolProblem:
        return ""
    name = head.removeprefix("ref: refs/heads/")
    return name if name != head else f"detached at {head[:12]}"
