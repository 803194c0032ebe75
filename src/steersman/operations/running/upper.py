"""What a command wrote into the upper folder of an overlay, read as changes of the workspace.

A mark of the overlay (a whiteout, an opaque folder) says what is gone; everything else in the upper
folder is a copy that may or may not differ from the original.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import closing
from pathlib import PurePosixPath

from steersman.operations.journal.changeset import Changeset, same, tamed
from steersman.operations.journal.folders import ROOT, Tree, parent
from steersman.operations.journal.looking import NOTHING, Seen, examine, special, still_special
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.siblings import with_siblings
from steersman.operations.running.veils import NOTHING_SPARED, Spared
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import ToolProblem
from steersman.records.names import on_disk, written

# Where the number of a file is in its handle, by the handle's kind and length: on ext4 and others,
# in memory, on xfs with large numbers, on btrfs. Other kinds are not read.
_NUMBERS = {
    (0x01, 8): slice(0, 4),
    (0x01, 12): slice(4, 8),
    (0x81, 12): slice(0, 8),
    (0x4D, 20): slice(0, 8),
}
_HEAD = 21  # bytes of what an overlay notes before the handle


def read_upper(
    upper: str,
    root: str,
    attributes: str,
    objects: Objects,
    started_ns: int,
    spared: Spared = NOTHING_SPARED,
) -> Changeset:
    """Compare an upper folder with the workspace below it; what is spared stays as it is."""
    with closing(Tree(root)) as tree:
        try:
            reader = _Reader(upper, tree, attributes, objects, started_ns)
            reader.spared = spared
            reader.read()
        finally:
            tree.settle()
    if reader.changes:
        objects.settle()
    changes = sorted(with_siblings(root, reader.changes), key=lambda change: change.path)
    return Changeset(
        changes,
        times=reader.times,
        remove=sorted(reader.remove),
        notes=reader.notes,
        meanwhile=sorted(reader.meanwhile),
    )


class _Reader:
    def __init__(
        self, upper: str, tree: Tree, attributes: str, objects: Objects, started_ns: int
    ) -> None:
        self._upper = upper
        self._tree = tree
        self._attributes = attributes
        self._objects = objects
        self._started = started_ns
        self.spared = NOTHING_SPARED
        self.changes: list[Change] = []
        self.times: dict[str, int] = {}
        self.remove: list[str] = []
        self.notes: list[str] = []
        self.meanwhile: list[str] = []
        self._others: set[str] = set()  # folders that someone else put or changed there
        self._there: set[int] = set()  # numbers of what the workspace has at paths in question
        self._copied: list[tuple[str, int]] = []  # paths, and numbers of what they are copies of

    def read(self) -> None:
        top = os.lstat(self._upper)
        if top.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(self._upper, 0o700)
        self._record(ROOT, examine(self._tree.root), FileState("folder", stat.S_IMODE(top.st_mode)))
        waiting = [(ROOT, False)]
        while waiting:
            path, opaque = waiting.pop()
            place = self._place(path)
            with os.scandir(place) as entries:
                found = {
                    written(entry.name): entry.stat(follow_symlinks=False) for entry in entries
                }
            for name, about in found.items():
                inner = name if path == ROOT else f"{path}/{name}"
                if self.spared.covers(inner):
                    self.notes.append(self.spared.note(inner))
                elif stat.S_ISDIR(about.st_mode):
                    waiting.append((inner, self._folder(inner, about, opaque)))
                else:
                    self._entry(inner, about)
            if opaque:
                for name in set(self._tree.names(path)) - set(found):
                    self._gone(f"{path}/{name}")
        self._contest_swapped()

    def _contest_swapped(self) -> None:
        """What was copied from a file or folder that is not there any more is someone else's now.

        A command moves a file with its number, from a path that is in question as well.
        """
        swapped = {path for path, number in self._copied if number not in self._there}
        known = set(self.meanwhile)
        for change in self.changes:
            above = [change.path, *(str(path) for path in PurePosixPath(change.path).parents)]
            if change.path not in known and not swapped.isdisjoint(above):
                self.meanwhile.append(change.path)

    def _folder(self, path: str, about: os.stat_result, within: bool) -> bool:
        """Note a folder; the answer is whether it hides what the workspace has in its place.

        `within` one that does, it has no mark of its own, and hides it anyway.
        """
        place = self._place(path)
        if about.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(place, 0o700)
        if self._mark(place, "redirect"):
            raise _unreadable(path)
        before = self._before(path)
        self._record(path, before, FileState("folder", stat.S_IMODE(about.st_mode)))
        return before.state.kind == "folder" and (within or self._is_opaque(path))

    def _entry(self, path: str, about: os.stat_result) -> None:
        if self._is_whiteout(path, about):
            self._gone(path)
            return
        if not stat.S_ISREG(about.st_mode) and not stat.S_ISLNK(about.st_mode):
            self.notes.append(f"Not kept: {special(path, about).what}")
            if not still_special(self._tree.stat(path), about):
                self._gone(path)
            return
        if self._mark(self._place(path), "metacopy") is not None:
            raise _unreadable(path)
        after = examine(self._place(path), keep=self._objects, durable=False).state
        before = self._before(path)
        if before.state.kind == "folder":
            for name in self._tree.names(path):
                self._gone(f"{path}/{name}")
        if self.spared.stays(path):
            self.notes.append(self.spared.note(path))
        elif self._record(path, before, after) and after.kind == "file":
            self.times[path] = about.st_mtime_ns

    def _before(self, path: str) -> Seen:
        try:
            seen = self._tree.examine(path, self._objects, durable=False)
            if seen.stat:
                self._there.add(_short(seen.stat.st_ino))
            return seen
        except ToolProblem as problem:
            self.notes.append(f"Cannot be restored once it is gone: {problem.what}")
            self.remove.append(path)
            return NOTHING

    def _gone(self, path: str) -> None:
        """Note that a path is gone, and everything that was below it."""
        waiting = [path]
        while waiting:
            here = waiting.pop()
            if self.spared.covers(here):
                self.notes.append(self.spared.note(here))
                continue
            before = self._before(here)
            if not self.spared.stays(here):
                self._record(here, before, ABSENT)
            if before.state.kind == "folder":
                waiting += [f"{here}/{name}" for name in self._tree.names(here)]

    def _record(self, path: str, before: Seen, after: FileState) -> bool:
        """Note a change if it is one."""
        after, notes = tamed(path, before.state, after)
        self.notes += notes
        late = path != ROOT and self._is_late(path, before, after)
        if path != ROOT and after.kind != "absent" and (number := self._origin(path)):
            self._copied.append((path, number))
        if same(before.state, after):
            return False
        self.meanwhile += [path] if late else []
        self.changes.append(Change(path, before.state, after))
        return True

    def _is_late(self, path: str, before: Seen, after: FileState) -> bool:
        """Whether what is at a path is not what the command saw there: someone else was there.

        A file that is moved with its folder keeps its times, so it is known by its number.
        """
        is_folder = before.state.kind == "folder"
        late = parent(path) in self._others
        if before.stat and (not is_folder or after.kind != "folder" or self._is_opaque(path)):
            late = late or before.stat.st_ctime_ns > self._started
        if late and "folder" in (before.state.kind, after.kind):
            self._others.add(path)
        return late

    def _origin(self, path: str) -> int:
        """The number of what the overlay copied to get this; 0 where the command made it."""
        origin = self._mark(self._place(path), "origin") or b""
        handle = origin[_HEAD:]
        place = _NUMBERS.get((origin[4], len(handle)), slice(0)) if handle else slice(0)
        return _short(int.from_bytes(handle[place], sys.byteorder))

    def _is_opaque(self, path: str) -> bool:
        return self._mark(self._place(path), "opaque") == b"y"

    def _is_whiteout(self, path: str, about: os.stat_result) -> bool:
        if stat.S_ISCHR(about.st_mode):
            return about.st_rdev == 0
        empty = stat.S_ISREG(about.st_mode) and about.st_size == 0
        return empty and self._mark(self._place(path), "whiteout") is not None

    def _mark(self, place: str, name: str) -> bytes | None:
        try:
            return os.getxattr(place, self._attributes + name, follow_symlinks=False)
        except OSError:
            return None

    def _place(self, path: str) -> str:
        return self._upper if path == ROOT else os.path.join(self._upper, on_disk(path))


def _short(number: int) -> int:
    """The part of a file's number that every kind of handle has."""
    return number % (1 << 32)


def _unreadable(path: str) -> ToolProblem:
    return ToolProblem(
        f"What the command did to {path} cannot be read from the overlay.",
        "The system records renames and modes there in a form that keeps no content.",
        "Set the overlay module's redirect_dir and metacopy options to off.",
    )
