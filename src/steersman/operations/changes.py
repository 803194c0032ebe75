"""Planned changes of files, and what is left of them when only some hunks are accepted.

Nothing is written here.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from steersman.operations.matching import Note, counted, moved_diff, unified_diff, with_hunks
from steersman.operations.workspace import Workspace, digest
from steersman.records import names
from steersman.records.action import Delete, Write
from steersman.records.errors import ToolProblem
from steersman.records.hunks import FileHunks, hunks_of, parts_of
from steersman.records.message import DiffReady

MOST_SHOWN = 6_000  # characters of hunks that the model is shown again


class FileChange(Struct, frozen=True):
    """A file as it is and as it will be, None where there is none, and the action that does it.

    `notes` say how its edits matched; `cut` shows that only some hunks were accepted.
    """

    shown: str
    before: bytes | None
    after: bytes | None
    action: Write | Delete
    notes: tuple[Note, ...] = ()
    cut: bool = False

    @property
    def path(self) -> str:
        """The real path of the file."""
        return self.action.path

    @property
    def moved_from(self) -> str:
        """The path of the file that is moved here, if one is."""
        return self.action.moved_from if isinstance(self.action, Write) else ""

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        return self.action.diff


def change_of(
    workspace: Workspace,
    path: str,
    before: bytes | None,
    after: bytes | None,
    notes: Iterable[Note] = (),
    moved_from: str = "",
) -> FileChange:
    """The change that gives a file (real path) new content, or deletes it."""
    refuse_odd_name(path)
    shown = workspace.shown(path)
    was = "" if before is None else digest(before)
    diff = unified_diff(shown, before, after)
    action = (
        Delete(path, was, diff)
        if after is None
        else Write(path, was, digest(after), diff, moved_from=moved_from)
    )
    return FileChange(shown, before, after, action, tuple(notes))


def refuse_odd_name(path: str) -> None:
    """Refuse to edit a file whose real name is not text: it can only be reached through a link."""
    called = names.written(path)
    if called != path:
        raise ToolProblem(
            f"{names.shown(called)} cannot be edited: its name is not UTF-8.",
            try_this="Change it with a command.",
        )


def diffs_of(written: Sequence[Write | Delete], workspace: Workspace) -> Iterator[DiffReady]:
    """What was changed, file by file; one that was moved is one."""
    by_path = {one.path: one for one in written}
    moved = {one.moved_from for one in written if isinstance(one, Write)}
    for one in written:
        old = by_path.get(one.moved_from) if isinstance(one, Write) else None
        name, diff = workspace.shown(one.path), one.diff
        if old is not None:
            name = f"{workspace.shown(old.path)} → {name}"
            diff = moved_diff(old.diff, diff) or diff
        if one.path not in moved:
            yield DiffReady(name, diff, *counted(diff))


def accepted(
    changes: Sequence[FileChange], asked: Sequence[str], hunks: Sequence[FileHunks]
) -> tuple[list[FileChange], str]:
    """The changes with only the accepted hunks of the files asked about, and what was left out.

    A file without an accepted hunk is not among them; nor is the other half of its move.
    """
    chosen = dict.fromkeys(asked, frozenset[int]())
    chosen |= {one.path: frozenset(one.numbers) for one in hunks}
    for change in changes:
        halves = (change.path, change.moved_from)
        if change.moved_from and any(chosen.get(path) == frozenset() for path in halves):
            chosen |= dict.fromkeys(halves, frozenset[int]())
    kept, left_out = [], []
    for change in changes:
        everything = frozenset(range(1, parts_of(change.diff) + 1))
        numbers = chosen.get(change.path, everything)
        if numbers:
            kept.append(change if numbers == everything else _cut(change, numbers))
        left_out += _rejected(change, sorted(everything - numbers))
    return kept, _in_words(left_out)


def _cut(change: FileChange, numbers: frozenset[int]) -> FileChange:
    """A file that is there before and after, with some hunks of its change."""
    after = with_hunks(change.before, change.after, numbers)
    assert after is not None
    diff = unified_diff(change.shown, change.before, after)
    action = Write(change.path, change.action.before, digest(after), diff)
    return FileChange(change.shown, change.before, after, action, cut=True)


def _rejected(change: FileChange, numbers: Sequence[int]) -> list[str]:
    """The hunks of a file that were not accepted, each as it was proposed."""
    hunks = hunks_of(change.diff)
    if numbers and len(numbers) >= len(hunks):
        done = "created" if change.before is None else "deleted" if change.after is None else ""
        return [f"{change.shown}: all of it; the file was not {done or 'changed'}"]
    return [f"{change.shown}, hunk {n} of {len(hunks)}:\n{hunks[n - 1]}" for n in numbers]


def _in_words(left_out: Sequence[str]) -> str:
    """What the model gets to know about the hunks that were not accepted."""
    if not left_out:
        return ""
    said = ["The user accepted only a part of this change. These parts were left out:"]
    room = MOST_SHOWN
    for number, one in enumerate(left_out):
        if len(one) > room:
            said.append(f"… and {len(left_out) - number} more, of {len(left_out)} in all")
            break
        room -= len(one)
        said.append(one.rstrip("\n"))
    said.append("Do not make them again unless the user asks for it.")
    return "\n".join(said)
