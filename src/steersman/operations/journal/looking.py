"""What is at a path, without following a link and without ever waiting.

A file's state holds the digest of its content; a signature shows cheaply that a file need not be
read again.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from steersman.operations.journal.objects import Objects, digest_of
from steersman.records.change import ABSENT, FileState
from steersman.records.errors import ToolProblem
from steersman.records.names import shown, written

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST = 1 << 63
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Special(ToolProblem):
    """A pipe, socket or device: it has no content that could be kept or given back."""


class Signature(Struct, frozen=True, array_like=True):
    """What changes whenever a file is written, as far as the system shows without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Seen(Struct, frozen=True):
    """A state and what the system said about the path when it was looked at."""

    state: FileState
    stat: os.stat_result | None = None


NOTHING = Seen(ABSENT)


def look(path: str, *, at: int | None = None) -> FileState:
    """The state of a path, or of a name in an open folder."""
    return examine(path, at=at).state


def examine(
    path: str,
    *,
    at: int | None = None,
    keep: Objects | None = None,
    durable: bool = True,
    called: str = "",
) -> Seen:
    """What is at a path; with `keep`, a file's content is in the journal afterwards.

    `called` is its name in records, where that is another.
    """
    called = called or written(path)
    try:
        found = os.stat(path, dir_fd=at, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            return Seen(FileState("folder", stat.S_IMODE(found.st_mode)), found)
        if stat.S_ISLNK(found.st_mode):
            target = written(os.readlink(path, dir_fd=at))
            return Seen(FileState("link", target=target), found)
        if not stat.S_ISREG(found.st_mode):
            raise special(called, found)
        with reading(path, at) as descriptor:
            put = keep.put_file(descriptor, durable=durable) if keep else digest_of(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except PermissionError as error:
        raise ToolProblem(f"{shown(called)} cannot be read.", error.strerror or "") from error
    return Seen(FileState("file", stat.S_IMODE(found.st_mode), *put), found)


def signature(found: os.stat_result) -> Signature:
    """The signature of a file. A command may give it a time that no record can hold."""
    changed, status = found.st_mtime_ns % _MOST, found.st_ctime_ns % _MOST
    return Signature(found.st_size, changed, status, found.st_ino)


def is_special(found: os.stat_result | None) -> bool:
    """Whether it is a pipe, socket or device."""
    kind = stat.S_IFMT(found.st_mode) if found else stat.S_IFREG
    return kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)


def still_special(before: os.stat_result | None, after: os.stat_result | None) -> bool:
    """Whether a pipe, socket or device is one as before: its mode and times are not taken over."""
    if before is None or after is None or not is_special(before):
        return False
    return stat.S_IFMT(before.st_mode) == stat.S_IFMT(after.st_mode)


def special(called: str, found: os.stat_result) -> Special:
    """The problem with a pipe, socket or device, by its name in records."""
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "not a regular file")
    what = f"{shown(called)} is {kind}."
    return Special(what, "Only files, folders and links can be kept and restored.")


@contextmanager
def reading(path: str, at: int | None = None) -> Iterator[int]:
    """A regular file, open; an owner without permission to read gets it for the moment."""
    try:
        descriptor = os.open(path, _READ, dir_fd=at)
    except PermissionError:
        descriptor = _open_lent(path, at)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise special(written(path), found)
        yield descriptor
    finally:
        os.close(descriptor)


def _open_lent(path: str, at: int | None) -> int:
    if not hasattr(os, "O_PATH"):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    try:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)
        place = f"/proc/self/fd/{handle}"
        os.chmod(place, mode | stat.S_IRUSR)
        try:
            return os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        finally:
            os.chmod(place, mode)
    finally:
        os.close(handle)
