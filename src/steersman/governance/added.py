"""Folders beside the workspace that a person lets an agent read: which may be, what in them is not.

They are only read: what is written there could not be undone.
"""

import os
from collections.abc import Sequence
from typing import Protocol

from steersman.governance.confinement import private_places
from steersman.governance.secret_finder import Finder
from steersman.records.errors import UsageProblem
from steersman.records.names import written
from steersman.records.protection import inside
from steersman.records.secret_files import SecretFiles, together


def resolved(
    folders: Sequence[str], workspace: str, home: str, state: Sequence[str]
) -> tuple[str, ...]:
    """Where the folders really are, without those that are in the workspace anyway.

    Raises what is wrong with one; `state` are the host's own folders.
    """
    private = [os.path.realpath(path) for path in private_places(home, state)]
    found = dict.fromkeys(_real(folder, home, private) for folder in folders)
    return tuple(folder for folder in found if not inside(folder, workspace))


def _real(folder: str, home: str, private: Sequence[str]) -> str:
    path = home + folder[1:] if home and (folder == "~" or folder.startswith("~/")) else folder
    real = os.path.realpath(path) if "\0" not in path else path
    held = [one for one in private if inside(one, real) and os.path.lexists(one)]
    if not os.path.isabs(path):
        why = "The path must begin with / or ~."
    elif "\0" in path or written(real) != real:
        why = "Its name is not UTF-8."
    elif not os.path.isdir(real):
        why = "It is not a folder." if os.path.lexists(real) else "It does not exist."
    elif any(inside(real, one) for one in private):
        why = "It is private."
    elif held:
        why = f"It contains {held[0]}, which is private."
    else:
        return real
    raise UsageProblem(f"The folder {folder} cannot be added.", why, "Name a folder to read.")


class Looks(Protocol):
    """Finds the secret files of one folder."""

    async def look(self, *, deep: bool) -> tuple[SecretFiles, tuple[str, ...]]:
        """Which files are secret and, when looked for deeply, which there are."""
        ...

    async def close(self) -> None:
        """Wait for looks that nobody waits for any more."""
        ...


class Lookout:
    """Finds the secret files of a workspace, and of the folders that were added to it."""

    def __init__(self, workspace: str, finder: Looks, also: Sequence[str]) -> None:
        self._workspace = workspace
        self._finder = finder
        self._also = also
        self._added: dict[str, Finder] = {}

    def add(self, folders: Sequence[str]) -> None:
        """Look into these as well, and into no others."""
        known = self._added
        self._added = {
            folder: known.get(folder) or Finder(folder, self._also) for folder in folders
        }

    async def look(self, *, deep: bool) -> tuple[SecretFiles, tuple[str, ...]]:
        """Which files are secret and, when looked for deeply, which there are."""
        secret_files, hidden = await self._finder.look(deep=deep)
        if not self._added:
            return secret_files, hidden
        found = [await finder.look(deep=deep) for finder in self._added.values()]
        more = (path for _, paths in found for path in paths if not inside(path, self._workspace))
        return together(secret_files, *(one for one, _ in found)), (*hidden, *more)

    async def close(self) -> None:
        """Wait for looks that nobody waits for any more."""
        for finder in self._added.values():
            await finder.close()
