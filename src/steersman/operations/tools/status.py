"""`workspace_status`."""

import asyncio
from collections.abc import Callable, Mapping

from msgspec import Struct

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import List, Read
from steersman.records.errors import ToolProblem


class Situation(Struct, frozen=True):
    """How a thread works now: its mode, what runs it, and the state of each MCP server."""

    mode: str = ""
    engine: str = ""
    mcp: Mapping[str, str] = {}


class WorkspaceStatus(Struct, frozen=True, omit_defaults=True):
    """Where the agent is, and how it works; `branch` is absent outside a git repository."""

    workspace: str
    entries: list[str]
    branch: str = ""
    mode: str = ""
    engine: str = ""
    mcp: Mapping[str, str] = {}


class StatusArgs(Arguments, frozen=True):
    """Nothing to say."""


class Status(Tool[StatusArgs]):
    """Show the workspace folder, what is at its top, the git branch, mode and MCP servers."""

    name = "workspace_status"
    family = Family.READ
    Args = StatusArgs

    def __init__(self, situation: Callable[[], Situation] = Situation) -> None:
        self._situation = situation

    async def plan(self, args: StatusArgs, workspace: PlanningWorkspace) -> Plan[StatusArgs]:
        """Look at the top folder and at git's note of the branch; git itself is not run."""
        return Plan(args, [List(workspace.root), Read(workspace.locate(".git/HEAD"))])

    async def perform(self, plan: Plan[StatusArgs], bench: Bench) -> WorkspaceStatus:
        """Look."""
        return await asyncio.to_thread(_status, bench.workspace, self._situation())


def _status(workspace: Workspace, now: Situation) -> WorkspaceStatus:
    entries = [entry.name + "/" * entry.is_dir() for entry in workspace.listing(workspace.root)]
    branch = _branch(workspace)
    return WorkspaceStatus(workspace.root, entries, branch, now.mode, now.engine, now.mcp)


def _branch(workspace: Workspace) -> str:
    try:
        head = workspace.read(workspace.locate(".git/HEAD")).decode(errors="replace").strip()
    except ToolProblem:
        return ""
    name = head.removeprefix("ref: refs/heads/")
    return name if name != head else f"detached at {head[:12]}"
