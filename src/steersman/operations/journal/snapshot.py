"""The journal of commands that run directly: everything looked at before, and compared after.

Nothing in the workspace is skipped, not even `.git`: whatever a command can destroy must be there
to be restored. An index of signatures on disk keeps the next snapshot from reading what did not
change. Contents past a limit are not kept; their digest is, so a change is noticed but cannot be
undone.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from secrets import token_hex

import msgspec
from msgspec import Struct

from steersman.operations.journal.changeset import Changeset, same
from steersman.operations.journal.folders import ROOT
from steersman.operations.journal.looking import Signature, reading, signature
from steersman.operations.journal.objects import Objects, digest_of
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import ToolProblem
from steersman.records.names import shown, written

LARGEST = 64 << 20
MOST = 2 << 30
_TICK_NS = 50_000_000


class Known(Struct, frozen=True, array_like=True):
    """A file as it was read last; not `sure` when it was so fresh that it may have changed since
    without its signature showing it."""

    signature: Signature
    digest: str
    sure: bool


_Index = dict[bytes, Known]


class Snapshot:
    """The state of a workspace at one moment."""

    def __init__(self, root: str, objects: Objects, index: str, largest: int, most: int) -> None:
        self.root = root
        self._objects = objects
        self._index_path = index
        self._largest = largest
        self._room = most
        self._index: _Index = {}
        self._states: dict[str, FileState] = {}
        self._unseen: set[str] = set()
        self.notes: list[str] = []

    @classmethod
    def take(
        cls,
        root: str,
        objects: Objects,
        index_path: str,
        *,
        largest: int = LARGEST,
        most: int = MOST,
    ) -> Snapshot:
        """Look at everything; the index belongs to this workspace and these objects."""
        snapshot = cls(root, objects, index_path, largest, most)
        snapshot._index = _load(index_path)
        snapshot._states = snapshot._look()
        return snapshot

    def changes_since(self) -> Changeset:
        """What is different now; contents as they are now are kept too."""
        before, self.notes = self._states, []
        after = self._look()
        changes, notes = [], list(self.notes)
        for path in sorted(before.keys() | after.keys()):
            was, now = before.get(path, ABSENT), after.get(path, ABSENT)
            if same(was, now):
                continue
            if any(path.startswith(folder) for folder in self._unseen):
                notes.append(
                    f"Cannot be undone, because its folder could not be read: {shown(path)}"
                )
                continue
            changes.append(Change(path, was, now))
            if was.kind == "file" and not self._objects.has(was.digest):
                notes.append(f"Cannot be undone, because its content was not kept: {shown(path)}")
        self._states = after
        return Changeset(changes, notes=notes)

    def _look(self) -> dict[str, FileState]:
        try:
            return self._look_at_all()
        except OSError as error:
            why = f"{error.filename or self.root}: {error.strerror}"
            raise ToolProblem("The workspace cannot be recorded in the journal.", why) from error

    def _look_at_all(self) -> dict[str, FileState]:
        found: dict[str, FileState] = {}
        index: _Index = {}
        for place, about in walk(self.root, self._unseen):
            path = written(place)
            if stat.S_ISDIR(about.st_mode):
                found[path] = FileState("folder", stat.S_IMODE(about.st_mode))
                continue
            with suppress(FileNotFoundError):
                if stat.S_ISLNK(about.st_mode):
                    target = written(os.readlink(os.path.join(self.root, place)))
                    found[path] = FileState("link", target=target)
                elif stat.S_ISREG(about.st_mode):
                    known = self._known(place, about)
                    index[os.fsencode(place)] = known
                    mode = stat.S_IMODE(about.st_mode)
                    found[path] = FileState("file", mode, known.digest, about.st_size)
        self._objects.settle()
        if index != self._index:
            self._index = index
            _save(self._index_path, index)
        return found

    def _known(self, path: str, about: os.stat_result) -> Known:
        now = signature(about)
        known = self._index.get(os.fsencode(path))
        if known is not None and known.sure and known.signature == now:
            return known
        sure = max(now.mtime_ns, now.ctime_ns) < time.time_ns() - _TICK_NS
        try:
            return Known(now, self._read(path, now.size), sure)
        except (PermissionError, ToolProblem):
            self.notes.append(
                f"Cannot be undone, because it cannot be read: {shown(written(path))}"
            )
            return Known(now, "", sure=False)

    def _read(self, path: str, size: int) -> str:
        with reading(os.path.join(self.root, path)) as descriptor:
            if size > self._largest or size > self._room:
                return digest_of(descriptor)[0]
            self._room -= size
            return self._objects.put_file(descriptor, durable=False)[0]


def walk(
    root: str, unseen: set[str], but: Collection[str] = ()
) -> Iterator[tuple[str, os.stat_result]]:
    """Every path below a root; folders that cannot be read are added to `unseen`.

    Folders of the names `but` are passed by.
    """
    yield ROOT, os.lstat(root)
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(os.path.join(root, prefix)) as entries:
                found = [(prefix + entry.name, _about(entry)) for entry in entries]
        except OSError:
            unseen.add(written(prefix))
            continue
        for path, about in found:
            if about is None:
                continue
            folder = stat.S_ISDIR(about.st_mode)
            if folder and path.rpartition("/")[2] in but:
                continue
            yield path, about
            if folder:
                waiting.append(path + "/")


def _about(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _load(path: str) -> _Index:
    """The index, or an empty one: it only saves reading."""
    try:
        with open(path, "rb") as file:
            return msgspec.msgpack.decode(file.read(), type=_Index)
    except (OSError, msgspec.DecodeError):
        return {}


def _save(path: str, index: _Index) -> None:
    temporary = f"{path}.{token_hex(4)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(msgspec.msgpack.encode(index))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
