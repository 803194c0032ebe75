"""What a run did to a workspace, however that was found out."""

import stat

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.journal.folders import ROOT
from steersman.records.change import Change, FileState
from steersman.records.names import shown
from steersman.records.protection import protected_name

_POWER = stat.S_ISUID | stat.S_ISGID


class Changeset(Struct, frozen=True):
    """Changes by path, and what else must be known to commit them or to speak of them.

    `times` are the times of change of files; `remove` names pipes, sockets and the like that are
    gone and cannot be restored; `meanwhile` names paths that someone else changed during the run;
    `special` are new pipes and the like, where a command worked on the workspace itself.
    """

    changes: list[Change]
    times: dict[str, int] = {}
    remove: list[str] = []
    notes: list[str] = []
    meanwhile: list[str] = []
    special: list[str] = []


def same(one: FileState, other: FileState) -> bool:
    """Whether two states are the same to whoever uses the path."""
    if one.kind != other.kind:
        return False
    if one.kind == "link":
        return one.target == other.target
    return (one.mode, one.digest) == (other.mode, other.digest)


def tamed(path: str, before: FileState, after: FileState) -> tuple[FileState, list[str]]:
    """A state as it may be taken over, and notes on what of it may not."""
    state, notes = without_power(before, after), []
    if state != after:
        notes.append(f"Not kept: that {shown(path)} runs as its owner.")
    kept = _still_usable(path, before, state)
    if kept != state:
        what = "the workspace" if path == ROOT else shown(path)
        notes.append(f"Not kept: that the owner of {what} can no longer use it.")
    return kept, notes


def _still_usable(path: str, before: FileState, after: FileState) -> FileState:
    """A state that does not lock its owner out of the workspace or of what is protected in it."""
    if before.kind != after.kind or not protected_name(path):
        return after
    needed = {"folder": stat.S_IRWXU, "file": stat.S_IRUSR}.get(after.kind, 0)
    lost = before.mode & ~after.mode & needed
    return replace(after, mode=before.mode) if lost else after


def without_power(before: FileState, after: FileState) -> FileState:
    """A state without the bits by which a program runs as its owner, unless they were there."""
    if after.kind != "file":
        return after
    had = before.mode if before.kind == "file" else 0
    return replace(after, mode=after.mode & ~(_POWER & ~had))
