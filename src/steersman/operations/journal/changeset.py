"""What a run did to a workspace, however that was found out."""

from msgspec import Struct

from steersman.records.change import Change, FileState


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


def is_text(name: str) -> bool:
    """Whether a name can be written into a log; a name on disk may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def unwritable(path: str) -> str:
    """The note about a name that is not text."""
    shown = path.encode("utf-8", "backslashreplace").decode()
    return f"Left out, because its name is not text: {shown}"
