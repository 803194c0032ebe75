"""A folder that lasts as long as one run of a command, also when the host dies before it is done.

Whoever made it holds a lock beside it, so that the next host can tell what is left over.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from functools import cached_property
from secrets import token_hex

from steersman.operations.journal.locks import claim, release
from steersman.operations.running.bubblewrap import remove_tree
from steersman.operations.running.disk import holds

_LOCK = ".lock"


class Scratch:
    """The folder of one run."""

    def __init__(self, parent: str) -> None:
        self.folder = os.path.join(parent, f"run-{token_hex(8)}")
        self._memory: list[int] = []
        self._claim = claim(self.folder + _LOCK)
        assert self._claim is not None, "nobody else knows the name"
        try:
            os.mkdir(self.folder, 0o700)
        except BaseException:
            self.discard()
            raise

    def path(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.folder, name)

    def inner(self, name: str, mode: int = 0o700) -> str:
        """A folder in it, made if need be."""
        path = self.path(name)
        with suppress(FileExistsError):
            os.mkdir(path)
        os.chmod(path, mode)
        return path

    def write(self, name: str, content: bytes) -> str:
        """A file in it."""
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def in_memory(self, content: bytes = b"") -> int:
        """A file that is on no disk, to be read from its beginning; open until all is removed."""
        file = os.memfd_create("steersman")
        self._memory.append(file)
        while content:
            content = content[os.write(file, content) :]
        os.lseek(file, 0, os.SEEK_SET)
        return file

    @cached_property
    def status(self) -> int:
        """Where a sandbox reports."""
        return self.in_memory()

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The files in memory, which a command must be started with."""
        return tuple(self._memory)

    def discard(self) -> None:
        """Remove all of it."""
        while self._memory:
            os.close(self._memory.pop())
        if self._claim is not None:
            claimed, self._claim = self._claim, None
            remove_tree(self.folder)
            release(self.folder + _LOCK, claimed)


def beside(folder: str) -> str:
    """A folder for scratch space that is this user's alone and not below another one, if any."""
    for path in elsewhere():
        with suppress(OSError):
            with suppress(FileExistsError):
                os.mkdir(path, 0o700)
            about = os.lstat(path)
            own = stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid()
            if own and not holds(folder, path):
                os.chmod(path, 0o700)
                return path
    return ""


def elsewhere() -> tuple[str, ...]:
    """Where such folders may be."""
    places = ("/var/tmp", tempfile.gettempdir())
    return tuple(os.path.join(os.path.realpath(one), f"steersman-{os.geteuid()}") for one in places)


def sweep(parent: str) -> int:
    """Remove what runs of dead processes left."""
    count = 0
    with suppress(FileNotFoundError):
        for name in os.listdir(parent):
            path = os.path.join(parent, name)
            if name.endswith(_LOCK) and (claimed := claim(path)) is not None:
                remove_tree(path.removesuffix(_LOCK))
                release(path, claimed)
                count += 1
    return count
