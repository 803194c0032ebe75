"""`workspace_write_file`."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.changes import FileChange, change_of
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool, changing
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import Read


class Written(Struct, frozen=True, omit_defaults=True):
    """What was written; `unchanged` when the file had this content."""

    path: str
    bytes: int
    created: bool
    unchanged: bool = False


class WriteFileArgs(Arguments, frozen=True):
    """Which file, and all of its new content."""

    path: Annotated[str, Meta(description="file, relative to the workspace")]
    content: Annotated[str, Meta(description="the whole new content")]


class WriteFile(Tool[WriteFileArgs]):
    """Create a file, or replace all of its content. Use workspace_edit_files to change parts."""

    name = "workspace_write_file"
    family = Family.EDIT
    Args = WriteFileArgs

    async def plan(self, args: WriteFileArgs, workspace: PlanningWorkspace) -> Plan[WriteFileArgs]:
        """The change, with its diff to the present content."""
        path = workspace.locate(args.path)
        seen = await workspace.look([Read(path)])
        change = await asyncio.to_thread(_change, seen, path, args.content.encode())
        return changing(args, [] if change.before == change.after else [change])

    async def perform(self, plan: Plan[WriteFileArgs], bench: Bench) -> Written:
        """Write it."""
        size = len(plan.args.content.encode())
        if not plan.changes:
            return Written(plan.args.path, size, created=False, unchanged=True)
        (change,) = plan.changes
        await bench.commit(plan.contents)
        return Written(change.shown, len(change.after or b""), change.before is None)


def _change(workspace: Workspace, path: str, after: bytes) -> FileChange:
    before = workspace.read(path) if workspace.exists(path) else None
    return change_of(workspace, path, before, after)
