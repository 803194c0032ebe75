"""Commits that were cut off, by a kill or a power cut: noted before they begin, undone later.

A note is a locked file in the journal. It is empty again when its commit is over, and the next one
is written into it: a file that exists is flushed faster than a new one and its folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
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

_FOLDER = "pending"
_ROOM = 4096  # of a note; those of large commits are larger


class Pending(Struct, frozen=True):
    """A commit on its way; its changes start from what was really there."""

    root: str
    token: str
    changes: list[Change]


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
        folder = _folder(objects)
    note = None
    while note is None:  # who looks for commits that were cut off may have it for a moment
        note = claim(os.path.join(folder, token_hex(6)))
    write_all(note, b" " * _ROOM, 0)
    os.fsync(note)
    with opened(folder, os.O_DIRECTORY) as opened_folder:
        os.fsync(opened_folder)
    return note


def cut_off(objects: Objects) -> Iterator[Pending]:
    """Commits whose process ended before they did; each is forgotten once it was dealt with.

    One in a folder that is not there waits: it may be on a disk that comes back.
    """
    for token in sorted(os.listdir(_folder(objects))):
        path = os.path.join(_folder(objects), token)
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


def _folder(objects: Objects) -> str:
    folder = os.path.join(objects.folder, _FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def _read(descriptor: int) -> Pending | None:
    """The note, or nothing when the cut came before it was whole: then nothing was touched."""
    size = os.fstat(descriptor).st_size
    try:
        return msgspec.json.decode(os.pread(descriptor, size, 0), type=Pending)
    except msgspec.DecodeError:
        return None
