"""A tree on disk as one comparable value, and the folders a transaction needs."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from steersman.operations.journal.changeset import Changeset
from steersman.operations.journal.commit import apply
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.snapshot import Snapshot
from steersman.operations.running.overlay import Overlay, available
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.profile import PLAIN, Profile


class Node(NamedTuple):
    """One path of a tree."""

    kind: int
    mode: int
    content: bytes
    mtime_ns: int


def tree(root: Path, *, times: bool = True) -> dict[str, Node]:
    """Everything below a folder; the times of files, because those of folders move."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (".", *folders, *files):
            path = os.path.join(folder, name)
            about = os.lstat(path)
            content, mtime = b"", 0
            if stat.S_ISLNK(about.st_mode):
                content = os.readlink(os.fsencode(path))
            elif stat.S_ISREG(about.st_mode):
                content = Path(path).read_bytes()
                mtime = about.st_mtime_ns if times else 0
            mode = 0 if stat.S_ISLNK(about.st_mode) else stat.S_IMODE(about.st_mode)
            found[os.path.relpath(path, root)] = Node(
                stat.S_IFMT(about.st_mode), mode, content, mtime
            )
    return found


class Yard:
    """A workspace, its journal and its scratch space."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "work"
        self.root.mkdir()
        self.scratch = folder / "scratch"
        self.objects = Objects(folder / "objects")
        self.index = str(folder / "index")
        self.last: subprocess.CompletedProcess[str] | None = None

    def overlay(self) -> Overlay:
        """The overlay; these tests need one."""
        found = available(str(self.root), str(self.scratch))
        assert isinstance(found, Overlay), found
        return found

    def try_out(
        self, script: str, profile: Profile = PLAIN, meanwhile: Callable[[], None] | None = None
    ) -> Changeset:
        """Run a script over the workspace and say what it would change."""
        with self.overlay().begin(str(self.root), str(self.scratch)) as run:
            line = run.argv(
                ["bash", "--norc", "--noprofile", "-c", script], str(self.root), profile
            )
            self.last = subprocess.run(
                line, capture_output=True, text=True,
                stdin=subprocess.DEVNULL, timeout=60, check=False, pass_fds=run.descriptors,
            )  # fmt: skip
            assert run.ran(), self.last.stderr
            if meanwhile is not None:
                meanwhile()
            return run.changes(self.objects)

    def run(self, script: str) -> Changeset:
        """Run a script and commit what it did."""
        done = self.try_out(script)
        self.commit(done)
        return done

    def run_directly(self, script: str) -> Changeset:
        """Run a script on the workspace itself, under a snapshot."""
        snapshot = Snapshot.take(str(self.root), self.objects, self.index)
        subprocess.run(
            ["bash", "--norc", "--noprofile", "-c", script], cwd=self.root, check=False,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
        return snapshot.changes_since()

    def commit(self, done: Changeset) -> None:
        """Make a changeset true."""
        apply(str(self.root), done.changes, self.objects, times=done.times, remove=done.remove)

    def apply(self, *changes: Change, check: bool = True) -> None:
        """Make some changes."""
        apply(str(self.root), changes, self.objects, check=check)

    def file(self, content: bytes, mode: int = 0o644) -> FileState:
        """The state of a file whose content is kept."""
        return FileState("file", mode, *self.objects.put_bytes(content))

    def hidden(self) -> list[str]:
        """Files of ours that were left in the workspace."""
        return [path for path in tree(self.root) if ".steersman-" in path]


def made(path: str, after: FileState) -> Change:
    """The change that makes something new."""
    return Change(path, ABSENT, after)


FOLDER = FileState("folder", 0o755)
