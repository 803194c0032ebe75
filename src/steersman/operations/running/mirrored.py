"""A copy for a command that continues: it follows the workspace, and the workspace follows it.

What changes in the workspace is brought into the copy, by renames, so that programs which watch
files notice. What the command changes is looked at whenever someone wants to know, and brought
back when it was judged. Nobody but the host ever writes to the workspace, and no secret file is
brought over, whenever it appears. Where both changed the same file, the workspace keeps its own;
where both changed the state of one repository, it keeps all of that.
"""

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing, suppress
from secrets import token_hex

from msgspec.structs import replace

from steersman.operations.journal.changeset import Changeset, same
from steersman.operations.journal.folders import ROOT, Tree, depth, set_mode_at
from steersman.operations.journal.looking import Seen
from steersman.operations.journal.objects import Objects, copy
from steersman.operations.running.bubblewrap import Bubblewrap
from steersman.operations.running.copied import Copied, Mark, Original, mark, marks
from steersman.operations.running.disk import holds
from steersman.operations.running.repositories import (
    changed_by_others,
    is_safe,
    not_taken_over,
    repositories,
    repository_of,
)
from steersman.records.change import Change
from steersman.records.errors import ToolProblem
from steersman.records.names import on_disk, written
from steersman.records.secret_files import APART, IGNORE_FILE, SKIPPED, SecretFiles

LONGEST = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Mirrored(Copied):
    """A copy that lasts. Only one of its methods may run at a time.

    Folders that tools fill (`node_modules` and the like) and repositories are looked at in the end
    only.
    """

    def __init__(self, bubblewrap: Bubblewrap, original: Original, scratch: str) -> None:
        super().__init__(bubblewrap, original, scratch)
        self._looked: dict[str, Mark | None] = {}
        self._contested: set[str] = set()
        self._disputed: set[str] = set()  # repositories that others changed too
        self._repositories = repositories(self._seen)
        self._links: set[str] = set()  # secret names that lead elsewhere
        self._linked: frozenset[str] = frozenset()  # where they lead
        self._note_links(self._seen)

    def refresh(self) -> None:
        """Bring over what changed in the workspace, unless the command changed it too."""
        now = marks(self.root, SKIPPED)
        self._repositories |= repositories(now)
        moved = [
            path
            for path in now.keys() | self._seen.keys()
            if self._seen.get(path) != now.get(path) and self._is_light(path)
        ]
        if not moved:
            return
        looked_at = moved
        if IGNORE_FILE in moved:
            self._hide_more()
            looked_at = list(now)
        gone = [path for path in moved if path not in now]
        come = [path for path in moved if path in now]
        with closing(Tree(self.root)) as tree, closing(Tree(self._copy)) as copy:
            try:
                if self._note_links({path: now[path] for path in looked_at if path in now}):
                    self._forget_linked(copy)
                for path in [*sorted(gone, key=depth, reverse=True), *sorted(come)]:
                    self._bring(path, now.get(path), tree, copy)
            finally:
                tree.settle()
                copy.settle()

    def _hide_more(self) -> None:
        """Hide what a list hides that was made or changed meanwhile; it shows nothing more."""
        with suppress(OSError):
            descriptor = os.open(os.path.join(self.root, IGNORE_FILE), _READ)
            with open(descriptor, errors="surrogateescape") as file:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    more = [line for line in file.read(LONGEST).split("\n") if line[:1] != "!"]
                    lines = self._secret.lines + APART + "\n".join(more)
                    self._secret = SecretFiles(self.root, lines)

    def is_secret(self, path: str) -> bool:
        """Also where a secret name leads that came later."""
        return super().is_secret(path) or _is_in(path, self._linked)

    def _note_links(self, come: Mapping[str, Mark]) -> bool:
        """Look where links with secret names lead; whether that is anywhere new."""
        self._links |= {
            path for path, what in come.items() if stat.S_ISLNK(what[0]) and self.is_secret(path)
        }
        places = [os.path.realpath(os.path.join(self.root, on_disk(path))) for path in self._links]
        inner = [place for place in places if holds(self.root, place) and place != self.root]
        before = self._linked
        self._linked |= {written(os.path.relpath(place, self.root)) for place in inner}
        return self._linked != before

    def _forget_linked(self, copy: Tree) -> None:
        """Remove from the copy what came before the secret name that leads to it."""
        known = [path for path in marks(self._copy) if _is_in(path, self._linked)]
        for path in sorted(known, key=depth, reverse=True):
            with suppress(OSError, ToolProblem):
                about = copy.stat(path)
                with copy.place(path) as (folder, name):
                    if about is not None:
                        (os.rmdir if _is_folder(about) else os.unlink)(name, dir_fd=folder)
                self._made.pop(path, None)

    def _is_light(self, path: str) -> bool:
        """Whether a path is looked at before the end."""
        if not SKIPPED.isdisjoint(path.split("/")):
            return False
        return repository_of(path, self._repositories) is None

    def changes_so_far(self, objects: Objects, *, whole: bool) -> Changeset:
        """What the command did since that was accepted last."""
        now = marks(self._copy, () if whole else SKIPPED)
        if ROOT not in now:
            raise ToolProblem("The copy of the workspace is gone, and with it what was done in it.")
        self._repositories |= repositories(now)
        touched = [path for path in self._touched(now) if whole or self._is_light(path)]
        self._looked = {path: now.get(path) for path in touched}
        return self._undisputed(self._compared(touched, objects), objects)

    def disputed(self, changes: Iterable[Change]) -> set[str]:
        """The repositories that these changes would make inconsistent: others changed them too."""
        unsafe = {
            top
            for change in changes
            if (top := repository_of(change.path, self._repositories)) is not None
            and not is_safe(change, top)
        }
        if unsafe - self._disputed:
            now = marks(self.root)
            self._repositories |= repositories(now)
            self._disputed |= unsafe & changed_by_others(self._seen, now, self._repositories)
        return unsafe & self._disputed

    def _undisputed(self, found: Changeset, objects: Objects) -> Changeset:
        """The changes without those in repositories that belong together with what others did."""
        notes: list[str] = []
        left: set[str] = set()
        for top in sorted(self.disputed(found.changes)):
            inner = [change for change in found.changes
                     if repository_of(change.path, self._repositories) == top
                     and not is_safe(change, top)]  # fmt: skip
            left |= {change.path for change in inner}
            notes.append(not_taken_over(top, inner, objects))
        return replace(
            found,
            changes=[change for change in found.changes if change.path not in left],
            notes=[*found.notes, *notes],
        )

    def accept(self, made: Collection[Change], waiting: Collection[str]) -> None:
        """Take what was looked at for known; `made` was brought into the workspace.

        What is still `waiting` is looked at again.
        """
        for path, what in self._looked.items():
            if path not in waiting:
                _set(self._made, path, what)
        with closing(Tree(self.root)) as tree:
            for change in made:
                with suppress(ToolProblem):
                    found = tree.examine(change.path)
                    if same(found.state, change.after):
                        _set(self._seen, change.path, mark(found.stat) if found.stat else None)
            tree.settle()

    def _is_late(self, path: str, before: Seen) -> bool:
        if super()._is_late(path, before):
            if self._is_light(path):
                _set(self._seen, path, mark(before.stat) if before.stat else None)
            self._contested.add(path)  # from now on it belongs to the others
        return path in self._contested

    def _bring(self, path: str, wanted: Mark | None, tree: Tree, copy: Tree) -> None:
        """Make a path of the copy what it is in the workspace; what fails is tried again."""
        if self.is_secret(path):
            _set(self._seen, path, wanted)
            return
        with suppress(OSError, ToolProblem):
            here = copy.stat(path)
            if (mark(here) if here else None) != self._made.get(path):
                return
            _put(path, tree, copy)
            here = copy.stat(path)
            _set(self._made, path, mark(here) if here else None)
            _set(self._seen, path, wanted)


