"""The files and commands of one folder, done only as far as the gate gave leave.

Paths are resolved before anything is decided and checked again when the effect happens, so a link
that changed in between is noticed rather than followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from steersman.action import Action, List, Read, Write
from steersman.errors import ToolProblem, UsageProblem


class Workspace:
    """A folder. Without grants it resolves names and does nothing else."""

    def __init__(self, root: str, granted: Sequence[Action] = ()) -> None:
        self.root = root
        self._granted = tuple(granted)
        self.written: list[Write] = []

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

    def granted(self, actions: Sequence[Action]) -> Workspace:
        """The same folder with leave for some actions."""
        return Workspace(self.root, actions)

    def locate(self, name: str) -> str:
        """The real path a name means, links followed, wherever that leads."""
        if not name or "\0" in name:
            raise ToolProblem("A path must not be empty or hold a NUL character.")
        try:
            return os.path.realpath(os.path.join(self.root, name))
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
            with os.scandir(path) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise _unreadable(self.shown(path), error) from error

    def read(self, path: str) -> bytes:
        """The content of a plain file."""
        if not any(isinstance(a, Read | Write) and a.path == path for a in self._granted):
            raise self._ungranted("read", path)
        return _read_plain(path, self.shown(path))

    def exists(self, path: str) -> bool:
        """Whether there is something at a path that may be read."""
        if not any(isinstance(a, Read | Write) and a.path == path for a in self._granted):
            raise self._ungranted("look at", path)
        return os.path.lexists(path)

    def write(self, path: str, content: bytes) -> None:
        """Give a file the very content that leave was given for, at once or not at all."""
        grant = next((a for a in self._granted if isinstance(a, Write) and a.path == path), None)
        if grant is None or digest(content) != grant.after:
            raise self._ungranted("write", path)
        self._replace(grant, content)
        self.written.append(grant)

    def _replace(self, grant: Write, content: bytes) -> None:
        folder, name = os.path.split(grant.path)
        shown = self.shown(grant.path)
        try:
            os.makedirs(folder, exist_ok=True)
            directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                self._check_place(directory, folder)
                mode = _check_unchanged(grant, directory, name, shown)
                _swap_in(directory, name, content, mode)
            finally:
                os.close(directory)
        except OSError as error:
            why = error.strerror or str(error)
            raise ToolProblem(f"{shown} cannot be written.", why) from error

    def _check_place(self, descriptor: int, path: str) -> None:
        if _real_place(descriptor, path) != path:
            raise ToolProblem(
                f"{self.shown(path)} was moved or turned into a link meanwhile.",
                try_this="Look again, then repeat the call.",
            )

    def _covers(self, folder: str, path: str) -> bool:
        return path == folder or path.startswith(folder.rstrip("/") + "/")

    def _ungranted(self, verb: str, path: str) -> ToolProblem:
        return ToolProblem(f"The gate gave no leave to {verb} {self.shown(path)}.")


def digest(content: bytes) -> str:
    """How content is named in an action."""
    return sha256(content).hexdigest()


def _unreadable(shown: str, error: OSError) -> ToolProblem:
    return ToolProblem(f"{shown} cannot be read.", error.strerror or str(error))


def _read_plain(path: str, shown: str) -> bytes:
    """The bytes of a plain file; never waits on a pipe or device, never follows a late link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(shown, error) from error
    with open(descriptor, "rb") as file:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise ToolProblem(f"{shown} is a folder.", try_this="List it instead.")
        if not stat.S_ISREG(kind):
            raise ToolProblem(f"{shown} is not a plain file.", "It is a pipe, socket or device.")
        if _real_place(descriptor, path) != path:
            raise ToolProblem(f"{shown} was moved or turned into a link meanwhile.")
        return file.read()


def _real_place(descriptor: int, path: str) -> str:
    """Where an open file really is; trusts the path where the system does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return path


def _check_unchanged(grant: Write, directory: int, name: str, shown: str) -> int:
    """The mode of the file as it is now; raises if it is not what was decided on."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        if grant.before:
            raise _changed(shown) from None
        return 0o666 & ~_umask()
    if not stat.S_ISREG(found.st_mode):
        raise ToolProblem(f"{shown} is not a plain file.")
    if digest(_read_plain(grant.path, shown)) != grant.before:
        raise _changed(shown)
    return stat.S_IMODE(found.st_mode)


def _changed(shown: str) -> ToolProblem:
    return ToolProblem(
        f"{shown} was changed by someone else meanwhile.",
        "What was decided on is not what is there now, so nothing was written.",
        "Read it again, then repeat the change.",
    )


def _swap_in(directory: int, name: str, content: bytes, mode: int) -> None:
    temporary = f".{name[:100]}.{token_hex(4)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, 0o600, dir_fd=directory)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            os.fchmod(descriptor, mode)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        os.unlink(temporary, dir_fd=directory)
        raise
    os.fsync(directory)


def _umask() -> int:
    """The process's umask, read without changing it where the system allows."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            line = next(line for line in status if line.startswith("Umask:"))
            return int(line.split()[1], 8)
    except (OSError, StopIteration):
        return 0o022
