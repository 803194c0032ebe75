"""From edits and patches to the new contents of files; nothing is written here."""

import os
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from steersman.operations.matching import (
    AddFile,
    Applied,
    DeleteFile,
    Edit,
    FilePatch,
    Note,
    Refused,
    UpdateFile,
    apply_edits,
    apply_hunks,
)
from steersman.operations.workspace import Workspace
from steersman.records.action import Action, List, Read
from steersman.records.errors import ToolProblem

PRESENT_LINES = 20
Contents = dict[str, bytes | None]


class Outcome(Struct, frozen=True):
    """The new contents by real path (None: taken away), and how each file's edits matched."""

    contents: Contents
    notes: dict[str, list[Note]]


def edit_all(workspace: Workspace, files: Iterable[tuple[str, Sequence[Edit]]]) -> Outcome:
    """The outcome of edits of several files, all of them possible or none made."""
    outcome = Outcome({}, {})
    for name, edits in files:
        path = once(workspace, name, outcome.contents)
        answer = apply_edits(readable(workspace, path, name), edits)
        keep(outcome, workspace, path, name, answer)
    return outcome


def patch_all(workspace: Workspace, patches: Iterable[FilePatch]) -> Outcome:
    """The outcome of a patch of several files."""
    outcome = Outcome({}, {})
    for patch in patches:
        path = once(workspace, patch.path, outcome.contents)
        match patch:
            case AddFile(content=content):
                refuse_existing(workspace, path, patch.path)
                outcome.contents[path] = content.encode()
            case DeleteFile():
                readable(workspace, path, patch.path)
                outcome.contents[path] = None
            case UpdateFile(hunks=hunks, move_to=move_to):
                before = readable(workspace, path, patch.path)
                answer = apply_hunks(before, hunks) if hunks else Applied(before, [])
                keep(outcome, workspace, path, patch.path, answer)
                if move_to is not None:
                    _move(workspace, outcome, path, move_to)
    return outcome


def _move(workspace: Workspace, outcome: Outcome, path: str, name: str) -> None:
    target = once(workspace, name, outcome.contents)
    refuse_existing(workspace, target, name)
    outcome.contents[target] = outcome.contents[path]
    outcome.contents[path] = None


def once(workspace: Workspace, name: str, taken: Mapping[str, bytes | None]) -> str:
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
            "A new file is made with workspace_write_file.",
        )
    return workspace.read(path)


def refuse_existing(workspace: Workspace, path: str, name: str) -> None:
    """A new file must not replace another."""
    if workspace.exists(path):
        raise ToolProblem(f"{name} exists already.", try_this="Change it, or choose another name.")


def looks_at(workspace: Workspace, names: Iterable[str]) -> list[Action]:
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
    return f"Near names there: {', '.join(close)}." if close else ""


def keep(
    outcome: Outcome, workspace: Workspace, path: str, name: str, answer: Applied | Refused
) -> None:
    """Take a file's new content into the outcome, or raise what stands against it."""
    if isinstance(answer, Applied):
        outcome.contents[path] = answer.content
        outcome.notes[path] = answer.notes
        return
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
