"""The functions, classes and other names that a workspace's code defines, for fuzzy matching.

A name is to its file what a file is to its folder (`src/calc.py/add`), so that it is found like
one; it is written `src/calc.py#add`.
"""

import asyncio

from steersman.records.errors import SteersmanError
from steersman.views.completion.files import Files
from steersman.views.completion.fuzzy import Index
from steersman.views.text import safe

MOST = 200_000


class Symbols(Files):
    """The latest names of one folder's code; looked up when they are first wanted."""

    async def _look(self) -> bool:
        try:
            found = await asyncio.to_thread(self._names)
        except SteersmanError:
            return False  # what was known is better than nothing
        if found == self._known:
            return False
        self.index = await asyncio.to_thread(Index, found)
        self._known = found
        return True

    def _names(self) -> list[str]:
        from steersman.host.index import open_index

        with open_index(self.folder, self._environ) as index:
            index.update()
            names = index.names()
        return [f"{path}/{name}" for path, name in names[:MOST] if _writable(path, name)]

    _known: list[str] | None = None


def _writable(path: str, name: str) -> bool:
    text = f"{path}{name}"
    return safe(text) == text and not any(char in text for char in '\t\n"') and "/" not in name
