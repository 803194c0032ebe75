"""`workspace_apply_patch`."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool, changing
from steersman.operations.tools.edit_files import Edited, edited
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.errors import ToolProblem

if TYPE_CHECKING:
    from steersman.operations.matching import FilePatch


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

    async def plan(
        self, args: ApplyPatchArgs, workspace: PlanningWorkspace
    ) -> Plan[ApplyPatchArgs]:
        """Every change, with its diff."""
        from steersman.operations.editing import looks_at, patch_all

        patches = await asyncio.to_thread(_parsed, args.patch)
        seen = await workspace.look(looks_at(workspace, dict.fromkeys(_names(patches))))
        return changing(args, await asyncio.to_thread(patch_all, seen, patches))

    async def perform(self, plan: Plan[ApplyPatchArgs], bench: Bench) -> Edited:
        """Write every file."""
        await bench.commit(plan.contents)
        return Edited([edited(change, plan.args.include_diff) for change in plan.changes])


def patched(patch: str) -> list[str]:
    """The files that a patch names, all that it would touch; none where it cannot be applied."""
    try:
        return _names(_parsed(patch))
    except ToolProblem:
        return []


def _parsed(patch: str) -> "Sequence[FilePatch]":
    from steersman.operations.matching import Refused, parse_patch

    patches = parse_patch(patch)
    if isinstance(patches, Refused):
        raise ToolProblem(patches.message)
    return patches


def _names(patches: "Sequence[FilePatch]") -> list[str]:
    from steersman.operations.matching import UpdateFile

    moved = [p.move_to for p in patches if isinstance(p, UpdateFile) and p.move_to is not None]
    return [*(patch.path for patch in patches), *moved]
