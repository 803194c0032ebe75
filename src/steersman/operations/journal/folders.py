"""A folder and what is below it, reached name by name from an open root.

No link is followed in any part of a path, so nothing that is done here can leave the root, whatever
is moved or swapped meanwhile. Folders whose owner may not write in them are lent those rights and
get their own mode back when the tree is settled.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from steersman.operations.journal.looking import NOTHING, Seen, examine
from steersman.operations.journal.objects import Objects, sync_all
from steersman.records.errors import ToolProblem
from steersman.records.names import on_disk, written

ROOT = "."
HANDLE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC
_WALK = HANDLE | os.O_DIRECTORY
_SEARCH, _CHANGE = stat.S_IXUSR, stat.S_IWUSR | stat.S_IXUSR


def parts(path: str) -> tuple[str, ...]:
    """The names of a path relative to a root; refuses what is not plainly inside it."""
    if path == ROOT:
        return ()
    names = tuple(path.split("/"))
    if "\0" in path or any(name in ("", ".", "..") for name in names):
        raise ToolProblem(
            f"{path!r} is not a path inside the workspace.",
            "It must be relative, without empty parts, “.”, “..” or NUL characters.",
        )
    return names


def parent(path: str) -> str:
    """The folder a path is in."""
    return os.path.dirname(path) or ROOT


def depth(path: str) -> int:
    """How far below the root a path is."""
    return len(parts(path))


class Tree:
    """Everything below one root."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.modes: dict[str, int] = {}
        self._user = os.geteuid()
        try:
            self._top = os.open(root, _WALK)
        except OSError as error:
            raise ToolProblem(f"{root} is not a folder.", error.strerror or "") from error

    def close(self) -> None:
        """Let go of the root; no folder keeps what it was lent."""
        try:
            with suppress(OSError):
                self.settle()
        finally:
            os.close(self._top)

    @contextmanager
    def folder(self, path: str, rights: int = _CHANGE) -> Iterator[int]:
        """An open folder, fit as a `dir_fd`."""
        current = os.dup(self._top)
        try:
            names = parts(path)
            self._lend(current, (), _SEARCH if names else rights)
            for position, name in enumerate(names, 1):
                inner = os.open(on_disk(name), _WALK, dir_fd=current)
                os.close(current)
                current = inner
                needed = rights if position == len(names) else _SEARCH
                self._lend(current, names[:position], needed)
            yield current
        finally:
            os.close(current)

    @contextmanager
    def place(self, path: str, rights: int = _CHANGE) -> Iterator[tuple[int, str]]:
        """The open folder a path is in, and its name there."""
        with self.folder(parent(path), rights) as folder:
            yield folder, on_disk(os.path.basename(path))

    def examine(self, path: str, keep: Objects | None = None, durable: bool = True) -> Seen:
        """What is at a path; nothing, where its folder is missing or is none."""
        try:
            with self.place(path, _SEARCH) as (folder, name):
                return examine(name, at=folder, keep=keep, durable=durable, called=path)
        except (FileNotFoundError, NotADirectoryError):
            return NOTHING

    def content(self, path: str) -> bytes | None:
        """What a file holds now; None where there is none, or it may not be read."""
        try:
            with self.place(path, _SEARCH) as (folder, name):
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                with open(os.open(name, flags, dir_fd=folder), "rb") as file:
                    return file.read()
        except OSError:
            return None

    def stat(self, path: str) -> os.stat_result | None:
        """What the system says about a path."""
        try:
            with self.place(path, _SEARCH) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_folder(self, path: str) -> bool:
        """Whether a path can be walked into without following a link."""
        try:
            with self.folder(path, 0):
                return True
        except OSError:
            return False

    def names(self, path: str) -> list[str]:
        """What is in a folder."""
        with self._readable(path) as folder:
            return [written(name) for name in os.listdir(folder)]

    def sync(self, path: str) -> None:
        """Make the names in a folder last; one that may not be read is left to the system."""
        with suppress(PermissionError), self._readable(path) as folder:
            os.fsync(folder)

    def sync_disk(self) -> None:
        """Make everything on the disk of the root last."""
        with self._readable(ROOT) as folder:
            sync_all(folder)

    def settle(self) -> None:
        """Give folders the mode they should have, deepest first so that each can be reached.

        One that cannot be reached keeps none of the others from theirs.
        """
        problem: OSError | None = None
        while self.modes:
            for path in sorted(self.modes, key=depth, reverse=True):
                wanted = self.modes.pop(path)
                try:
                    with self.folder(path, 0) as folder:
                        if stat.S_IMODE(os.fstat(folder).st_mode) != wanted:
                            set_mode(folder, wanted)
                except OSError as error:
                    problem = problem or error
        if problem is not None:
            raise problem

    @contextmanager
    def _readable(self, path: str) -> Iterator[int]:
        with self.folder(path, stat.S_IRUSR | stat.S_IXUSR) as folder:
            readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
            try:
                yield readable
            finally:
                os.close(readable)

    def _lend(self, folder: int, names: tuple[str, ...], rights: int) -> None:
        """Let an owner do what they took from themselves; root needs no permission."""
        if self._user == 0:
            return
        found = os.fstat(folder)
        mode = stat.S_IMODE(found.st_mode)
        if mode & rights != rights and found.st_uid == self._user:
            self.modes.setdefault("/".join(names) or ROOT, mode)
            set_mode(folder, mode | rights)


def set_mode(handle: int, mode: int) -> None:
    """Give an open path its mode; works on one that may not be read."""
    if hasattr(os, "O_PATH"):
        os.chmod(f"/proc/self/fd/{handle}", mode)
    else:
        os.fchmod(handle, mode)


def set_mode_at(folder: int, name: str, mode: int) -> None:
    """Give a file its mode, by name, without following a link."""
    handle = os.open(name, HANDLE, dir_fd=folder)
    try:
        set_mode(handle, mode)
    finally:
        os.close(handle)
