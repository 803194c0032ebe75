"""Contents kept by their digest: the part of the journal that holds bytes.

A content is written once, beside its place, and renamed into it, so whatever is found under a
digest is whole. Files are copied by the file system where it can, and never held in memory. Where
several machines work on the same threads, what is not too large is kept in their store as well.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import BinaryIO, Protocol

from steersman.records.errors import ToolProblem

CHUNK = 1 << 20
LARGEST_SHARED = 8 << 20
_MANY = 64
_INCOMING = ".incoming-"
_STALE = 86_400
_CLONE_REQUEST = 0x40049409
_NO_CLONE = {errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM}


class Blobs(Protocol):
    """Where contents are kept for other machines."""

    def put_blob(self, data: bytes) -> str:
        """Keep some bytes; the answer is their digest."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """Bytes by their digest."""
        ...


class Objects:
    """Contents in a folder, two levels deep, readable by their owner alone."""

    def __init__(self, folder: str | Path, blobs: Blobs | None = None) -> None:
        self.folder = os.path.abspath(folder)
        self._settling = Lock()
        self._unsettled: list[str] = []
        self._blobs = blobs
        self._shared: set[str] = set()
        self._unshared: list[str] = []
        self.spare_notes: list[int] = []  # open files that commits are noted in
        weakref.finalize(self, _close_all, self.spare_notes)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)

    def path(self, digest: str) -> str:
        """Where a content is, or would be."""
        if len(digest) != 64 or not digest.isalnum():
            raise ToolProblem(f"“{digest}” is not the digest of a content.")
        return os.path.join(self.folder, digest[:2], digest[2:])

    def has(self, digest: str) -> bool:
        """Whether a content is kept."""
        return bool(digest) and (os.path.exists(self.path(digest)) or self._fetched(digest))

    def open(self, digest: str) -> BinaryIO:
        """A kept content, to be read."""
        if not self.has(digest):
            raise unkept(digest)
        try:
            return open(self.path(digest), "rb")
        except OSError as error:
            raise unkept(digest) from error

    def put_bytes(self, content: bytes, *, durable: bool = True) -> tuple[str, int]:
        """Keep a content that is at hand; the answer is its digest and size."""
        digest = sha256(content).hexdigest()
        if not os.path.exists(self.path(digest)):
            self._place(lambda incoming: write_all(incoming, content, 0), digest)
        else:
            os.utime(self.path(digest))  # it is in use again, and not pruned
        self._kept(digest, durable)
        return digest, len(content)

    def put_file(self, source: int | str, *, durable: bool = True) -> tuple[str, int]:
        """Keep the content of a plain file, given open or by path.

        The digest is that of the copy, so it is right even if the file changes meanwhile. Without
        `durable` the caller must `settle` before relying on the content after a power cut.
        """
        if isinstance(source, str):
            with opened(source) as descriptor:
                return self.put_file(descriptor, durable=durable)
        first = os.pread(source, CHUNK, 0)
        if len(first) < CHUNK:
            return self.put_bytes(first, durable=durable)
        digest, size = digest_of(source)
        if not os.path.exists(self.path(digest)):
            digest = self._place(lambda incoming: copy(source, incoming), None)
            size = os.stat(self.path(digest)).st_size
        else:
            os.utime(self.path(digest))
        self._kept(digest, durable)
        return digest, size

    def settle(self) -> None:
        """Make everything kept so far last through a power cut."""
        with self._settling:
            self._share()
            waiting, self._unsettled = self._unsettled, []
            if len(waiting) > _MANY:
                with opened(self.folder, os.O_DIRECTORY) as folder:
                    sync_all(folder)
                return
            for path in [*waiting, *{os.path.dirname(path) for path in waiting}]:
                with opened(path) as descriptor:
                    os.fsync(descriptor)

    def tidy(self) -> None:
        """Remove what a process that was killed had begun to keep."""
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if name.startswith(_INCOMING) and os.stat(path).st_mtime < time.time() - _STALE:
                os.unlink(path)

    def _kept(self, digest: str, durable: bool) -> None:
        if self._blobs is not None and digest not in self._shared:
            self._unshared.append(digest)
        if durable and (self._unsettled or self._unshared):
            self.settle()

    def _share(self) -> None:
        """Give other machines what they do not have yet."""
        while self._blobs is not None and self._unshared:
            digest = self._unshared[-1]
            path = self.path(digest)
            if digest not in self._shared and os.stat(path).st_size <= LARGEST_SHARED:
                with open(path, "rb") as file:
                    self._blobs.put_blob(file.read())
            self._shared.add(digest)
            self._unshared.pop()

    def _fetched(self, digest: str) -> bool:
        """Get a content that another machine has kept, if any has."""
        content = self._blobs.blob(digest) if self._blobs is not None else None
        if content is None or sha256(content).hexdigest() != digest:
            return False
        self._shared.add(digest)
        self._place(lambda incoming: write_all(incoming, content, 0), digest)
        return True

    def _place(self, fill: Callable[[int], None], digest: str | None) -> str:
        temporary = os.path.join(self.folder, f"{_INCOMING}{token_hex(8)}")
        incoming = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fill(incoming)
            digest = digest or digest_of(incoming)[0]
            place = self.path(digest)
            os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            os.rename(temporary, place)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        finally:
            os.close(incoming)
        self._unsettled.append(place)
        return digest


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


def unkept(digest: str) -> ToolProblem:
    """A content that the journal does not have."""
    return ToolProblem(
        f"The content {digest[:12]} was not kept.",
        "It was too large for the journal, or the journal was cleared.",
    )


def digest_of(descriptor: int) -> tuple[str, int]:
    """The digest and size of an open file, read piece by piece."""
    summed, offset = sha256(), 0
    while piece := os.pread(descriptor, CHUNK, offset):
        summed.update(piece)
        offset += len(piece)
    return summed.hexdigest(), offset


def copy(source: int, target: int, there: int = 0) -> None:
    """Give an open file the content of another: shared, copied by the system, or by hand.

    Holes stay holes, except in as many bytes as were `there` before.
    """
    if _clone(source, target):
        return
    for start, stop in filled(source, there):
        _copy_range(source, target, start, stop)
    os.ftruncate(target, os.fstat(source).st_size)


def filled(descriptor: int, whole: int = 0) -> Iterator[tuple[int, int]]:
    """The ranges of an open file that are not holes; up to `whole` it is all taken for one."""
    size = os.fstat(descriptor).st_size
    stop = min(whole, size)
    if stop:
        yield 0, stop
    while stop < size:
        try:
            start = os.lseek(descriptor, stop, os.SEEK_DATA)
            stop = os.lseek(descriptor, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:  # the rest is a hole
                raise
            return
        yield start, stop


def _copy_range(source: int, target: int, offset: int, stop: int) -> None:
    while offset < stop and hasattr(os, "copy_file_range"):
        length = min(CHUNK * 16, stop - offset)
        try:
            copied = os.copy_file_range(source, target, length, offset, offset)
        except OSError as error:
            if error.errno not in _NO_CLONE:
                raise
            break
        offset += copied
        if not copied:
            break
    while offset < stop and (piece := os.pread(source, min(CHUNK, stop - offset), offset)):
        write_all(target, piece, offset)
        offset += len(piece)


@contextmanager
def opened(path: str, flags: int = 0) -> Iterator[int]:
    """A path open for reading; a link is not followed and a pipe is not waited for."""
    plain = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, plain | flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def sync_all(descriptor: int) -> None:
    """Make everything on a file system last, at once: far cheaper than thousands of files."""
    import ctypes

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:
        os.sync()
    elif syncfs(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def write_all(target: int, content: bytes, offset: int) -> None:
    """Write at a place in an open file, however many calls that takes."""
    view = memoryview(content)
    while view:
        written = os.pwrite(target, view, offset)
        view, offset = view[written:], offset + written


def _clone(source: int, target: int) -> bool:
    try:
        fcntl.ioctl(target, _CLONE_REQUEST, source)
    except OSError:
        return False
    return True
