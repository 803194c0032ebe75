"""What a sandbox covers: files nobody may read, and files nobody may change, present or not.

A hidden file is covered by a device on a mount without devices: whatever opens it is told that
permission is denied, root too, and whatever only asks finds no ordinary file, so that no program
takes an emptied secret for the real one. A folder above a cover could be renamed, and the cover
would leave with it; where the workspace is mounted as it is, such folders are mounted on
themselves, which pins them. What is missing is held by a stub, removed when the command has ended.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct

from steersman.operations.running.disk import holds
from steersman.operations.running.scratch import Scratch, folders
from steersman.records.errors import ToolProblem

MOST = 400
_NOTHING = "/dev/null"
_STUBS = "stubs"


def hidden(paths: Iterable[str]) -> list[str]:
    """The real paths that exist, outermost only: what is in a covered folder is covered."""
    found = outermost(os.path.realpath(path) for path in paths if os.path.exists(path))
    if len(found) > MOST:
        raise ToolProblem(
            f"{len(found):,} files and folders are to be hidden from the command.",
            f"A sandbox covers {MOST} at most, each by itself.",
            "Name folders instead of the files in them in .steersmanignore.",
        )
    return found


def outermost(paths: Iterable[str]) -> list[str]:
    """Paths without those inside others, in order."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not kept or not holds(kept[-1], path):
            kept.append(path)
    return kept


def covers(paths: Iterable[str]) -> list[str]:
    """The words for bubblewrap that cover real paths."""
    words: list[str] = []
    for path in paths:
        if stat.S_ISDIR(os.stat(path).st_mode):
            words += ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
        else:
            words += ["--ro-bind", _NOTHING, path]
    return words


def above(paths: Iterable[str], root: str) -> list[str]:
    """The folders between a workspace and paths in it, outer ones first."""
    found = set()
    for path in paths:
        parent = os.path.dirname(path)
        while holds(root, parent) and parent != root:
            found.add(parent)
            parent = os.path.dirname(parent)
    return sorted(found)


class Stub(Struct, frozen=True, array_like=True):
    """Something that holds the place of a missing path; the rest tells it from what came later."""

    path: str
    device: int
    inode: int
    changed_ns: int

    @classmethod
    def at(cls, path: str) -> Stub:
        """What is there now."""
        found = os.lstat(path)
        return cls(path, found.st_dev, found.st_ino, found.st_ctime_ns)


class Protection:
    """Keeps paths of a workspace that is mounted as it is from being changed or made."""

    def __init__(self, root: str, paths: Iterable[str], scratch: Scratch) -> None:
        self._parent = os.path.dirname(scratch.folder)
        self._record = scratch.path(_STUBS)
        self._stubs: list[Stub] = []
        others = {stub.path: stub for stub in _known(self._parent)}
        self.paths: list[str] = []
        for path in paths:
            place = os.path.realpath(path)
            made = any(holds(stub.path, place) for stub in self._stubs)
            if made or not holds(root, place) or place == root:
                continue
            missing = _first_missing(place)
            if missing:
                self._make(missing, folder=missing != place or path.endswith("/"))
            elif place in others:
                self._stubs.append(others[place])
            self.paths.append(missing or place)
        self.paths = outermost(self.paths)
        self._write()

    def words(self) -> list[str]:
        """The words for bubblewrap that make them read-only."""
        return [word for path in self.paths for word in ("--ro-bind", path, path)]

    def remove(self) -> None:
        """Remove the stubs that no other run needs."""
        with suppress(FileNotFoundError):
            os.unlink(self._record)
        _remove(self._stubs, {stub.path for stub in _known(self._parent)})
        self._stubs = []

    def _make(self, path: str, *, folder: bool) -> None:
        try:
            if folder:
                os.mkdir(path, 0o555)
            else:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444))
        except FileExistsError:
            return
        except OSError as error:
            raise ToolProblem(f"{path} cannot be protected.", error.strerror or "") from error
        self._stubs.append(Stub.at(path))
        self._write()

    def _write(self) -> None:
        if self._stubs:
            with open(self._record, "wb") as file:
                file.write(msgspec.json.encode(self._stubs))


def stubs(parent: str) -> set[str]:
    """The paths that stubs of runs hold now; `parent` is the folder of all their scratch."""
    return {stub.path for stub in _known(parent)}


def remove_stubs(folder: str) -> None:
    """Remove the stubs of a run whose process is dead."""
    others = _known(os.path.dirname(folder), but=folder)
    _remove(_read(folder), {stub.path for stub in others})


def _known(parent: str, but: str = "") -> list[Stub]:
    return [stub for folder in folders(parent) if folder != but for stub in _read(folder)]


def _read(folder: str) -> list[Stub]:
    try:
        with open(os.path.join(folder, _STUBS), "rb") as file:
            return msgspec.json.decode(file.read(), type=list[Stub])
    except (OSError, msgspec.DecodeError):
        return []


def _remove(stubs: Sequence[Stub], needed: set[str]) -> None:
    for stub in stubs:
        with suppress(OSError):
            if stub.path in needed or Stub.at(stub.path) != stub:
                continue
            if os.path.isdir(stub.path):
                os.rmdir(stub.path)
            elif os.path.getsize(stub.path) == 0:
                os.unlink(stub.path)


def _first_missing(path: str) -> str:
    """The outermost part of a path that does not exist, or nothing."""
    missing = ""
    while not os.path.lexists(path):
        missing, path = path, os.path.dirname(path)
    return missing