def _is_in(path: str, places: Collection[str]) -> bool:
    while path and path not in places:
        path = path.rpartition("/")[0]
    return bool(path)


def _is_folder(about: os.stat_result) -> bool:
    return stat.S_ISDIR(about.st_mode)


def _set(known: dict[str, Mark], path: str, what: Mark | None) -> None:
    if what is None:
        known.pop(path, None)
    else:
        known[path] = what


def _put(path: str, tree: Tree, copy: Tree) -> None:
    """Copy one path from a tree to another; links are copied, not followed."""
    if path == ROOT:
        return
    wanted, present = tree.stat(path), copy.stat(path)
    with copy.place(path) as (folder, name):
        if present and (wanted is None or _kind(wanted) != _kind(present)):
            (os.rmdir if _is_folder(present) else os.unlink)(name, dir_fd=folder)
        if wanted is None:
            return
        if stat.S_ISDIR(wanted.st_mode):
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
            set_mode_at(folder, name, stat.S_IMODE(wanted.st_mode))
            return
        fresh = f".{token_hex(8)}"
        try:
            with tree.place(path) as (origin, original):
                if stat.S_ISLNK(wanted.st_mode):
                    os.symlink(os.readlink(original, dir_fd=origin), fresh, dir_fd=folder)
                elif stat.S_ISREG(wanted.st_mode):
                    _copy_file(origin, original, folder, fresh)
                else:
                    return
            os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            with suppress(FileNotFoundError):
                os.unlink(fresh, dir_fd=folder)
            raise


def _kind(about: os.stat_result) -> int:
    return stat.S_IFMT(about.st_mode)


def _copy_file(origin: int, original: str, folder: int, fresh: str) -> None:
    with (
        open(os.open(original, _READ, dir_fd=origin), "rb") as source,
        open(os.open(fresh, _NEW, 0o600, dir_fd=folder), "wb") as target,
    ):
        about = os.fstat(source.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(f"{original} is no longer a file")
        copy(source.fileno(), target.fileno())
        if os.geteuid() == 0:
            os.fchown(target.fileno(), about.st_uid, about.st_gid)
        os.fchmod(target.fileno(), stat.S_IMODE(about.st_mode))
        os.utime(target.fileno(), ns=(about.st_atime_ns, about.st_mtime_ns))
