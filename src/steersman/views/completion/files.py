"""The files and folders of a workspace, listed as tools list them, ready for fuzzy matching.

What `.gitignore` leaves out and what is secret is not offered, nor are names that cannot be
written down: with line breaks, controls, or bytes that are not text.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence

from steersman.host.listing import FileNames, file_names
from steersman.records.errors import ToolProblem
from steersman.records.secret_files import SKIPPED, SecretFiles
from steersman.views.completion.fuzzy import Index
from steersman.views.text import safe

MOST = 200_000
FRESH = 5.0  # seconds for which a listing is good enough
EMPTY = Index(())


class Files:
    """The latest listing of one folder."""

    def __init__(self, folder: str, environ: Mapping[str, str]) -> None:
        self.folder = os.path.realpath(folder)
        self.index = EMPTY
        self.complete = True
        self._environ = environ
        self._listed: FileNames | None = None
        self._looked = float("-inf")
        self._looking = asyncio.Lock()

    @property
    def fresh(self) -> bool:
        """Whether there is no need to look again."""
        return time.monotonic() - self._looked < FRESH

    async def refresh(self) -> bool:
        """Look at the folder again; True if there is another index now."""
        async with self._looking:
            if self.fresh:
                return False
            try:
                return await self._look()
            except ToolProblem:
                return False  # what was known is better than nothing
            finally:
                self._looked = time.monotonic()

    async def _look(self) -> bool:
        found = await file_names(self.folder, self._environ)
        if self._listed == found:
            return False
        self.index = await asyncio.to_thread(build, found.names, found.secret_files)
        self._listed = found
        self.complete = found.complete and len(found.names) <= MOST
        return True


def build(names: Sequence[bytes], secret_files: SecretFiles) -> Index:
    """An index of some files and the folders they are in."""
    sight = _Sight(secret_files)
    files = [path for name in names[:MOST] if (path := sight.shown(name))]
    folders: set[str] = set()
    for path in files:
        folder = os.path.dirname(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return Index([*files, *(f"{folder}/" for folder in folders)])


class _Sight:
    """What of a listing may be shown; every folder is judged once."""

    def __init__(self, secret_files: SecretFiles) -> None:
        self._veil = secret_files
        self._open: dict[bytes, bool] = {b"": True}
        self._free: dict[bytes, bool] = {b"": False}

    def shown(self, name: bytes) -> str:
        """A file as a person writes it; empty when it is not shown."""
        folder = os.path.dirname(name)
        if not self._seen(folder) or not (self._free[folder] or not self._veil.hides(name, False)):
            return ""
        return _writable(name)

    def _seen(self, folder: bytes) -> bool:
        known = self._open.get(folder)
        if known is not None:
            return known
        above = os.path.dirname(folder)
        seen = self._seen(above)
        # Inside of what package managers make, nothing is secret: see `secret_files.py`.
        free = self._free[above] or os.path.basename(folder).decode("utf-8", "replace") in SKIPPED
        seen = seen and (self._free[above] or not self._veil.hides(folder, True))
        self._open[folder], self._free[folder] = seen, free
        return seen


def _writable(name: bytes) -> str:
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    if any(char in text for char in '\t\n"'):
        return ""
    return text if text.isprintable() or safe(text) == text else ""
