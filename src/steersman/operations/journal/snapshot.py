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
from collections.abc import Collection, Generator, Iterator
from contextlib import closing, suppress
from secrets import token_hex

import msgspec
from msgspec import Struct

from steersman.operations.journal.changeset import Changeset, same
from steersman.operations.journal.folders import ROOT, Tree
from steersman.operations.journal.looking import Signature, reading, signature, special
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
        self._special: dict[str, os.stat_result] = {}
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

    def save(self, path: str) -> None:
        """Write down what was seen, for whoever must compare if this process cannot."""
        _save(path, self._states)

    @classmethod
    def saved(cls, root: str, objects: Objects, index_path: str, path: str) -> Snapshot:
        """What another process saw; its pipes and sockets are not known any more."""
        snapshot = cls(root, objects, index_path, LARGEST, MOST)
        snapshot._index = _load(index_path)
        with open(path, "rb") as file:
            snapshot._states = msgspec.msgpack.decode(file.read(), type=dict[str, FileState])
        return snapshot

    def changes_since(self) -> Changeset:
        """What is different now; contents as they are now are kept too."""
        before, special_before, self.notes = self._states, self._special, []
        after = self._look()
        changes, notes = [], list(self.notes)
        notes += self._about_special(special_before)
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
        remove = sorted(special_before.keys() - self._special.keys())
        new = sorted(self._special.keys() - special_before.keys())
        return Changeset(changes, notes=notes, remove=remove, special=new)

    def _about_special(self, before: dict[str, os.stat_result]) -> Iterator[str]:
        """What is to be said about pipes and the like that were there before."""
        for path, about in sorted(before.items()):
            now = self._special.get(path)
            if now is None:
                yield f"Cannot be restored once it is gone: {special(path, about).what}"
            elif now.st_mode != about.st_mode:
                yield f"Cannot be undone: the mode of {shown(path)} was changed."
            elif _another(about, now):
                yield f"Cannot be undone: {shown(path)} was changed or replaced."

    def _look(self) -> dict[str, FileState]:
        try:
            return self._look_at_all()
        except OSError as error:
            why = f"{error.filename or self.root}: {error.strerror}"
            raise ToolProblem("The workspace cannot be recorded in the journal.", why) from error

    def _look_at_all(self) -> dict[str, FileState]:
        found: dict[str, FileState] = {}
        index: _Index = {}
        self._special = {}
        with closing(walk(self.root, self._unseen)) as places:
            for place, about in places:
                with suppress(FileNotFoundError):
                    if state := self._state(place, about, index):
                        found[written(place)] = state
        self._objects.settle()
        if index != self._index:
            self._index = index
            _save(self._index_path, index)
        return found

    def _state(self, place: str, about: os.stat_result, index: _Index) -> FileState | None:
        mode = stat.S_IMODE(about.st_mode)
        if stat.S_ISDIR(about.st_mode):
            return FileState("folder", mode)
        if stat.S_ISLNK(about.st_mode):
            return FileState("link", target=written(os.readlink(os.path.join(self.root, place))))
        if not stat.S_ISREG(about.st_mode):
            self._special[written(place)] = about
            return None
        known = index[os.fsencode(place)] = self._known(place, about)
        return FileState("file", mode, known.digest, about.st_size)

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
) -> Generator[tuple[str, os.stat_result]]:
    """Every path below a root; folders that cannot be read are added to `unseen`.

    Folders that their owner may not read are lent that permission until the walk ends: nothing
    hides by taking it away. Folders of the names `but` are passed by.
    """
    with closing(Tree(root)) as tree:
        try:
            yield from _walk(tree, unseen, but)
        finally:
            tree.settle()


def _walk(
    tree: Tree, unseen: set[str], but: Collection[str]
) -> Iterator[tuple[str, os.stat_result]]:
    yield ROOT, os.lstat(tree.root)
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            found = _entries(tree, prefix)
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


def _entries(tree: Tree, prefix: str) -> list[tuple[str, os.stat_result | None]]:
    try:
        return _scanned(tree.root, prefix)
    except PermissionError:
        with tree.folder(written(prefix.rstrip("/")) or ROOT, stat.S_IRUSR | stat.S_IXUSR):
            return _scanned(tree.root, prefix)


def _scanned(root: str, prefix: str) -> list[tuple[str, os.stat_result | None]]:
    with os.scandir(os.path.join(root, prefix)) as entries:
        return [(prefix + entry.name, _about(entry)) for entry in entries]


def _about(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _another(before: os.stat_result, now: os.stat_result) -> bool:
    """Whether a pipe or the like may be another one; a socket's status changes with no use of it,
    and the number of one that is gone is soon given to the next."""
    used = not stat.S_ISSOCK(now.st_mode) or before.st_ctime_ns == now.st_ctime_ns
    return not (os.path.samestat(before, now) and used)


def _load(path: str) -> _Index:
    """The index, or an empty one: it only saves reading."""
    try:
        with open(path, "rb") as file:
            return msgspec.msgpack.decode(file.read(), type=_Index)
    except (OSError, msgspec.DecodeError):
        return {}


def _save(path: str, seen: _Index | dict[str, FileState]) -> None:
    temporary = f"{path}.{token_hex(4)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(msgspec.msgpack.encode(seen))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
