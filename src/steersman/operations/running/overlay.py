"""Commands as transactions: run over a copy-on-write view of the workspace, then read what changed.

The command sees the whole disk read-only, temporary folders of its own, and the workspace as if it
could write in it. What it wrote is in the upper folder of the overlay, and nowhere else.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from secrets import token_hex
from types import TracebackType

from msgspec import Struct

from steersman.errors import ToolProblem
from steersman.operations.journal.changeset import Changeset
from steersman.operations.journal.locks import claim, release
from steersman.operations.journal.objects import Objects
from steersman.operations.running.bubblewrap import (
    Bubblewrap,
    Unavailable,
    find,
    overlay,
    remove_tree,
)
from steersman.operations.running.upper import read_upper

_PRIVATE = ("/tmp", "/var/tmp")
_RUNTIME = "/run"
_OCTAL = re.compile(rb"\\([0-7]{3})")
_STUMBLES = ("Invalid cross-device link", "EXDEV", "[Errno 18]", "os error 18", "cross-device link")


class NoOverlay(ToolProblem):
    """This workspace cannot be put under an overlay; a command can still run directly."""


class Profile(Struct, frozen=True):
    """What a command may see and reach besides the workspace.

    `readable` and `writable` are mounted from the disk, `visible` only keeps a path in a temporary
    folder in sight; `environ` is set for the command alone.
    """

    network: bool = True
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    environ: Mapping[str, str] = {}


ORDINARY = Profile()


class Overlay:
    """The means to run commands as transactions."""

    def __init__(self, bubblewrap: Bubblewrap) -> None:
        self.bubblewrap = bubblewrap

    def begin(self, root: str, scratch: str) -> Transaction:
        """A transaction over a workspace (a real path), with its scratch space in a folder."""
        _refuse_unfit(root, os.path.realpath(scratch))
        try:
            return Transaction(self.bubblewrap, root, os.path.realpath(scratch))
        except OSError as error:
            why = error.strerror or str(error)
            raise ToolProblem(f"There is no scratch space in {scratch}.", why) from error


def available(workspace: str, scratch: str) -> Overlay | Unavailable:
    """The means, or why there are none; proven by a real run once in a process."""
    os.makedirs(scratch, mode=0o700, exist_ok=True)
    found = find(workspace, scratch)
    return found if isinstance(found, Unavailable) else Overlay(found)


def sweep(scratch: str) -> int:
    """Remove what transactions of dead processes left behind; the answer is how many there were."""
    count = 0
    with suppress(FileNotFoundError):
        for name in os.listdir(scratch):
            path = os.path.join(scratch, name)
            if name.endswith(".lock") and (claimed := claim(path)) is not None:
                remove_tree(path.removesuffix(".lock"))
                release(path, claimed)
                count += 1
    return count


def stumbled(exit_code: int, output: str) -> bool:
    """Whether a command failed because a folder that was there before cannot be renamed.

    Such a command is discarded and run again directly: the overlay could not give it what it needs.
    """
    told = (*_STUMBLES, os.strerror(errno.EXDEV))
    return exit_code != 0 and any(words in output for words in told)


class Transaction:
    """One run: start `argv` with `descriptors` passed on, then read `changes`, then `discard`."""

    def __init__(self, bubblewrap: Bubblewrap, root: str, scratch: str) -> None:
        self.root = root
        self._bubblewrap = bubblewrap
        self._folder = os.path.join(scratch, f"run-{token_hex(8)}")
        claimed = claim(f"{self._folder}.lock")
        assert claimed is not None, "nobody else knows the name"
        self._claim: int | None = claimed
        self._status = -1
        try:
            self._prepare()
        except BaseException:
            self.discard()
            raise

    def _prepare(self) -> None:
        os.mkdir(self._folder, 0o700)
        self._upper, self._work = self._inner("upper"), self._inner("work")
        found = os.stat(self.root)
        if os.geteuid() == 0:
            os.chown(self._upper, found.st_uid, found.st_gid)
        os.chmod(self._upper, stat.S_IMODE(found.st_mode))
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._status = os.open(os.path.join(self._folder, "status"), flags, 0o600)
        self._started = os.fstat(self._status).st_ctime_ns

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Open files the child must inherit (`pass_fds`)."""
        return (self._status,)

    def argv(self, command: Sequence[str], cwd: str, profile: Profile = ORDINARY) -> list[str]:
        """The command line that runs a command over the overlay.

        The child dies with the thread that started it, so start it from one that stays.
        """
        line = [*self._bubblewrap.start(), "--json-status-fd", str(self._status)]
        if not profile.network:
            line.append("--unshare-net")
        line += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        line += self._temporary((cwd, *profile.visible, *profile.readable, *profile.writable))
        if not profile.network and os.path.isdir(_RUNTIME) and not _holds(_RUNTIME, self.root):
            line += ["--tmpfs", _RUNTIME]
        for path in profile.readable:
            line += ["--ro-bind", path, path]
        for path in profile.writable:
            line += ["--bind", path, path]
        line += overlay(self.root, self._upper, self._work, self.root)
        for name, value in {"TMPDIR": _PRIVATE[0], **profile.environ}.items():
            line += ["--setenv", name, value]
        return [*line, "--chdir", cwd, "--", *command]

    def ran(self) -> bool:
        """Whether the command was started at all; if not, the mounting failed."""
        told = os.pread(self._status, 1 << 16, 0).decode(errors="replace")
        return any("exit-code" in json.loads(line) for line in told.splitlines())

    def changes(self, objects: Objects) -> Changeset:
        """What the command did to the workspace; contents and originals are kept in the journal."""
        marks = self._bubblewrap.attributes
        try:
            return read_upper(self._upper, self.root, marks, objects, self._started)
        except OSError as error:
            why = error.strerror or str(error)
            raise ToolProblem("What the command did cannot be read.", why) from error

    def discard(self) -> None:
        """Forget everything the command wrote."""
        if self._claim is not None:
            claimed, self._claim = self._claim, None
            if self._status >= 0:
                os.close(self._status)
            remove_tree(self._folder)
            release(f"{self._folder}.lock", claimed)

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    def _inner(self, name: str) -> str:
        path = os.path.join(self._folder, name)
        os.mkdir(path, 0o700)
        return path

    def _temporary(self, needed: Sequence[str]) -> list[str]:
        """Temporary folders that are the command's own: on disk, or over what must be visible."""
        line: list[str] = []
        for place in _PRIVATE:
            if place == self.root or not os.path.isdir(place) or os.path.islink(place):
                continue
            if any(_holds(place, path) for path in (self.root, *needed)):
                line += ["--overlay-src", place, "--tmp-overlay", place]
            else:
                own = os.path.join(self._folder, place.strip("/").replace("/", "-"))
                os.makedirs(own, exist_ok=True)
                os.chmod(own, 0o1777)
                line += ["--bind", own, place]
        return line


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _refuse_unfit(root: str, scratch: str) -> None:
    if root == "/":
        raise NoOverlay("The whole disk cannot be put under an overlay.")
    if _holds(root, scratch):
        raise NoOverlay(f"{root} holds the scratch folder {scratch}, so it cannot be overlaid.")
    for place in _mounts():
        if place != root and _holds(root, place):
            raise NoOverlay(
                f"{place} is another disk inside the workspace.",
                "An overlay would not show what is on it.",
            )


def _mounts() -> list[str]:
    """Where disks are mounted; names hold blanks and backslashes as octal numbers."""
    try:
        with open("/proc/self/mountinfo", "rb") as table:
            raw = [line.split(b" ", 5)[4] for line in table]
    except OSError:
        return []
    return [os.fsdecode(_OCTAL.sub(lambda m: bytes([int(m[1], 8)]), place)) for place in raw]
