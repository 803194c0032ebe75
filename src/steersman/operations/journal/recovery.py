"""Commits that were cut off, by a kill or a power cut: noted before they begin, undone later.

A note is a locked file in the journal. It is empty again when its commit is over, and the next one
is written into it: a file that exists is flushed faster than a new one and its folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import msgspec
from msgspec import Struct

from steersman.operations.journal.changeset import same
from steersman.operations.journal.folders import ROOT, Tree, depth, parent
from steersman.operations.journal.locks import claim, release
from steersman.operations.journal.looking import Seen, Special
from steersman.operations.journal.objects import Objects, opened, write_all
from steersman.operations.journal.steps import HIDDEN
from steersman.records.change import Change

_PENDING, _REVERTED = "pending", "reverted"
_ROOM = 4096  # of a note; those of large commits are larger


class Pending(Struct, frozen=True, omit_defaults=True):
    """A commit on its way; its changes start from what was really there.

    `thread` and `seq` are those of its checkpoint, if it has one.
    """

    root: str
    token: str
    changes: list[Change]
    thread: str = ""
    seq: int = 0


@contextmanager
def noted(objects: Objects, pending: Pending) -> Iterator[None]:
    """A commit in progress; its note is gone when it is over, however it went."""
    note = _spare(objects)
    try:
        write_all(note, msgspec.json.encode(pending).ljust(_ROOM), 0)
        os.fdatasync(note)
        yield
    finally:
        # No commit is under way any more, whatever is read of it.
        write_all(note, b" " * _ROOM, 0)
        if os.fstat(note).st_size > _ROOM:
            os.ftruncate(note, _ROOM)
        objects.spare_notes.append(note)


def _spare(objects: Objects) -> int:
    """A note that no commit uses, old or new."""
    try:
        return objects.spare_notes.pop()
    except IndexError:
        folder = _folder(objects, _PENDING)
    note = None
    while note is None:  # who looks for commits that were cut off may have it for a moment
        note = claim(os.path.join(folder, token_hex(6)))
    write_all(note, b" " * _ROOM, 0)
    os.fsync(note)
    _flush(folder)
    return note


def cut_off(objects: Objects) -> Iterator[Pending]:
    """Commits whose process ended before they did; each is forgotten once it was dealt with.

    One in a folder that is not there waits: it may be on a disk that comes back.
    """
    folder = _folder(objects, _PENDING)
    for token in sorted(os.listdir(folder)):
        path = os.path.join(folder, token)
        claimed = claim(path)
        if claimed is None:
            continue
        try:
            pending = _read(claimed)
            if pending is not None and not os.path.isdir(pending.root):
                os.close(claimed)
                continue
            if pending is not None:
                yield pending
        except BaseException:
            os.close(claimed)
            raise
        release(path, claimed)


def under_way(objects: Objects, thread: str) -> bool:
    """Whether a change of a thread is being made, or was cut off."""
    folder = _folder(objects, _PENDING)
    for token in os.listdir(folder):
        with suppress(FileNotFoundError), opened(os.path.join(folder, token)) as note:
            pending = _read(note)
            if pending is not None and pending.thread == thread:
                return True
    return False


def note_reverted(objects: Objects, pending: Pending) -> None:
    """Leave word for the thread of a commit, whose log still says that it was made."""
    if pending.thread:
        folder = _folder(objects, _REVERTED)
        Path(folder, f"{pending.thread}.{pending.seq}").touch()
        _flush(folder)


def reverted(objects: Objects, thread: str) -> list[int]:
    """The checkpoints of a thread whose commits were reverted, and its log does not say so."""
    try:
        names = os.listdir(os.path.join(objects.folder, _REVERTED))
    except FileNotFoundError:
        return []
    own = (name.rpartition(".") for name in names)
    return sorted(int(seq) for owner, _, seq in own if owner == thread)


def forget_reverted(objects: Objects, thread: str, seqs: Iterable[int]) -> None:
    """The log of a thread says now that these never happened."""
    for seq in seqs:
        Path(objects.folder, _REVERTED, f"{thread}.{seq}").unlink(missing_ok=True)


def is_done(tree: Tree, pending: Pending) -> bool:
    """Whether a commit got to its end, and only its note was still there."""
    found = ((_seen(tree, change.path), change.after) for change in pending.changes)
    return all(seen is not None and same(seen.state, after) for seen, after in found)


def way_back(tree: Tree, pending: Pending) -> tuple[list[Change], list[str]]:
    """What takes a cut-off commit back, and the paths that someone else changed since."""
    back, foreign = [], []
    for change in pending.changes:
        seen = _seen(tree, change.path)
        if seen is None:
            foreign.append(change.path)
            continue
        now = seen.state
        if same(now, change.before):
            continue
        known = {change.before.digest, change.after.digest}
        torn = seen.stat is not None and seen.stat.st_nlink > 1
        if now.kind == "file" and now.digest not in known and not torn:
            foreign.append(change.path)
        else:
            back.append(Change(change.path, now, change.before))
    filled = _filled(tree, back)
    return [change for change in back if change.path not in filled], [*foreign, *filled]


def _seen(tree: Tree, path: str) -> Seen | None:
    """What is at a path; None for a pipe or the like, which is someone else's."""
    try:
        return tree.examine(path)
    except Special:
        return None


def _filled(tree: Tree, changes: Sequence[Change]) -> list[str]:
    """Folders that would go, but someone put something into them since."""
    going = {change.path: change for change in changes if change.after.kind == "absent"}
    filled = []
    for path in sorted(going, key=depth, reverse=True):
        inside = tree.names(path) if going[path].before.kind == "folder" else []
        if any(f"{path}/{name}" not in going for name in inside):
            filled.append(path)
            del going[path]
    return filled


def remove_hidden(root: str, token: str, changes: Sequence[Change]) -> None:
    """Remove the files a commit had staged or set aside."""
    folders = {ROOT}
    for change in changes:
        folder = parent(change.path)
        while folder not in folders:
            folders.add(folder)
            folder = parent(folder)
    with closing(Tree(root)) as tree:
        for folder in folders:
            with suppress(OSError), tree.folder(folder) as opened_folder:
                for name in tree.names(folder):
                    if name.startswith(f"{HIDDEN}{token}-"):
                        os.unlink(name, dir_fd=opened_folder)
        tree.settle()


def _folder(objects: Objects, name: str) -> str:
    folder = os.path.join(objects.folder, name)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def _flush(folder: str) -> None:
    with opened(folder, os.O_DIRECTORY) as opened_folder:
        os.fsync(opened_folder)


def _read(descriptor: int) -> Pending | None:
    """The note, or nothing when the cut came before it was whole: then nothing was touched."""
    size = os.fstat(descriptor).st_size
    try:
        return msgspec.json.decode(os.pread(descriptor, size, 0), type=Pending)
    except msgspec.DecodeError:
        return None
