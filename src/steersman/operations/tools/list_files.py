"""`workspace_list_files`."""

import os
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.action import Action, List
from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.workspace import Workspace

MOST = 1000
UNSEEN = frozenset({".git", "node_modules", "__pycache__", ".venv"})


class Listing(Struct, frozen=True):
    """Names below a folder; folders end with a slash."""

    files: list[str]
    left_out: int


class ListFilesArgs(Arguments, frozen=True):
    """Which folder, how deep."""

    path: Annotated[str, Meta(description="folder, relative to the workspace")] = "."
    depth: Annotated[int, Meta(ge=1, le=20, description="levels below the folder")] = 3


class ListFiles(Tool[ListFilesArgs]):
    """List files and folders in the workspace."""

    name = "workspace_list_files"
    family = Family.READ
    Args = ListFilesArgs

    def actions(self, args: ListFilesArgs, workspace: Workspace) -> Sequence[Action]:
        """List that folder."""
        return [List(workspace.locate(args.path))]

    async def run(self, args: ListFilesArgs, bench: Bench) -> Listing:
        """The names, as many as fit in an answer."""
        top = bench.workspace.locate(args.path)
        names = list(_walk(bench.workspace, top, top, args.depth))
        return Listing(names[:MOST], max(len(names) - MOST, 0))


def _walk(workspace: Workspace, top: str, folder: str, depth: int) -> Iterator[str]:
    for entry in workspace.listing(folder):
        name = os.path.relpath(entry.path, top)
        if not entry.is_dir(follow_symlinks=False):
            yield name
        elif entry.name not in UNSEEN:
            yield name + "/"
            if depth > 1:
                yield from _walk(workspace, top, entry.path, depth - 1)
