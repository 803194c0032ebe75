"""`workspace_write_file`."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.matching import unified_diff
from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.workspace import Workspace, digest
from steersman.records.action import Action, Delete, Read, Write


class Written(Struct, frozen=True):
    """What was written."""

    path: str
    bytes: int
    created: bool


class WriteFileArgs(Arguments, frozen=True):
    """Which file, and all of its new content."""

    path: Annotated[str, Meta(description="file, relative to the workspace")]
    content: Annotated[str, Meta(description="the whole new content")]


class WriteFile(Tool[WriteFileArgs]):
    """Create a file, or replace all of its content. Use workspace_edit_files to change parts."""

    name = "workspace_write_file"
    family = Family.EDIT
    Args = WriteFileArgs

    def looks(self, args: WriteFileArgs, workspace: Workspace) -> Sequence[Action]:
        """The present content, for the diff."""
        return [Read(workspace.locate(args.path))]

    def actions(self, args: WriteFileArgs, workspace: Workspace) -> Sequence[Action]:
        """The change, with its diff."""
        return [change(workspace, workspace.locate(args.path), args.content.encode())]

    async def run(self, args: WriteFileArgs, bench: Bench) -> Written:
        """Write it."""
        path = bench.workspace.locate(args.path)
        created = not bench.workspace.exists(path)
        content = args.content.encode()
        await bench.commit({path: content})
        return Written(bench.workspace.shown(path), len(content), created)


def change(workspace: Workspace, path: str, after: bytes | None) -> Write | Delete:
    """The action that gives a file new content, or takes it away."""
    before = workspace.read(path) if workspace.exists(path) else None
    diff = unified_diff(workspace.shown(path), before, after)
    was = "" if before is None else digest(before)
    return Delete(path, was, diff) if after is None else Write(path, was, digest(after), diff)
