"""Locks that last no longer than the process that holds them, between threads and processes alike.

`flock` belongs to an open file, so two threads that open the same lock file exclude each other just
as two processes do, and the system frees it however the holder ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256

from steersman.records.errors import ToolProblem

_STRIPES = 64
_PATIENCE = 30.0


@contextmanager
def held(folder: str, paths: Iterable[str], patience: float = _PATIENCE) -> Iterator[None]:
    """Hold the locks of real paths; many paths share a few files, taken in one order by all."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    stripes = sorted({sha256(os.fsencode(path)).digest()[0] % _STRIPES for path in paths})
    deadline = time.monotonic() + patience
    with ExitStack() as stack:
        for stripe in stripes:
            descriptor = open_lock(os.path.join(folder, f"{stripe:02}.lock"))
            stack.callback(os.close, descriptor)
            while not try_lock(descriptor):
                if time.monotonic() > deadline:
                    raise ToolProblem(
                        "Another process is writing the same files.",
                        f"It did not finish within {patience:.0f} s.",
                        "Try again when it has finished.",
                    )
                time.sleep(0.005)
        yield


def claim(path: str) -> int | None:
    """Hold a lock file that exists only while it is held; None when someone has it."""
    while True:
        descriptor = open_lock(path)
        if not try_lock(descriptor):
            os.close(descriptor)
            return None
        if _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)


def release(path: str, descriptor: int) -> None:
    """Give a claim back and remove its file."""
    os.unlink(path)
    os.close(descriptor)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file unless someone has; a shared lock only keeps out those that are not."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def open_lock(path: str) -> int:
    """A lock file, made if need be; no program that is started gets it."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _is_at(descriptor: int, path: str) -> bool:
    """False when the file was removed by its last holder before we got the lock."""
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))
