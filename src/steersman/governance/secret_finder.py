"""Which files of a workspace hold secrets: the usual names, and what `.steersmanignore` says.

Neither tools nor commands can read them. The file has the syntax of `.gitignore`; `!name` makes an
exception. What git's history already holds cannot be hidden: `steer doctor` tells.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from steersman.records.secret_files import PLAIN_SIGHT, SKIPPED, SecretFiles

IGNORE_FILE = ".steersmanignore"
LARGEST = 1 << 20
_SPECIAL = re.compile(r"[\\*?\[\]!# ]")
_USUAL = Path(__file__).with_name("secret_names.gitignore")


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
    return tuple(text for text in patterns() if not text.startswith(("/", "~")))


class Finder:
    """Finds the secret files that there are; folders that did not change are not read again."""

    def __init__(self, workspace: str, also: Sequence[str] = ()) -> None:
        self._workspace = workspace
        self._also = "".join(f"{line}\n" for line in also)
        self._seen: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {}
        self._lines = ""
        self._veil = PLAIN_SIGHT
        self._targets = ""
        self.looked = False

    def find(self, *, deep: bool = True) -> tuple[SecretFiles, tuple[str, ...]]:
        """The secret_files as it is now, and, when looked for deeply, what it hides.

        What a secret link leads to is secret too, from the first deep look on.
        """
        lines = _usual() + _own_lines(os.path.join(self._workspace, IGNORE_FILE)) + self._also
        if lines != self._lines:
            self._seen.clear()
            self._lines = lines
            self._veil = SecretFiles(self._workspace, lines + self._targets)
        if not deep:
            return self._veil, ()
        secrets = tuple(self._below(self._workspace))
        targets = "".join(f"{line}\n" for line in self._led_to(secrets))
        self.looked = True
        if targets != self._targets:
            self._targets = targets
            self._veil = SecretFiles(self._workspace, lines + targets)
        return self._veil, secrets

    def _led_to(self, secrets: Sequence[str]) -> Iterator[str]:
        """The places in the workspace that secret links lead to, as lines of a `.gitignore`."""
        top = os.path.realpath(self._workspace).rstrip("/") + "/"
        for path in secrets:
            if os.path.islink(path):
                place = os.path.realpath(path)
                if place.startswith(top) and "\n" not in place:
                    yield "/" + _SPECIAL.sub(r"\\\g<0>", place[len(top) :])

    def _below(self, top: str) -> Iterator[str]:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            with suppress(OSError):
                changed = os.stat(folder, follow_symlinks=False).st_mtime_ns
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
                if self._veil.hides(os.fsencode(entry.path[top:]), is_folder):
                    secrets.append(entry.path)
                elif is_folder:
                    folders.append(entry.path)
        return tuple(secrets), tuple(folders)
