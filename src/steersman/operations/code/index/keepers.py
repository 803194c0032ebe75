"""The indexes of all workspaces of one host. What keeps one is imported when it is wanted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steersman.operations.code.index.keeper import IndexKeeper


class IndexKeepers:
    """The keepers of all workspaces of one host, by root."""

    def __init__(self, home: Path, environ: Mapping[str, str] | None = None) -> None:
        self._home = home
        self._environ = os.environ if environ is None else environ
        self._keepers: dict[str, IndexKeeper] = {}

    def of(self, root: str, secret: str | None = None) -> IndexKeeper:
        """The keeper of a workspace, told which files are secret now, if that is known.

        It may be called from any thread; the first call imports much.
        """
        from steersman.operations.code.index.keeper import IndexKeeper

        known = self._keepers.get(root)
        if known is None:
            made = IndexKeeper(root, self._home, self._environ)
            known = self._keepers.setdefault(root, made)
        if secret is not None:
            known.secret_files(secret)
        return known

    def kept(self, root: str) -> bool:
        """Whether there is an index of a workspace already."""
        from steersman.operations.code.index.store import place

        return place(self._home, root).exists()

    async def close(self) -> None:
        """Close them all."""
        keepers, self._keepers = list(self._keepers.values()), {}
        for keeper in keepers:
            await keeper.close()
