"""Which files of a workspace hold secrets: the usual names, and what `.steersmanignore` says.

Neither tools nor commands can read them. The file has the syntax of `.gitignore`. Anyone's can
hide more; its exceptions (`!name`) to the usual names count only as far as a person agreed to them.
What git's history already holds cannot be hidden: `steer doctor` tells.
"""

import asyncio
import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from steersman.records.patterns import pattern
from steersman.records.real_paths import real_path
from steersman.records.secret_files import (
    APART,
    ELSEWHERE,
    IGNORE_FILE,
    PLAIN_SIGHT,
    SKIPPED,
    SecretFiles,
)

LARGEST = 1 << 20
_SPECIAL = pattern(r"[\\*?\[\]!# ]")
_USUAL = Path(__file__).with_name("secret_names.gitignore")

Found = tuple[SecretFiles, tuple[str, ...]]


@cache
def _usual() -> str:
    return _USUAL.read_text(encoding="utf-8")


def _own_lines(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with open(descriptor, "rb") as file:
        plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.fsdecode(file.read(LARGEST)).removeprefix("\ufeff") if plain else ""


def unreadable(rules: object) -> tuple[str, ...]:
    """What rules keep from being read in the workspace, as lines of a `.gitignore`."""
    patterns: Callable[[], tuple[str, ...]] = getattr(rules, "unreadable", tuple)
    here = (text for text in patterns() if not text.startswith(("/", "~")))
    return tuple(text[1:] if text.startswith("./") else text for text in here)


def exceptions(workspace: str) -> tuple[str, ...]:
    """The lines of a folder's `.steersmanignore` that would show what is hidden otherwise."""
    own = _own_lines(os.path.join(workspace, IGNORE_FILE))
    return tuple(line for line in own.split("\n") if line.startswith("!"))


class _Sight(NamedTuple):
    """What is known between two looks: the lines of files, and where secret links lead."""

    lines: str = ""
    targets: str = ""
    secret_files: SecretFiles = PLAIN_SIGHT


class Finder:
    """Finds the secret files that there are; folders that did not change are not read again.

    `also` are further lines that hide, `agreed` the exceptions that a person agreed to. All
    threads of a workspace share one. `find` may be called from any thread of the process, `look`
    belongs to the event loop and never holds it up.
    """

    def __init__(
        self, workspace: str, also: Sequence[str] = (), agreed: Sequence[str] = ()
    ) -> None:
        self._workspace = workspace
        self._always = _usual() + "".join(f"{line}\n" for line in (*agreed, *also)) + APART
        self._seen: dict[str, tuple[tuple[int, int], tuple[str, ...], tuple[str, ...]]] = {}
        self._sight = _Sight()
        self._finding = threading.Lock()
        self._looking = asyncio.Lock()
        self._next: asyncio.Task[Found] | None = None

    async def look(self, *, deep: bool) -> Found:
        """Like `find`; those who want a deep look while one is under way share the next one.

        Nobody shares a look that began before they asked: it may have passed by what they mean.
        """
        if not deep:
            if self._lines() == self._sight.lines:
                return self._sight.secret_files, ()
            return await asyncio.to_thread(self.find, deep=False)
        if self._next is None:
            self._next = asyncio.create_task(self._look_next(), name="secret-files")
        return await asyncio.shield(self._next)

    async def close(self) -> None:
        """Wait for a look that nobody waits for any more."""
        if self._next is not None:
            await asyncio.wait({self._next})
        async with self._looking:
            pass

    async def _look_next(self) -> Found:
        async with self._looking:
            self._next = None  # who asks from here on has to wait for another look
            return await asyncio.to_thread(self.find)

    def find(self, *, deep: bool = True) -> Found:
        """The secret files as they are now and, when looked for deeply, which there are.

        What a secret link leads to is secret too, from the first deep look on.
        """
        with self._finding:
            lines = self._lines()
            if lines != self._sight.lines:
                self._seen.clear()
                self._see(lines, self._sight.targets)
            if not deep:
                return self._sight.secret_files, ()
            secrets = tuple(self._below(self._workspace))
            targets = "".join(f"{line}\n" for line in self._led_to(secrets))
            if targets != self._sight.targets:
                self._see(lines, targets)
            return self._sight.secret_files, secrets

    def _lines(self) -> str:
        own = _own_lines(os.path.join(self._workspace, IGNORE_FILE))
        return (self._always + own).replace(ELSEWHERE, "")

    def _see(self, lines: str, targets: str) -> None:
        self._sight = _Sight(lines, targets, SecretFiles(self._workspace, f"{lines}\n{targets}"))

    def _led_to(self, secrets: Sequence[str]) -> Iterator[str]:
        """The places in the workspace that secret links lead to, as lines of a `.gitignore`."""
        top = real_path(self._workspace).rstrip("/") + "/"
        for path in secrets:
            if os.path.islink(path):
                place = real_path(path)
                if place.startswith(top) and "\n" not in place:
                    yield "/" + _SPECIAL.sub(r"\\\g<0>", place[len(top) :])

    def _below(self, top: str) -> Iterator[str]:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            with suppress(OSError):
                about = os.stat(folder, follow_symlinks=False)
                # Anyone can set the one time back (`tar`, `rsync -t`), nobody the other.
                changed = (about.st_mtime_ns, about.st_ctime_ns)
                known = self._seen.get(folder)
                if known is None or known[0] != changed:
                    known = self._seen[folder] = (changed, *self._look(folder))
                yield from known[1]
                waiting += known[2]

    def _look(self, folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The secrets in a folder, and the folders to look into."""
        secrets, folders = [], []
        top = len(self._workspace.rstrip("/")) + 1
        with os.scandir(folder) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and entry.name in SKIPPED:
                    continue
                if self._sight.secret_files.hides(os.fsencode(entry.path[top:]), is_folder):
                    secrets.append(entry.path)
                elif is_folder:
                    folders.append(entry.path)
        return tuple(secrets), tuple(folders)
