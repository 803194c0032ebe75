"""Commands as transactions: run over a copy-on-write view of the workspace, then read what changed.

What the command wrote is in the upper folder of the overlay, and nowhere else.
"""

from __future__ import annotations

import errno
import math
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType

from steersman.operations.journal.changeset import Changeset
from steersman.operations.journal.objects import Objects
from steersman.operations.running.bubblewrap import Bubblewrap, Unavailable, find, overlay
from steersman.operations.running.confine import Sandbox, Workspace, ran
from steersman.operations.running.disk import holds, mounts
from steersman.operations.running.guardian import NO_VIEW, View
from steersman.operations.running.scratch import Scratch
from steersman.operations.running.upper import read_upper
from steersman.operations.running.veils import NOTHING_SPARED, Spared, layer, too_many
from steersman.records.errors import ToolProblem
from steersman.records.profile import PLAIN, Profile
from steersman.records.real_paths import real_path

_SPECIAL = (",", ":", "\\")  # in the options of a mount
_NEVER = (errno.EPERM, errno.ENOSYS, errno.ENODEV)  # a machine that does not let guards mount
_REST = 20  # commands after which what failed for another reason is tried again
_SIGNALLED = 128  # exit codes above say which signal ended a command
_unseen: dict[tuple[Bubblewrap, str], float] = {}  # how long guards are not asked to mount a view
_STUMBLES = ("Invalid cross-device link", "EXDEV", "[Errno 18]", "os error 18", "cross-device link")


class NoOverlay(ToolProblem):
    """This workspace cannot be put under an overlay; a command can still run directly."""


class Overlay:
    """The means to run commands as transactions."""

    def __init__(self, bubblewrap: Bubblewrap) -> None:
        self.bubblewrap = bubblewrap

    def begin(self, root: str, scratch: str) -> Transaction:
        """A transaction over a workspace (a real path), with its scratch space in a folder."""
        refuse_unfit(root, real_path(scratch))
        try:
            return Transaction(self.bubblewrap, root, real_path(scratch))
        except OSError as error:
            why = error.strerror or str(error)
            raise ToolProblem(f"There is no scratch space in {scratch}.", why) from error


def available(workspace: str, scratch: str) -> Overlay | Unavailable:
    """The means, or why there are none; proven by a real run once in a process."""
    os.makedirs(scratch, mode=0o700, exist_ok=True)
    found = find(workspace, scratch)
    if isinstance(found, Unavailable):
        return found
    if not found.attributes:
        return Unavailable(f"{found.program} cannot mount an overlay here.")
    return Overlay(found)


def stumbled(exit_code: int, output: str) -> bool:
    """Whether a command seems to have failed because a folder cannot be renamed in an overlay.

    Such a command is run over a copy next time. What it prints decides no more than that.
    """
    told = (*_STUMBLES, os.strerror(errno.EXDEV))
    return exit_code != 0 and any(words in output for words in told)


