"""The files and commands of one folder, done only as far as the gate permits.

Paths are resolved before anything is decided and checked again when the effect happens, so a link
that changed in between is noticed rather than followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from steersman.records.action import Action, Delete, Execute, List, Read, Search, Write
from steersman.records.errors import ToolProblem, UsageProblem
from steersman.records.real_paths import real_path
from steersman.systems import Permit

Look = Read | List | Search
Ask = Callable[[Sequence[Look]], Awaitable[Permit]]


class Workspace:
    """A folder. Without grants it resolves names and does nothing else."""

    def __init__(self, root: str, granted: Sequence[Action] = (), secret: str = "") -> None:
        self.root = root
        self.secret = secret
        self._granted = tuple(granted)
        self.written: list[Write | Delete] = []
        self._shown_as: dict[str, tuple[int, int, int] | None] = {}

    @classmethod
    def open(cls, folder: str | Path) -> Workspace:
        """The workspace at a folder that exists."""
        path = Path(folder).expanduser()
        if not path.is_dir():
            raise UsageProblem(
                f"The workspace {path} is not a folder." if path.exists()
                else f"The workspace {path} does not exist.",
                try_this="Pass an existing folder with --workspace.",
            )  # fmt: skip
        return cls(os.path.realpath(path))

    def granted(self, actions: Sequence[Action], secret: str = "") -> Workspace:
        """The same folder with permission for some actions, but not for secret files below them."""
        copy = Workspace(self.root, actions, secret)
        copy._shown_as = self._shown_as
        return copy

    def planning(self, ask: Ask) -> PlanningWorkspace:
        """The same folder for planning a call; `ask` puts what must be looked at to the gate."""
        copy = PlanningWorkspace(self.root, ask)
        copy._shown_as = self._shown_as
        return copy

    @property
    def may_execute(self) -> bool:
        """True when leave was given to run a command."""
        return any(isinstance(action, Execute) for action in self._granted)

    def locate(self, name: str) -> str:
        """The real path a name means, links followed, wherever that leads."""
        if not name or "\0" in name:
            raise ToolProblem("A path must not be empty or contain a NUL character.")
        try:
            return real_path(os.path.join(self.root, name))
        except OSError as error:
            raise ToolProblem(f"{name} cannot be resolved.", error.strerror or "") from error

    def contains(self, path: str) -> bool:
        """True when a real path is inside the workspace."""
        return path == self.root or path.startswith(self.root.rstrip("/") + "/")

    def shown(self, path: str) -> str:
        """A real path as people and models write it."""
        return os.path.relpath(path, self.root) if self.contains(path) else path

    def listing(self, path: str) -> list[os.DirEntry[str]]:
        """The entries of a folder by name."""
        if not any(isinstance(a, List) and self._covers(a.path, path) for a in self._granted):
            raise self._ungranted("list", path)
        try:
            if real_path(path) != path:
                raise _moved(self.shown(path))
            with os.scandir(path) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise _unreadable(self.shown(path), error) from error

    def read(self, path: str) -> bytes:
        """The content of a plain file."""
        if not any(isinstance(a, Read | Write) and a.path == path for a in self._granted):
            raise self._ungranted("read", path)
        return _read_plain(path, self.shown(path))

    def open_file(self, path: str) -> BinaryIO:
        """A plain file to be read piece by piece; the caller closes it."""
        if not any(isinstance(a, Read | Write) and a.path == path for a in self._granted):
            raise self._ungranted("read", path)
        return _open_plain(path, self.shown(path))

    def below(self, path: str) -> str:
        """A path whose names, or content for a search, may be read, with everything below it."""
        if not any(
            isinstance(a, List | Search) and self._covers(a.path, path) for a in self._granted
        ):
            raise self._ungranted("look below", path)
        if real_path(path) != path:
            raise _moved(self.shown(path))
        return path

    def exists(self, path: str) -> bool:
        """Whether there is something at a path that may be read."""
        if not any(isinstance(a, Read | Write) and a.path == path for a in self._granted):
            raise self._ungranted("look at", path)
        return os.path.lexists(path)

    def note_read(self, path: str) -> None:
        """Remember what a file was like when it was shown, to tell later that it changed."""
        self._shown_as[path] = _signature(path)

    def is_stale(self, path: str) -> bool:
        """True when a file that was shown has changed since."""
        return path in self._shown_as and self._shown_as[path] != _signature(path)

    def shown_files(self) -> list[str]:
        """The files that were shown in this thread, as people and models write them."""
        return [self.shown(path) for path in self._shown_as if self.contains(path)]

    def may_write(self, path: str, content: bytes | None) -> None:
        """Raise unless leave was given for the very content, or for taking the file away."""
        for action in self._granted:
            match action:
                case Write(path=granted, after=after) if granted == path and content is not None:
                    if digest(content) == after:
                        self.written.append(action)
                        return
                case Delete(path=granted) if granted == path and content is None:
                    self.written.append(action)
                    return
                case _:
                    continue
        raise self._ungranted("write" if content is not None else "delete", path)

    def check_before(self, path: str, present: str) -> None:
        """Raise if a file is not what leave was given for: someone else changed it meanwhile."""
        for action in self.written:
            if action.path == path and action.before != present:
                raise ToolProblem(
                    f"{self.shown(path)} was changed by someone else in the meantime.",
                    "The file is not what the decision was about, so nothing was written.",
                    "Read it again, then repeat the change.",
                )

    def _covers(self, folder: str, path: str) -> bool:
        return path == folder or path.startswith(folder.rstrip("/") + "/")

    def _ungranted(self, verb: str, path: str) -> ToolProblem:
        return ToolProblem(f"The gate did not allow this call to {verb} {self.shown(path)}.")


class PlanningWorkspace(Workspace):
    """A folder while a call is planned: it resolves names and asks the gate before it looks."""

    def __init__(self, root: str, ask: Ask) -> None:
        super().__init__(root)
        self._ask = ask

    async def look(self, actions: Sequence[Look]) -> Workspace:
        """The same folder with permission to look at these; raises when the gate denies it."""
        permit = await self._ask(actions)
        return self.granted(permit.actions, permit.secret)


def digest(content: bytes) -> str:
    """How content is named in an action."""
    return sha256(content).hexdigest()


def _unreadable(shown: str, error: OSError) -> ToolProblem:
    return ToolProblem(f"{shown} cannot be read.", error.strerror or str(error))


def _read_plain(path: str, shown: str) -> bytes:
    """The bytes of a plain file."""
    with _open_plain(path, shown) as file:
        return file.read()


def _open_plain(path: str, shown: str) -> BinaryIO:
    """A plain file; never waits on a pipe or device, never follows a late link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise _not_plain(shown) from error
        raise _unreadable(shown, error) from error
    try:
        _check_plain(descriptor, path, shown)
    except BaseException:
        os.close(descriptor)
        raise
    return open(descriptor, "rb")


def _check_plain(descriptor: int, path: str, shown: str) -> None:
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(kind):
        raise ToolProblem(f"{shown} is a folder.", try_this="List it with workspace_list_files.")
    if not stat.S_ISREG(kind):
        raise _not_plain(shown)
    if _real_place(descriptor, path) != path:
        raise _moved(shown)


def _moved(shown: str) -> ToolProblem:
    return ToolProblem(f"{shown} was moved or turned into a link in the meantime.")


def _not_plain(shown: str) -> ToolProblem:
    return ToolProblem(f"{shown} is not a regular file.", "It is a pipe, socket or device.")


def _real_place(descriptor: int, path: str) -> str:
    """Where an open file really is; trusts the path where the system does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return path


def _signature(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino
