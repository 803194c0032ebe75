"""Pipes, sockets and devices that a command made where it works on the folder itself.

Nothing can be kept of them. Most are in nobody's way; but where one has taken the place of
something, or is in a folder that is new, an undo fails unless it goes. A socket elsewhere may be
that of a program which someone just started.
"""

import os
import stat
from collections.abc import Sequence
from contextlib import closing

from msgspec.structs import replace

from steersman.operations.journal.changeset import Changeset
from steersman.operations.journal.folders import Tree, parent
from steersman.operations.journal.looking import is_special, special
from steersman.records.change import Change
from steersman.records.names import shown


def without_specials(root: str, found: Changeset) -> Changeset:
    """The changes, and the disk, without new pipes, and whatever else an undo would have to remove.

    That is what a command gets that is confined.
    """
    return _settled(root, found, remove=True)


def with_specials(root: str, found: Changeset) -> Changeset:
    """The changes, with what an undo has to remove; a command that was let out keeps it."""
    return _settled(root, found, remove=False)


def _settled(root: str, found: Changeset, *, remove: bool) -> Changeset:
    if not found.special:
        return found
    made = {one.path for one in found.changes if one.before.kind != "folder" == one.after.kind}
    gone = {one.path for one in found.changes if one.after.kind == "absent"}
    blocks = [path for path in found.special if path in gone or parent(path) in made]
    with closing(Tree(root)) as tree:
        try:
            notes = [_note(tree, path, blocks=path in blocks, remove=remove)
                     for path in found.special]  # fmt: skip
        finally:
            tree.settle()
    return replace(found, notes=[*found.notes, *notes], special=[] if remove else blocks)


def _note(tree: Tree, path: str, *, blocks: bool, remove: bool) -> str:
    """What becomes of a new one, which is removed if it may be."""
    try:
        with tree.place(path) as (folder, name):
            about = os.stat(name, dir_fd=folder, follow_symlinks=False)
            goes = stat.S_ISFIFO(about.st_mode) or (blocks and is_special(about))
            if remove and goes:
                os.unlink(name, dir_fd=folder)
                return f"Not kept: {special(path, about).what}"
    except OSError as error:
        return f"Cannot be undone: {shown(path)} ({error.strerror})"
    if blocks:
        return f"{special(path, about).what} Undo removes it; redo cannot bring it back."
    return f"Cannot be undone: {special(path, about).what}"


def in_the_way(root: str, changes: Sequence[Change]) -> list[str]:
    """Pipes, sockets and devices where something comes back, or in folders that go."""
    with closing(Tree(root)) as tree:
        try:
            places = [change.path for change in changes if change.before.kind == "absent"]
            for change in changes:
                goes = change.before.kind == "folder" != change.after.kind
                if goes and tree.is_folder(change.path):
                    places += [f"{change.path}/{name}" for name in tree.names(change.path)]
            return [path for path in dict.fromkeys(places) if is_special(tree.stat(path))]
        finally:
            tree.settle()
