"""`workspace_edit_files`."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.editing import Outcome, edit_all, looks_at
from steersman.operations.matching import Edit as Matched
from steersman.operations.matching import unified_diff
from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.tools.write_file import change
from steersman.operations.workspace import Workspace
from steersman.records.action import Action


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

    def looks(self, args: EditFilesArgs, workspace: Workspace) -> Sequence[Action]:
        """The files as they are."""
        return looks_at(workspace, [file.path for file in args.files])

    def actions(self, args: EditFilesArgs, workspace: Workspace) -> Sequence[Action]:
        """Every change, with its diff."""
        outcome = _outcome(args, workspace)
        return [change(workspace, path, content) for path, content in outcome.contents.items()]

    async def run(self, args: EditFilesArgs, bench: Bench) -> Edited:
        """Write every file."""
        outcome = _outcome(args, bench.workspace)
        before = {path: bench.workspace.read(path) for path in outcome.contents}
        await bench.commit(outcome.contents)
        return Edited(edited_files(outcome, before, bench.workspace, args.include_diff))


def _outcome(args: EditFilesArgs, workspace: Workspace) -> Outcome:
    return edit_all(
        workspace,
        (
            (file.path, [Matched(e.search, e.replace, e.replace_all) for e in file.edits])
            for file in args.files
        ),
    )


def edited_files(
    outcome: Outcome, before: dict[str, bytes], workspace: Workspace, include_diff: bool
) -> list[EditedFile]:
    """What was done to each file, in words."""
    found = []
    for path, content in outcome.contents.items():
        notes = outcome.notes.get(path, [])
        inexact = [n for n in notes if n.tier not in ("exact", "placed")]
        remarks = [f"matched by {note.tier}, so this is what is there now:\n{note.hunk}"
                   for note in inexact]  # fmt: skip
        shown = workspace.shown(path)
        diff = unified_diff(shown, before.get(path), content) if include_diff else ""
        found.append(EditedFile(shown, sum(note.count for note in notes), remarks, diff))
    return found
