"""Shows that something below a folder may have changed, where the system can tell (inotify).

It only says "look again": what changed is found by looking. Where it cannot watch (another system,
too many folders, no watches left) it says so, and whoever asks looks every time.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable, Iterable

MOST_FOLDERS = 8192
_NONBLOCK_CLOEXEC = os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
# modified, closed after writing, moved from, moved to, created, deleted, itself deleted or moved
_EVENTS = 0x2 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
# only folders, no links, nothing about files that are deleted but still open
_MANNER = 0x01000000 | 0x02000000 | 0x04000000


class Watch:
    """Watches folders until it is closed; `changed` is called on the loop it was started on."""

    def __init__(self, root: str, changed: Callable[[], None]) -> None:
        self._root = root
        self._changed = changed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._descriptor = -1
        self._watched: set[str] = set()
        self._known: set[int] = set()
        self._heard = 0
        self.works = False

    async def follow(self, paths: Iterable[str]) -> bool:
        """Watch the folders of these files (relative to the root), and those they are in.

        True when some were not watched before: what happened there until now was not heard.
        """
        folders = await asyncio.to_thread(_folders, paths)
        if len(folders) > MOST_FOLDERS or not self._open():
            self.close()
            return False
        heard = self._heard
        work = asyncio.to_thread(self._add_all, self._descriptor, folders - self._watched)
        adding = asyncio.ensure_future(work)
        try:
            added = await asyncio.shield(adding)
        except asyncio.CancelledError:
            await asyncio.wait({adding})  # it uses what is open here
            raise
        if added is None:
            self.close()
            return False
        before = len(self._known)
        self._known |= added  # the number of a folder that is watched stays the same
        if heard == self._heard:
            self._watched = folders
        self.works = True
        return len(self._known) > before

    def look(self) -> None:
        """Hear now what the system has to tell, without waiting for the loop."""
        if self._descriptor >= 0:
            self._read()

    def close(self) -> None:
        """Watch nothing."""
        self.works = False
        self._watched = set()
        self._known = set()
        if self._descriptor >= 0:
            assert self._loop is not None
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self) -> bool:
        if self._descriptor >= 0:
            return True
        if not sys.platform.startswith("linux"):
            return False
        descriptor = _libc().inotify_init1(_NONBLOCK_CLOEXEC)
        if descriptor < 0:
            return False
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._read)
        self._descriptor = descriptor
        return True

    def _add_all(self, descriptor: int, folders: set[str]) -> set[int] | None:
        """Begin to watch folders, which takes a while; None when there are no watches left."""
        found = set()
        libc = _libc()
        for folder in folders:
            path = os.fsencode(os.path.join(self._root, folder))
            number = libc.inotify_add_watch(descriptor, path, _EVENTS | _MANNER)
            if number >= 0:
                found.add(number)
            elif os.path.isdir(path):  # otherwise gone meanwhile: that its parent will tell
                return None
        return found

    def _read(self) -> None:
        heard = False
        try:
            while os.read(self._descriptor, 1 << 16):
                heard = True
        except BlockingIOError:
            pass
        if heard:
            self._heard += 1
            # A folder may have been replaced by another of its name: all are taken up again.
            self._watched = set()
            self._changed()


def _folders(paths: Iterable[str]) -> set[str]:
    """The folders of files, and those they are in."""
    folders = {""}
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return folders


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
