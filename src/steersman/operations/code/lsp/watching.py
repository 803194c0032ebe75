"""What changed below a folder since the last look: servers rely on their client to tell them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress

from steersman.operations.code.lsp.servers import LanguageServer
from steersman.records.secret_files import SKIPPED

CREATED, CHANGED, DELETED = 1, 2, 3
MOST = 50_000
SLOW = 0.25
REST = 20  # after a slow look, how many times as long none is made

Seen = dict[str, tuple[int, int]]


class Watch:
    """The files of one server's languages, and the files that mark projects."""

    def __init__(self, server: LanguageServer, folder: str) -> None:
        self._server = server
        self._folder = folder
        self._seen: Seen = {}
        self._not_before = 0.0

    def look(self) -> None:
        """Take what is there now for known."""
        self._seen = self._walk()

    def changes(self) -> list[tuple[str, int]]:
        """Files that came, changed or went, by the protocol's numbers for that."""
        if time.monotonic() < self._not_before:
            return []
        before, self._seen = self._seen, self._walk()
        return list(differences(before, self._seen))

    def _walk(self) -> Seen:
        started = time.monotonic()
        seen: Seen = {}
        for entry in self._files():
            with suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                seen[entry.path] = (found.st_mtime_ns, found.st_size)
            if len(seen) >= MOST:
                break
        took = time.monotonic() - started
        self._not_before = started + REST * took if took > SLOW else 0.0
        return seen

    def _files(self) -> Iterator[os.DirEntry[str]]:
        folders = [self._folder]
        while folders:
            try:
                with os.scandir(folders.pop()) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            if entry.name not in SKIPPED:
                                folders.append(entry.path)
                        elif entry.is_file(follow_symlinks=False) and self._server.watches(
                            entry.name
                        ):
                            yield entry
            except OSError:
                continue


def differences(before: Seen, after: Seen) -> Iterator[tuple[str, int]]:
    """What came, changed and went between two looks."""
    for path, signature in after.items():
        if path not in before:
            yield path, CREATED
        elif before[path] != signature:
            yield path, CHANGED
    for path in before.keys() - after.keys():
        yield path, DELETED
