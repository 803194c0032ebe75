"""Which files a call of a server's tool names, as far as its arguments tell. Pure."""

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

MOST = 500
LONGEST = 4096


def paths_in(arguments: Any, workspace: str) -> Iterator[str]:
    """Every text in arguments as a path of the workspace; most of them are none."""
    waiting = [arguments]
    for _ in range(MOST):
        if not waiting:
            return
        match waiting.pop():
            case dict() as fields:
                waiting.extend(fields.values())
            case list() as items:
                waiting.extend(items)
            case str() as text if 0 < len(text) <= LONGEST and "\0" not in text:
                if text.startswith("file://"):
                    text = unquote(text.removeprefix("file://").removeprefix("localhost"))
                yield os.path.normpath(os.path.join(workspace, text))
