"""A pipe or device where git reads: it would wait there, or read without end.

A question that is answered at once costs nothing more. While one takes longer, everything that git
may open by its name is looked at. Where something waits there git is ended, and not asked again
for as long as it is there.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from steersman.records.plain_files import is_special, read_plain

FIRST = 1.0  # seconds before the first look; each pause is twice as long as the one before
MOST_KNOWN = 1000
_GIT = ".git"
_READ = frozenset({_GIT, ".gitattributes", ".gitignore", ".gitmodules"})
_known: dict[str, str] = {}  # where git waited, by repository


def waits_at(top: str) -> str:
    """The pipe or device that git waited for in the repository there, if it is still there."""
    path = _known.get(top, "")
    return path if is_special(path) else ""


@contextmanager
def looked_after(child: subprocess.Popen[bytes], top: str, seconds: float) -> Iterator[None]:
    """End git where it waits for a pipe or a device, and else after so many seconds."""
    over = Event()
    watcher = Thread(target=_look_after, args=(child, top, seconds, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        child.kill()


def _look_after(child: subprocess.Popen[bytes], top: str, seconds: float, over: Event) -> None:
    pause, until = FIRST, time.monotonic() + seconds  # a look in a large repository takes time, too

    def enough() -> bool:
        return over.is_set() or time.monotonic() >= until

    while not over.wait(max(min(pause, until - time.monotonic()), 0)):
        pause *= 2
        if path := next(_special(top, enough), ""):
            if len(_known) >= MOST_KNOWN:
                _known.clear()
            _known[top] = path
        if path or enough():
            child.kill()
            return


def _special(top: str, enough: Callable[[], bool]) -> Iterator[str]:
    """The pipes and devices where git reads: its rules in any folder, and all of a repository."""
    waiting, seen = [(top, False)], set[str]()
    while waiting and not enough():
        folder, own = waiting.pop()
        if own:  # links in a repository are followed
            folder = os.path.realpath(folder)
            if folder in seen:
                continue
            seen.add(folder)
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                inner = own or entry.name == _GIT
                if entry.is_dir(follow_symlinks=inner):
                    waiting.append((entry.path, inner))
                elif not inner and entry.name not in _READ:
                    continue
                elif is_special(entry.path):
                    yield entry.path
                elif entry.name in (_GIT, "commondir"):
                    waiting += ((one, True) for one in _led_to(entry.path))


def _led_to(file: str) -> Iterator[str]:
    """The folder that a worktree's file names: where its own part is, or that of all."""
    with suppress(OSError, ValueError):
        named = os.fsdecode(read_plain(file, 4096)).removeprefix("gitdir:").strip()
        yield os.path.join(os.path.dirname(file), named)
