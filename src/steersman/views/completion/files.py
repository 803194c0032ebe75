"""The files and folders of a workspace, listed as tools list them, ready for fuzzy matching.

What `.gitignore` leaves out, what tools make again (`.venv`, `node_modules`) and what is secret is
not offered, nor are names that cannot be written down: with line breaks, controls, or bytes that
are not text. Whoever types the name of a folder that is left out is offered what is in it.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from itertools import islice

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
        self._folders: frozenset[str] = frozenset()
        self._inside: tuple[str, Index] = ("", EMPTY)  # a folder that is left out, and its names
        self._looked = float("-inf")
        self._looking = asyncio.Lock()

    @property
    def fresh(self) -> bool:
        """Whether there is no need to look again."""
        return time.monotonic() - self._looked < FRESH

    def found(self, query: str) -> Index:
        """Where to look for what is typed."""
        folder, inside = self._inside
        return inside if len(inside) and folder == _folder(query) else self.index

    def leaves_out(self, query: str) -> bool:
        """Whether a person types into a folder that nothing is known of."""
        folder = _folder(query)
        return bool(folder) and folder not in self._folders and folder != self._inside[0]

    async def look_into(self, query: str) -> bool:
        """Look into the folder that a person types the name of; True if there is something."""
        if self._listed is None or not self.leaves_out(query):
            return False
        folder = _folder(query)
        paths = await asyncio.to_thread(_entries, self.folder, folder, self._listed.secret_files)
        self._inside = (folder, Index(paths))
        return bool(paths)

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
        self._folders = frozenset(one[:-1] for one in self.index.paths if one.endswith("/"))
        self.complete = found.complete and len(found.names) <= MOST
        return True


def build(names: Sequence[bytes], secret_files: SecretFiles) -> Index:
    """An index of some files and the folders they are in."""
    sight = _Sight(secret_files)
    files = [path for name in names[:MOST] if (path := sight.shown(name)) and not sight.made(name)]
    folders: set[str] = set()
    for path in files:
        folder = os.path.dirname(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return Index([*files, *(f"{folder}/" for folder in folders)])


def _folder(query: str) -> str:
    return query.rpartition("/")[0]


def _entries(top: str, folder: str, secret_files: SecretFiles) -> list[str]:
    """What is in a folder of the workspace; nothing of one that is elsewhere, or git's own."""
    place = f"{top}/{folder}"
    if os.path.realpath(place) != place or ".git" in folder.split("/"):
        return []
    sight = _Sight(secret_files)
    try:
        with os.scandir(place) as found:
            inside = [(one.name, one.is_dir()) for one in islice(found, MOST)]
    except OSError:
        return []
    names = [(os.fsencode(f"{folder}/{name}"), "/" if deep else "") for name, deep in inside]
    return [f"{path}{end}" for name, end in names if (path := sight.shown(name, folder=bool(end)))]


class _Sight:
    """What of a listing may be shown; every folder is judged once."""

    def __init__(self, secret_files: SecretFiles) -> None:
        self._veil = secret_files
        self._open: dict[bytes, bool] = {b"": True}
        self._free: dict[bytes, bool] = {b"": False}

    def shown(self, name: bytes, *, folder: bool = False) -> str:
        """A file or folder as a person writes it; empty when it is not shown."""
        above = os.path.dirname(name)
        if not self._seen(above) or not (self._free[above] or not self._veil.hides(name, folder)):
            return ""
        return _writable(name)

    def made(self, name: bytes) -> bool:
        """Whether tools made it, and would make it again; asked of what is shown."""
        return self._free[os.path.dirname(name)]

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
