"""Keeps the index like the files are: reads what is new or changed, forgets what is gone.

A file is as it was while its size, its time and its inode are. Work is taken in in portions, so
that a build that was ended continues where it was.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from steersman.operations.code.index.store import Entry, Index, stamp
from steersman.operations.code.trees import languages
from steersman.operations.code.trees.definition import Tags
from steersman.operations.code.trees.languages import Language
from steersman.operations.code.trees.reading import LARGEST
from steersman.operations.code.trees.tags import tags

PORTION = 200
_GLANCE = 200  # bytes that tell a script


class Report(Struct, frozen=True):
    """What an update did; not `complete` when it was asked to stop."""

    read: int = 0
    kept: int = 0
    gone: int = 0
    complete: bool = True


def _silent(done: int, whole: int) -> None:
    """Nobody wants to know."""


def _never() -> bool:
    return False


def update(
    root: str,
    index: Index,
    files: Sequence[str],
    *,
    progress: Callable[[int, int], None] = _silent,
    should_stop: Callable[[], bool] = _never,
) -> Report:
    """Make the index like these files (relative to `root`) are; every other is forgotten.

    Only one process does it at a time; another waits, and finds that there is little to do.
    """
    with _alone(f"{index.path}.lock", should_stop) as alone:
        if not alone:
            return Report(complete=False)
        known = index.files()
        changed = [entry for path in files if (entry := _looked_at(root, path, known)) is not None]
        gone = sorted(known.keys() - set(files))
        read = 0
        for start in range(0, len(changed), PORTION):
            portion = []
            for entry in changed[start : start + PORTION]:
                if should_stop():
                    break
                portion.append(_read(root, entry))
            index.put(portion, gone if start == 0 else ())
            read += len(portion)
            progress(read, len(changed))
            if read < min(start + PORTION, len(changed)):
                return Report(read, len(files) - len(changed), len(gone), complete=False)
        if gone and not changed:
            index.put((), gone)
        return Report(read, len(files) - len(changed), len(gone))


def refresh(root: str, index: Index, files: Sequence[str]) -> Report:
    """Look at some files again, and at no others: for those that a watcher says have changed."""
    with _alone(f"{index.path}.lock", _never):
        known = index.files()
        changed = [entry for path in files if (entry := _looked_at(root, path, known)) is not None]
        gone = [path for path in files if path in known and not os.path.lexists(f"{root}/{path}")]
        present = [entry for entry in changed if entry.path not in gone]
        if present or gone:
            index.put([_read(root, entry) for entry in present], gone)
        return Report(len(present), len(files) - len(present) - len(gone), len(gone))


def _looked_at(root: str, path: str, known: dict[str, Entry]) -> Entry | None:
    """What a file is like now; None if that is known."""
    before = known.get(path)
    try:
        now = os.stat(f"{root}/{path}", follow_symlinks=False)
    except OSError:
        return Entry(path, "", -1, 0, 0) if before is None or before.size != -1 else None
    if before is not None and before.describes(now):
        return None
    return Entry(path, "", *stamp(now))


def _read(root: str, entry: Entry) -> tuple[Entry, Tags]:
    language = languages.of_path(entry.path)
    if entry.size > LARGEST:
        said = Tags(note="too large")
        return _noted(entry, language, said), said
    try:
        found = content(f"{root}/{entry.path}", _GLANCE if language is None else LARGEST + 1)
        if language is None:
            language = languages.of_first_line(found)
            found = content(f"{root}/{entry.path}", LARGEST + 1) if language else b""
    except OSError as error:
        said = Tags(note=error.strerror or "unreadable")
        return _noted(entry, language, said), said
    said = tags(found, language) if language is not None else Tags()
    return _noted(entry, language, said), said


def _noted(entry: Entry, language: Language | None, said: Tags) -> Entry:
    name = language.name if language is not None else ""
    return Entry(entry.path, name, entry.size, entry.mtime_ns, entry.inode, said.note)


def content(path: str, most: int) -> bytes:
    """The begin of a plain file; never waits on a pipe, never follows a link."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read(most)


@contextmanager
def _alone(path: str, should_stop: Callable[[], bool]) -> Iterator[bool]:
    """While no other process is at it; False when it was asked to stop before that."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if should_stop():
                    yield False
                    return
                time.sleep(0.05)
            else:
                break
        yield True
    finally:
        os.close(descriptor)
