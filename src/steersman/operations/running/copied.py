"""A view that is a copy, for commands that an overlay cannot serve: it cannot rename folders.

The workspace is copied into the scratch folder and mounted in its own place. What differs from the
copy as it was made is what the command did; nothing of that is in the workspace yet. What secret
files hold is not in the copy at all.
"""

import os
import stat
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing

from msgspec import Struct

from steersman import children
from steersman.operations.journal.changeset import Changeset, same, tamed
from steersman.operations.journal.folders import Tree
from steersman.operations.journal.looking import NOTHING, Seen, special, still_special
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.siblings import with_siblings
from steersman.operations.journal.snapshot import walk
from steersman.operations.running.bubblewrap import Bubblewrap
from steersman.operations.running.confine import Sandbox, Workspace, ran
from steersman.operations.running.disk import holds
from steersman.operations.running.programs import of_the_system
from steersman.operations.running.scratch import Scratch
from steersman.operations.running.veils import Spared, inner, replace
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import ToolProblem
from steersman.records.names import on_disk, written
from steersman.records.profile import Profile
from steersman.records.secret_files import SKIPPED, SecretFiles

MOST_PATHS, MOST_BYTES = 200_000, 4 << 30
PATIENCE = 120.0
Mark = tuple[int, ...]


class NoCopy(ToolProblem):
    """A workspace that cannot be copied for a command."""


class Original(Struct, frozen=True):
    """A workspace to be copied: `hidden` is what is secret in it, `secret` knows that by name."""

    root: str
    hidden: Collection[str]
    secret: SecretFiles


