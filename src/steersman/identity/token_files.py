"""Which files hold the tokens of servers: in the data folder, and where people put them instead.

What is in these files is masked in every thread, and no tool or command reads them.
"""

import os
from contextlib import suppress
from pathlib import Path

from steersman.records.plain_files import whole_plain
from steersman.records.private_files import replace_file

HTTP_TOKEN, MCP_TOKEN = "http-token", "mcp-token"  # in the data folder
LIST = "token-files"  # in the data folder: one path a line
LARGEST = 1 << 20


def elsewhere(folder: Path) -> tuple[str, ...]:
    """The files outside a data folder that servers have kept their tokens in."""
    try:
        return tuple(os.fsdecode(whole_plain(folder / LIST, LARGEST)).splitlines())
    except OSError:
        return ()


def note(folder: Path, path: Path) -> None:
    """Remember a file outside the data folder."""
    real, known = os.path.realpath(path), elsewhere(folder)
    inner = os.path.realpath(folder) + os.sep
    if not real.startswith(inner) and real not in known and len(real.splitlines()) == 1:
        there = [one for one in known if os.path.lexists(one)]
        with suppress(OSError):  # a server that cannot write here fails elsewhere, with a sentence
            replace_file(folder / LIST, "".join(f"{one}\n" for one in (*there, real)))


def files(folder: Path) -> tuple[Path, ...]:
    """All of them."""
    return (folder / HTTP_TOKEN, folder / MCP_TOKEN, *map(Path, elsewhere(folder)))
