"""From edits and patches to planned changes of files; nothing is written here."""

import os
from collections.abc import Container, Iterable, Sequence

from steersman.operations.changes import FileChange, change_of
from steersman.operations.matching import (
    AddFile,
    Applied,
    DeleteFile,
    Edit,
    FilePatch,
    Refused,
    UpdateFile,
    apply_edits,
    apply_hunks,
)
from steersman.operations.workspace import Look, Workspace
from steersman.records.action import List, Read
from steersman.records.errors import ToolProblem

PRESENT_LINES = 20
Changes = dict[str, FileChange]


def edit_all(workspace: Workspace, files: Iterable[tuple[str, Sequence[Edit]]]) -> list[FileChange]:
    """The changes by edits of several files, all of them possible or none made."""
    changes: Changes = {}
    for name, edits in files:
        path = once(workspace, name, changes)
        before = readable(workspace, path, name)
        applied = checked(workspace, path, name, apply_edits(before, edits))
        changes[path] = change_of(workspace, path, before, applied.content, applied.notes)
    return list(changes.values())


def patch_all(workspace: Workspace, patches: Iterable[FilePatch]) -> list[FileChange]:
    """The changes by a patch of several files."""
    changes: Changes = {}
    for patch in patches:
        path = once(workspace, patch.path, changes)
        match patch:
            case AddFile(content=content):
                refuse_existing(workspace, path, patch.path)
                changes[path] = change_of(workspace, path, None, content.encode())
            case DeleteFile():
                before = readable(workspace, path, patch.path)
                changes[path] = change_of(workspace, path, before, None)
            case UpdateFile():
                changes |= _updated(workspace, path, patch, changes)
    return list(changes.values())


def _updated(workspace: Workspace, path: str, patch: UpdateFile, taken: Changes) -> Changes:
    """The change of a file by its hunks; two changes where it is moved as well."""
    before = readable(workspace, path, patch.path)
    answer = apply_hunks(before, patch.hunks) if patch.hunks else Applied(before, [])
    applied = checked(workspace, path, patch.path, answer)
    after, notes = applied.content, applied.notes
    if patch.move_to is None:
        return {path: change_of(workspace, path, before, after, notes)}
    target = once(workspace, patch.move_to, {*taken, path})
    refuse_existing(workspace, target, patch.move_to)
    return {
        path: change_of(workspace, path, before, None, notes),
        target: change_of(workspace, target, None, after, moved_from=path),
    }


def once(workspace: Workspace, name: str, taken: Container[str]) -> str:
    """The real path of a name, which no other name of the same call may lead to."""
    path = workspace.locate(name)
    if path in taken:
        raise ToolProblem(
            f"{name} is named twice in one call, or by two links.",
            try_this="Put all changes of one file together.",
        )
    return path


def readable(workspace: Workspace, path: str, name: str) -> bytes:
    """The content of a file that is to be changed."""
    if not workspace.exists(path):
        raise ToolProblem(
            f"{name} does not exist.",
            near_names(workspace, path),
            "Create a new file with workspace_write_file.",
        )
    return workspace.read(path)


def refuse_existing(workspace: Workspace, path: str, name: str) -> None:
    """A new file must not replace another."""
    if workspace.exists(path):
        raise ToolProblem(f"{name} already exists.", try_this="Change it, or choose another name.")


def looks_at(workspace: Workspace, names: Iterable[str]) -> list[Look]:
    """What must be looked at to change files: each of them, or the names beside a missing one."""
    paths = [workspace.locate(name) for name in names]
    missing = {os.path.dirname(path): None for path in paths if not os.path.lexists(path)}
    return [*map(Read, paths), *(List(folder) for folder in missing if os.path.isdir(folder))]


def near_names(workspace: Workspace, path: str) -> str:
    """Names beside a missing file that look like it, as a sentence."""
    import difflib

    try:
        names = [entry.name for entry in workspace.listing(os.path.dirname(path))]
    except ToolProblem:
        return ""
    close = difflib.get_close_matches(os.path.basename(path), names, n=3)
    return f"Similar names: {', '.join(close)}." if close else ""


def checked(workspace: Workspace, path: str, name: str, answer: Applied | Refused) -> Applied:
    """What the edits of a file made of it; raises what prevents them."""
    if isinstance(answer, Applied):
        return answer
    number = f", edit {answer.edit + 1}" if answer.edit else ""
    if not workspace.is_stale(path):
        raise ToolProblem(f"{name}{number}: {answer.message}", "No file was changed.")
    present = workspace.read(path).decode("utf-8", errors="replace").splitlines()
    shown = "\n".join(f"{n}\t{line[:200]}" for n, line in enumerate(present[:PRESENT_LINES], 1))
    raise ToolProblem(
        f"{name}{number}: {name} changed since it was read. {answer.message}",
        f"No file was changed. It now begins:\n{shown}",
        "Read it again, then repeat the edit.",
    )