class Copied:
    """One run on a copy: start `argv`, then read `changes`, then `discard`."""

    def __init__(self, bubblewrap: Bubblewrap, original: Original, scratch: str) -> None:
        root = self.root = original.root
        self.bubblewrap = bubblewrap
        self._secret = original.secret
        self.beside: Mapping[str, Sequence[str]] = {}  # words that mount other folders
        if holds(root, scratch):
            raise NoCopy(
                f"{root} contains the scratch folder {scratch}, so it cannot be copied there."
            )
        self._scratch = Scratch(scratch)
        try:
            self._copy = self._scratch.path("copy")
            self._seen = _measured(root)  # what changes from now on is someone else's
            _make(root, self._copy)
            secrets = inner(root, [*original.hidden, *self._secrets_in()])
            replace(root, secrets, self._copy)
            self._spared = Spared(root, secrets)
            self._made = marks(self._copy)
        except BaseException:
            self.discard()
            raise

    def argv(self, command: Sequence[str], cwd: str, profile: Profile) -> list[str]:
        """The command line that runs a command with the copy in the workspace's place."""
        veiled = inner(self.root, profile.hidden)
        mount = ("--bind", self._copy, self.root)
        view = Workspace(self.root, mount, veiled=veiled, beside=self.beside)
        return Sandbox(self.bubblewrap).argv(command, cwd, profile, view, self._scratch)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What the command must be started with."""
        return self._scratch.descriptors

    def ran(self) -> bool:
        """Whether the command was started at all."""
        return ran(self._scratch)

    def unmade(self, unseen: int) -> bool:
        """Whether there is no copy to run on: never, once this is made."""
        return False

    def stumbled(self, exit_code: int, output: str) -> bool:
        """Whether it could not give a command what it needs: never, whatever is printed."""
        return False

    def changes(self, objects: Objects) -> Changeset:
        """What the command did to the copy; contents and originals are kept in the journal."""
        return self._compared(self._touched(marks(self._copy)), objects)

    def discard(self) -> None:
        """Forget everything the command wrote."""
        self._scratch.discard()

    def _secrets_in(self) -> Iterator[str]:
        """Secret files that came before the copy was made, and after someone looked for them."""
        for path, about in walk(self._copy, set(), SKIPPED):
            if self._secret.hides(os.fsencode(path), stat.S_ISDIR(about.st_mode)):
                yield os.path.join(self.root, path)

    def is_secret(self, path: str) -> bool:
        """Whether a path of the workspace is nothing that a command may see."""
        place = os.path.join(self.root, on_disk(path))
        return self._spared.covers(path) or bool(self._secret.covers(place))

    def _is_somebodys_secret(self, path: str, tree: Tree) -> bool:
        """Whether a path is secret and in the workspace by now: it is neither read nor changed."""
        return self.is_secret(path) and tree.stat(path) is not None

    def _touched(self, now: dict[str, Mark]) -> list[str]:
        """The paths that are not as they were made."""
        paths = self._made.keys() | now.keys()
        return sorted(path for path in paths if self._made.get(path) != now.get(path))

    def _compared(self, touched: Sequence[str], objects: Objects) -> Changeset:
        found = Changeset([])
        with closing(Tree(self.root)) as tree, closing(Tree(self._copy)) as copy:
            try:
                for path in touched:
                    self._compare(path, tree, copy, objects, found)
            finally:
                tree.settle()
                copy.settle()
        objects.settle()
        changes = sorted(with_siblings(self.root, found.changes), key=lambda one: one.path)
        return Changeset(changes, found.times, found.remove, found.notes, found.meanwhile)

    def _compare(
        self, path: str, tree: Tree, copy: Tree, objects: Objects, found: Changeset
    ) -> None:
        if self._spared.covers(path) or self._is_somebodys_secret(path, tree):
            found.notes.append(self._spared.note(path))
            return
        made = copy.stat(path)
        if made and still_special(tree.stat(path), made):
            found.notes.append(f"Not kept: {special(path, made).what}")
            return
        before = NOTHING
        try:
            before = tree.examine(path, objects, durable=False)
        except ToolProblem as problem:
            found.notes.append(f"Cannot be restored once it is gone: {problem.what}")
            found.remove.append(path)
        after = self._after(path, before, copy, objects, found)
        if same(before.state, after):
            return
        if self._spared.stays(path) and after.kind != "folder":
            found.notes.append(self._spared.note(path))
            return
        if before.state.kind != "folder" and self._is_late(path, before):
            found.meanwhile.append(path)
        found.changes.append(Change(path, before.state, after))

    def _is_late(self, path: str, before: Seen) -> bool:
        """Whether someone else changed a path of the workspace meanwhile."""
        return (mark(before.stat) if before.stat else None) != self._seen.get(path)

    def _after(
        self, path: str, before: Seen, copy: Tree, objects: Objects, found: Changeset
    ) -> FileState:
        try:
            seen = copy.examine(path, objects, durable=False)
        except ToolProblem as problem:
            found.notes.append(f"Not kept: {problem.what}")
            return ABSENT
        if seen.state.kind == "file" and seen.stat is not None:
            found.times[path] = seen.stat.st_mtime_ns
        state, notes = tamed(path, before.state, seen.state)
        found.notes.extend(notes)
        return state


def marks(root: str, but: Collection[str] = ()) -> dict[str, Mark]:
    """What changes whenever a path below does, by its path; folders of some names are left out."""
    found = {}
    try:
        for path, about in walk(root, set(), but):
            found[written(path)] = mark(about)
            if len(found) > 2 * MOST_PATHS:
                raise NoCopy("There are too many files to read.")
    except OSError as error:
        raise ToolProblem(f"{root} cannot be read.", error.strerror or "") from error
    return found


def mark(about: os.stat_result) -> Mark:
    """What changes whenever a path does; of a folder its mode alone."""
    if stat.S_ISDIR(about.st_mode):
        return (about.st_mode,)
    return about.st_mode, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino


def _measured(root: str) -> dict[str, Mark]:
    """The marks of a workspace, unless it would take too long to copy."""
    found: dict[str, Mark] = {}
    size = 0
    for path, about in walk(root, set()):
        found[written(path)] = mark(about)
        size += about.st_blocks * 512
        if len(found) > MOST_PATHS or size > MOST_BYTES:
            raise NoCopy("The workspace is too large to be copied for one command.")
    return found


def _make(root: str, copy: str) -> None:
    line = [of_the_system("cp"), "--archive", "--reflink=auto", "--no-target-directory", root, copy]
    try:
        made = children.run(line, seconds=PATIENCE)
    except (OSError, subprocess.SubprocessError) as error:
        raise NoCopy("The workspace could not be copied for the command.", str(error)) from error
    if made.returncode:
        why = made.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NoCopy("The workspace could not be copied for the command.", (why or [""])[0])
    # A file that was written in this tick could be written again without showing it.
    time.sleep(0.01)
