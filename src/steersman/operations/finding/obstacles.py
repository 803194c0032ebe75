"""A pipe or device where ripgrep looks for rules: it would wait there, or read without end.

A search that is done at once costs nothing more. One that takes longer is looked after: whatever
ripgrep may open by its name is looked at, and when something else than a plain file is there,
ripgrep is ended, and the program in Python searches, which opens only plain files.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from steersman.operations.finding.program import Died
from steersman.records.plain_files import is_special, read_plain

T = TypeVar("T")

PATIENCE = 1.0  # seconds before the first look; each pause is twice as long as the one before
_RULES, _GIT, _EXCLUDE = ".gitignore", ".git", "info/exclude"


class Blocked(Exception):
    """Something is in the way of ripgrep."""


async def unless_blocked(folder: str, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; it is ended when something is in its way, and `Blocked` is raised."""
    task = asyncio.create_task(work)
    given_up = threading.Event()
    pause = PATIENCE
    try:
        while not (await asyncio.wait({task}, timeout=pause))[0]:
            pause *= 2
            if await asyncio.to_thread(in_the_way, folder, given_up):
                raise Blocked
        try:
            return task.result()
        except Died:
            if await asyncio.to_thread(in_the_way, folder, given_up):
                raise Blocked from None
            raise
    finally:
        given_up.set()
        task.cancel()
        await asyncio.wait({task})


def in_the_way(folder: str, given_up: threading.Event) -> bool:
    """Whether something that is not a plain file is where rules are read, below or above."""
    above = os.path.dirname(folder)
    while True:
        if any(map(is_special, _read_in(above))):
            return True
        if above == os.path.dirname(above):
            break
        above = os.path.dirname(above)
    waiting = [folder]
    while waiting and not given_up.is_set():
        here = waiting.pop()
        if any(map(is_special, _read_in(here))):
            return True
        with suppress(OSError), os.scandir(here) as entries:
            waiting += [
                entry.path
                for entry in entries
                if entry.name != _GIT and entry.is_dir(follow_symlinks=False)
            ]
    return False


def _read_in(folder: str) -> Iterator[str]:
    """The files that ripgrep reads for what is in a folder."""
    yield os.path.join(folder, _RULES)
    git = os.path.join(folder, _GIT)
    yield git
    with suppress(OSError):
        if not os.path.isdir(git):  # a worktree says where its own part of the repository is
            named = os.fsdecode(read_plain(git, 4096)).removeprefix("gitdir:").strip()
            git = os.path.join(folder, named)
            yield os.path.join(git, "commondir")
            common = os.fsdecode(read_plain(os.path.join(git, "commondir"), 4096)).strip()
            git = os.path.join(git, common)
    yield os.path.join(git, _EXCLUDE)
