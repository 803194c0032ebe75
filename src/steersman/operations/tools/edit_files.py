"""`workspace_edit_files`, with exact matches."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.action import Action, Read
from steersman.errors import ToolProblem
from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.tools.write_file import change
from steersman.operations.workspace import Workspace


class Edit(Struct, frozen=True, forbid_unknown_fields=True):
    """One replacement."""

    search: Annotated[str, Meta(description="text to find, exactly as it is in the file")]
    replace: Annotated[str, Meta(description="text to put in its place, taken literally")]
    replace_all: Annotated[bool, Meta(description="replace every occurrence")] = False


class FileEdits(Struct, frozen=True, forbid_unknown_fields=True):
    """The replacements in one file, applied in order."""

    path: Annotated[str, Meta(description="file, relative to the workspace")]
    edits: Annotated[list[Edit], Meta(min_length=1)]


class Edited(Struct, frozen=True):
    """Which files were changed, and how often."""

    files: list[str]
    replacements: int


class EditFilesArgs(Arguments, frozen=True):
    """Edits of one or more files, all or none."""

    files: Annotated[list[FileEdits], Meta(min_length=1)]


class EditFiles(Tool[EditFilesArgs]):
    """Replace text in files. Each search must occur exactly once unless replace_all is set."""

    name = "workspace_edit_files"
    family = Family.EDIT
    Args = EditFilesArgs

    def looks(self, args: EditFilesArgs, workspace: Workspace) -> Sequence[Action]:
        """The files as they are."""
        return [Read(workspace.locate(file.path)) for file in args.files]

    def actions(self, args: EditFilesArgs, workspace: Workspace) -> Sequence[Action]:
        """Every change, with its diff."""
        edited = _edited(args, workspace)
        return [change(workspace, path, before, after) for path, before, after in edited]

    async def run(self, args: EditFilesArgs, bench: Bench) -> Edited:
        """Write every file."""
        edited = _edited(args, bench.workspace)
        for path, _, after in edited:
            bench.workspace.write(path, after)
        count = sum(len(file.edits) for file in args.files)
        return Edited([bench.workspace.shown(path) for path, _, _ in edited], count)


def _edited(args: EditFilesArgs, workspace: Workspace) -> list[tuple[str, bytes, bytes]]:
    found: list[tuple[str, bytes, bytes]] = []
    for file in args.files:
        path = workspace.locate(file.path)
        if any(path == other for other, _, _ in found):
            raise ToolProblem(f"{file.path} is named twice.", try_this="Put its edits together.")
        before = workspace.read(path)
        after = before
        for number, edit in enumerate(file.edits, 1):
            after = replaced(after, edit, f"{file.path}, edit {number}")
        found.append((path, before, after))
    return found


def replaced(content: bytes, edit: Edit, where: str) -> bytes:
    """The content after one edit, or why it cannot be made."""
    search, replace = edit.search.encode(), edit.replace.encode()
    if not search:
        raise ToolProblem(f"{where}: the search is empty.", try_this="Name the text to replace.")
    if search == replace:
        raise ToolProblem(f"{where}: search and replace are the same.")
    places = _occurrences(content, search)
    if not places:
        hint = "The replacement is already there. " if replace and replace in content else ""
        raise ToolProblem(
            f"{where}: the search text does not occur.",
            hint.strip(),
            "Read the file and copy the text exactly, with its blanks.",
        )
    if len(places) > 1 and not edit.replace_all:
        lines = ", ".join(str(content.count(b"\n", 0, at) + 1) for at in places[:10])
        raise ToolProblem(
            f"{where}: the search text occurs {len(places)} times, at lines {lines}.",
            try_this="Add lines around it until it is unique, or set replace_all.",
        )
    return content.replace(search, replace)


def _occurrences(content: bytes, search: bytes) -> list[int]:
    """Where the text begins, overlapping places included."""
    places, start = [], content.find(search)
    while start >= 0:
        places.append(start)
        start = content.find(search, start + 1)
    return places
