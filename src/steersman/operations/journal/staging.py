"""New contents, made ready beside the place they will take, with the looks of what they replace."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from steersman.operations.journal.folders import set_mode, set_mode_at
from steersman.operations.journal.looking import reading
from steersman.operations.journal.objects import Objects, copy, filled
from steersman.records.change import FileState

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def stage_file(
    folder: int,
    name: str,
    state: FileState,
    objects: Objects,
    *,
    replaces: os.stat_result | None,
    original: str,
    mtime_ns: int | None,
    durable: bool,
) -> None:
    """A hidden file with a kept content, readable by nobody else until it has its own mode.

    Owner and extended attributes are taken over from the file it replaces, as far as one may.
    """
    descriptor = os.open(name, _NEW, 0o600, dir_fd=folder)
    try:
        with objects.open(state.digest) as content:
            copy(content.fileno(), descriptor)
        if replaces is not None:
            dress(descriptor, replaces)
            _take_attributes(folder, original, descriptor)
        os.fchmod(descriptor, state.mode)
        if mtime_ns is not None:
            os.utime(descriptor, ns=(mtime_ns, mtime_ns))
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def dress(descriptor: int, found: os.stat_result) -> None:
    """Give an open file the owner another had; only root may give files away."""
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid):
        with suppress(PermissionError):
            os.chown(f"/proc/self/fd/{descriptor}", found.st_uid, found.st_gid)


def overwrite(folder: int, name: str, content: int, mode: int) -> None:
    """Write a content into a file that stays the same file.

    Room is taken before a byte is changed and the file is cut last, so a full disk is noticed while
    the old content is still whole.
    """
    set_mode_at(folder, name, mode | stat.S_IWUSR | stat.S_IRUSR)
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        there = os.fstat(descriptor).st_size
        for start, stop in filled(content, there):
            os.posix_fallocate(descriptor, start, stop - start)
        copy(content, descriptor, there)
        set_mode(descriptor, mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _take_attributes(folder: int, original: str, descriptor: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError), reading(original, folder) as source:
        for attribute in os.listxattr(source):
            os.setxattr(descriptor, attribute, os.getxattr(source, attribute))
