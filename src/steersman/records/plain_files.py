"""Reading files by names that anyone can put something else at: never a pipe, socket or device."""

import os
import stat

from steersman.records.counting import counted


def read_plain(path: str | os.PathLike[str], most: int) -> bytes:
    """The beginning of a plain file, at most so many bytes; raises `OSError`, and never waits."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "It is not a regular file.")
        return file.read(most)


def is_special(path: str) -> bool:
    """Whether a program that opens a path, or what it links to, may wait or read without end.

    A socket is none of these: it cannot be opened.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def whole_plain(path: str | os.PathLike[str], most: int) -> bytes:
    """All of a plain file; raises `OSError`, also when it is larger than it may be."""
    data = read_plain(path, most + 1)
    if len(data) > most:
        raise OSError(0, f"It is larger than {counted(most, 'byte')}.")
    return data
