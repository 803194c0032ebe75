"""Which files a call of a server's tool names, as far as its arguments tell.

Pure, but for the look that shows where a link leads: a server follows links, so a name that is no
secret may still lead to one.
"""

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from steersman.records.patterns import pattern

LONGEST = 4096  # bytes of a name that a system opens
_ADDRESS = pattern(r"file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)


def paths_in(arguments: Any, workspace: str, home: str = "") -> Iterator[str]:
    """Every text in arguments as a path of the workspace; most of them are none.

    All of them are looked at, however many and however long: servers make names shorter themselves.
    """
    waiting = [arguments]
    while waiting:
        match waiting.pop():
            case dict() as fields:
                waiting.extend(fields.values())
                waiting.extend(name for name in fields if "." in name or "/" in name)
            case list() as items:
                waiting.extend(items)
            case str() as text:
                yield from _paths(text, workspace, home)


def _paths(text: str, workspace: str, home: str) -> Iterator[str]:
    """A text as a path, by its name and by where it leads."""
    bare = text.partition("\0")[0]
    for name in dict.fromkeys((bare, bare.strip())):
        if found := _ADDRESS.match(name):
            name = unquote(name[found.end() :])
        if home and (name == "~" or name.startswith("~/")):
            name = home + name[1:]
        if not name:
            continue
        path = os.path.join(workspace, name)
        short = os.path.normpath(path)
        yield short
        for one in (path, short):
            try:
                if len(os.fsencode(one)) <= LONGEST and os.path.lexists(one):
                    yield os.path.realpath(one)
            except (OSError, ValueError):  # half a letter is not a name
                continue