class Transaction:
    """One run: start `argv`, then read `changes`, then `discard`."""

    def __init__(self, bubblewrap: Bubblewrap, root: str, scratch: str) -> None:
        self.root = root
        self.bubblewrap = bubblewrap
        self._scratch = Scratch(scratch)
        self._spared = NOTHING_SPARED
        self._secrets: Sequence[str] = ()
        self.view = NO_VIEW
        self.beside: Mapping[str, Sequence[str]] = {}  # words that mount other folders
        try:
            self._prepare()
        except BaseException:
            self.discard()
            raise

    def _prepare(self) -> None:
        self._upper, self._work = self._scratch.inner("upper"), self._scratch.inner("work")
        found = os.stat(self.root)
        if os.geteuid() == 0:
            os.chown(self._upper, found.st_uid, found.st_gid)
        os.chmod(self._upper, stat.S_IMODE(found.st_mode))
        self._started = os.stat(self._upper).st_ctime_ns  # by the clock of the disk

    def argv(
        self,
        command: Sequence[str],
        cwd: str,
        profile: Profile = PLAIN,
    ) -> list[str]:
        """The command line that runs a command over the overlay, with its `descriptors`.

        The child dies with the thread that started it, so start it from one that stays.
        """
        veil = self._veil(profile)
        mount = overlay(self.root, self._upper, self._work, self.root, veil)
        return self._argv(command, cwd, profile, mount)

    def _veil(self, profile: Profile) -> str:
        """A layer that hides what is too much for covers, if it is."""
        self._secrets = too_many(self.root, profile.hidden)
        self._spared = Spared(self.root, self._secrets)
        return layer(self.root, self._secrets, self._scratch) if self._secrets else ""

    def _argv(
        self, command: Sequence[str], cwd: str, profile: Profile, mount: Sequence[str]
    ) -> list[str]:
        place = Workspace(self.root, mount, veiled=self._secrets, beside=self.beside)
        return Sandbox(self.bubblewrap).argv(command, cwd, profile, place, self._scratch)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What the command must be started with."""
        return self._scratch.descriptors

    def guarded(self, command: Sequence[str], cwd: str, profile: Profile) -> list[str]:
        """The same, where its guard can mount the view for it: one that is written to no disk.

        The end of any other writes all of the disk's caches back before it is thrown away.
        """
        paths = (self.root, self._upper, self._work)
        plain = not any(mark in path for path in paths for mark in _SPECIAL)
        if self.bubblewrap.own_users or not plain or _rests((self.bubblewrap, self.root)):
            return self.argv(command, cwd, profile)
        place = self._scratch.inner("view")
        lower = os.pathsep.join(filter(None, (self._veil(profile), self.root)))
        layers = f"lowerdir={lower},upperdir={self._upper},workdir={self._work}"
        self.view = View(place, f"{layers},userxattr,volatile")
        return self._argv(command, cwd, profile, ("--bind", place, self.root))

    def ran(self) -> bool:
        """Whether the command is known to have been started, and to have ended."""
        return ran(self._scratch)

    def unmade(self, unseen: int) -> bool:
        """Whether the overlay could not be mounted, so that the command was not started.

        `unseen` is why its guard could not. To be asked when the sandbox has ended by itself: one
        that was killed reports nothing.
        """
        unmade = not self.ran()
        if unmade and self.view.place:
            _unseen[self.bubblewrap, self.root] = math.inf if unseen in _NEVER else _REST
        return unmade

    def stumbled(self, exit_code: int, output: str) -> bool:
        """Whether the overlay could not give the command what it needs."""
        return stumbled(exit_code, output)

    def changes(self, objects: Objects) -> Changeset:
        """What the command did to the workspace; contents and originals are kept in the journal."""
        marks = self.bubblewrap.attributes
        try:
            return read_upper(self._upper, self.root, marks, objects, self._started, self._spared)
        except OSError as error:
            why = error.strerror or str(error)
            raise ToolProblem("What the command did cannot be read.", why) from error

    def discard(self) -> None:
        """Forget everything the command wrote."""
        self._scratch.discard()

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()


def _rests(which: tuple[Bubblewrap, str]) -> bool:
    """Whether guards are not to mount views of a workspace now: it failed not long ago."""
    left = _unseen.get(which, 0)
    if left:
        _unseen[which] = left - 1
    return left > 0


def refuse_unfit(root: str, scratch: str) -> None:
    if root == "/":
        raise NoOverlay("The whole disk cannot be put under an overlay.")
    if holds(root, scratch):
        raise NoOverlay(f"{root} contains the scratch folder {scratch}, so it cannot be overlaid.")
    for mount in mounts():
        if mount.place != root and holds(root, mount.place):
            raise NoOverlay(
                f"{mount.place} is another disk inside the workspace.",
                "An overlay would not show what is on it.",
            )


def to_be_read(
    root: str, profile: Profile, sandbox: Sandbox, scratch: Scratch, *, live: bool = False
) -> Workspace:
    """A workspace mounted to be read only, under a veil if so much is hidden in it.

    `live` when what others change meanwhile must be seen.
    """
    secrets = too_many(root, profile.hidden) if sandbox.bubblewrap.attributes else []
    if secrets:
        with suppress(NoOverlay):
            refuse_unfit(root, scratch.folder)
            veil = layer(root, secrets, scratch)
            mount = ("--overlay-src", root, "--overlay-src", veil, "--ro-overlay", root)
            return Workspace(root, mount, veiled=secrets)
    return Workspace(root, ("--ro-bind", root, root)) if live else sandbox.looking(root)
