"""`workspace_edit_files`."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.changes import FileChange
from steersman.operations.matching import Edit as Matched
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool, changing
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.hunks import parts_of


class Edit(Struct, frozen=True, forbid_unknown_fields=True):
    """One replacement."""

    search: Annotated[str, Meta(description="text to find, copied from the file")]
    replace: Annotated[str, Meta(description="text to put in its place, taken literally")]
    replace_all: Annotated[bool, Meta(description="replace every occurrence")] = False


class FileEdits(Struct, frozen=True, forbid_unknown_fields=True):
    """The replacements in one file, applied in order."""

    path: Annotated[str, Meta(description="file, relative to the workspace")]
    edits: Annotated[list[Edit], Meta(min_length=1)]


class EditedFile(Struct, frozen=True, omit_defaults=True):
    """One changed file; `remarks` tell where a search did not match to the letter."""

    path: str
    replacements: int
    remarks: list[str] = []
    diff: str = ""


class Edited(Struct, frozen=True):
    """Every changed file."""

    files: list[EditedFile]


class EditFilesArgs(Arguments, frozen=True):
    """Edits of one or more files, all or none."""

    files: Annotated[list[FileEdits], Meta(min_length=1)]
    include_diff: Annotated[bool, Meta(description="answer with the diff of each file")] = False


class EditFiles(Tool[EditFilesArgs]):
    """Replace text in files, all edits or none. Each search must name one place in its file,
    unless replace_all is set. Line endings, indentation and encoding of the file are kept."""

    name = "workspace_edit_files"
    family = Family.EDIT
    Args = EditFilesArgs

    async def plan(self, args: EditFilesArgs, workspace: PlanningWorkspace) -> Plan[EditFilesArgs]:
        """Every change, with its diff."""
        from steersman.operations.editing import edit_all, looks_at

        seen = await workspace.look(looks_at(workspace, [file.path for file in args.files]))
        files = [
            (file.path, [Matched(e.search, e.replace, e.replace_all) for e in file.edits])
            for file in args.files
        ]
        return changing(args, await asyncio.to_thread(edit_all, seen, files))

    async def perform(self, plan: Plan[EditFilesArgs], bench: Bench) -> Edited:
        """Write every file."""
        await bench.commit(plan.contents)
        return Edited([edited(change, plan.args.include_diff) for change in plan.changes])


def edited(change: FileChange, include_diff: bool) -> EditedFile:
    """What was done to a file, in words; of one that was cut, the diff shows what is left."""
    if change.cut:
        return EditedFile(change.shown, parts_of(change.diff), diff=change.diff)
    inexact = [note for note in change.notes if note.tier not in ("exact", "placed")]
    remarks = [f"matched by {note.tier}, so this is what is there now:\n{note.hunk}"
               for note in inexact]  # fmt: skip
    count = sum(note.count for note in change.notes)
    return EditedFile(change.shown, count, remarks, change.diff if include_diff else "")
