"""What a run did to a workspace, however that was found out."""

import stat

from msgspec import Struct
from msgspec.structs import replace

from steersman.records.change import Change, FileState

_POWER = stat.S_ISUID | stat.S_ISGID


class Changeset(Struct, frozen=True):
    """Changes by path, and what else must be known to commit them or to speak of them.

    `times` are the times of change of files; `remove` names pipes, sockets and the like that are
    gone and cannot be restored; `meanwhile` names paths that someone else changed during the run.
    """

    changes: list[Change]
    times: dict[str, int] = {}
    remove: list[str] = []
    notes: list[str] = []
    meanwhile: list[str] = []


def same(one: FileState, other: FileState) -> bool:
    """Whether two states are the same to whoever uses the path."""
    if one.kind != other.kind:
        return False
    if one.kind == "link":
        return one.target == other.target
    return (one.mode, one.digest) == (other.mode, other.digest)


def without_power(before: FileState, after: FileState) -> FileState:
    """A state without the bits by which a program runs as its owner, unless they were there."""
    if after.kind != "file":
        return after
    had = before.mode if before.kind == "file" else 0
    return replace(after, mode=after.mode & ~(_POWER & ~had))
