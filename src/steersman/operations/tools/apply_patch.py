"""`workspace_apply_patch`."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from steersman.operations.editing import Outcome, looks_at, patch_all
from steersman.operations.matching import FilePatch, Refused, UpdateFile, parse_patch
from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.tools.edit_files import Edited, edited_files
from steersman.operations.tools.write_file import change
from steersman.operations.workspace import Workspace
from steersman.records.action import Action
from steersman.records.errors import ToolProblem


class ApplyPatchArgs(Arguments, frozen=True):
    """A patch of one or more files, all or none."""

    patch: Annotated[
        str, Meta(description="`*** Begin Patch` … `*** End Patch`, or a unified diff")
    ]
    include_diff: Annotated[bool, Meta(description="answer with the diff of each file")] = False


class ApplyPatch(Tool[ApplyPatchArgs]):
    """Add, change, move or delete files by a patch: the `*** Begin Patch` format, or a unified
    diff. All files of the patch are changed, or none."""

    name = "workspace_apply_patch"
    family = Family.EDIT
    Args = ApplyPatchArgs

    def looks(self, args: ApplyPatchArgs, workspace: Workspace) -> Sequence[Action]:
        """Every file the patch names, as it is."""
        return looks_at(workspace, dict.fromkeys(_names(_parsed(args))))

    def actions(self, args: ApplyPatchArgs, workspace: Workspace) -> Sequence[Action]:
        """Every change, with its diff."""
        outcome = _outcome(args, workspace)
        return [change(workspace, path, content) for path, content in outcome.contents.items()]

    async def run(self, args: ApplyPatchArgs, bench: Bench) -> Edited:
        """Write every file."""
        outcome = _outcome(args, bench.workspace)
        there = [path for path in outcome.contents if bench.workspace.exists(path)]
        before = {path: bench.workspace.read(path) for path in there}
        await bench.commit(outcome.contents)
        return Edited(edited_files(outcome, before, bench.workspace, args.include_diff))


def _parsed(args: ApplyPatchArgs) -> Sequence[FilePatch]:
    patches = parse_patch(args.patch)
    if isinstance(patches, Refused):
        raise ToolProblem(patches.message)
    return patches


def _outcome(args: ApplyPatchArgs, workspace: Workspace) -> Outcome:
    return patch_all(workspace, _parsed(args))


def _names(patches: Sequence[FilePatch]) -> list[str]:
    moved = [p.move_to for p in patches if isinstance(p, UpdateFile) and p.move_to is not None]
    return [*(patch.path for patch in patches), *moved]
