"""Hiding files by the thousand: one more layer of an overlay, with a placeholder for each.

A cover is a mount, and each mount takes longer than the one before. A placeholder is a socket with
no listener: it cannot be opened, not even by root, and is not a regular file. Unlike a cover
it can be removed in a view; what a command does to it is not taken over.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterable

from steersman.operations.running.disk import holds
from steersman.operations.running.masks import MOST, above, hidden
from steersman.operations.running.scratch import Scratch
from steersman.records.names import shown, written


def inner(root: str, paths: Iterable[str]) -> list[str]:
    """The paths in a workspace that are to be hidden."""
    return [path for path in hidden(paths, root) if holds(root, path) and path != root]


def too_many(root: str, paths: Iterable[str]) -> list[str]:
    """The paths in a workspace that are to be hidden, if they are too many for covers."""
    found = inner(root, paths)
    return found if len(found) > MOST else []


def layer(root: str, paths: Collection[str], scratch: Scratch) -> str:
    """A folder with placeholders, in folders like those of the workspace."""
    veil = scratch.inner("veil")
    folders = [root, *above(paths, root)]
    for folder in folders[1:]:
        os.mkdir(_in(veil, folder, root), 0o700)
    for path in paths:
        _placeholder(_in(veil, path, root))
    for folder in reversed(folders):  # what is in a folder changes its time
        _alike(folder, _in(veil, folder, root))
    return veil


def replace(root: str, paths: Collection[str], copy: str) -> None:
    """Put placeholders into a copy of a workspace."""
    for path in paths:
        place = _in(copy, path, root)
        if not os.path.lexists(place):  # it came after the copy was made
            continue
        parent = os.path.dirname(place)
        about = os.stat(parent)
        os.chmod(parent, 0o700)
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.rmtree(place)
            os.mkdir(place, 0)
        else:
            os.unlink(place)
            _placeholder(place)
        os.chmod(parent, stat.S_IMODE(about.st_mode))
        os.utime(parent, ns=(about.st_atime_ns, about.st_mtime_ns))


class Spared:
    """The paths of records that stay as they are, whatever became of their placeholders."""

    def __init__(self, root: str = "", paths: Collection[str] = ()) -> None:
        self._root = root
        self._paths = frozenset(_name(path, root) for path in paths)
        self._above = frozenset(_name(path, root) for path in above(paths, root))

    def covers(self, path: str) -> bool:
        """Whether a path is one of them, or in one."""
        while path and self._paths:
            if path in self._paths:
                return True
            path = os.path.dirname(path)
        return False

    def stays(self, path: str) -> bool:
        """Whether a folder has one of them in it."""
        return path in self._above

    @staticmethod
    def note(path: str) -> str:
        """What the result says of a change that is not taken over."""
        return (
            f"Not kept: what was done to {shown(path)}, which is hidden or contains hidden files."
        )


NOTHING_SPARED = Spared()


def _name(path: str, root: str) -> str:
    return written(os.path.relpath(path, root))


def _in(folder: str, path: str, root: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.relpath(path, root)))


def _placeholder(path: str) -> None:
    os.mknod(path, stat.S_IFSOCK)


def _alike(folder: str, made: str) -> None:
    """An overlay shows the folder of its uppermost layer: owner, mode and time."""
    about = os.stat(folder)
    if os.geteuid() == 0:
        os.chown(made, about.st_uid, about.st_gid)
    os.chmod(made, stat.S_IMODE(about.st_mode))
    os.utime(made, ns=(about.st_atime_ns, about.st_mtime_ns))
