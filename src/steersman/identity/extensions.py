"""Files that are tools: in the user's config folder, and in a folder that they trust.

They are only read here. What they are is learned in a sandbox (`operations/extensions.py`).
"""

import os
from collections.abc import Iterator, Mapping

from msgspec import Struct

from steersman.identity.settings import config_file
from steersman.records.extensions import ToolFile
from steersman.records.plain_files import whole_plain
from steersman.records.protection import inside

WORKSPACE = ".steersman/tools"
MOST, LARGEST = 100, 256 * 1024


class Found(Struct, frozen=True):
    """The files there are, the user's first, and what was wrong with others."""

    files: tuple[ToolFile, ...] = ()
    problems: tuple[str, ...] = ()


def find(workspace: str, environ: Mapping[str, str], *, trusted: bool) -> Found:
    """Every tool file for a workspace; the folder's own only when it is trusted."""
    root = os.path.realpath(workspace)
    places = [(str(config_file(environ).with_name("tools")), "")]
    places += [(os.path.join(root, WORKSPACE), root)] if trusted else []
    files: list[ToolFile] = []
    problems: list[str] = []
    for folder, within in places:
        for path in _names(folder):
            if len(files) >= MOST:
                problems.append(f"{path} is not used: there are more than {MOST} tools.")
                break
            if within and not inside(os.path.realpath(path), within):
                problems.append(f"{path} is not used: it leads out of the folder.")
                continue
            try:
                files.append(read(path))
            except (OSError, UnicodeDecodeError) as error:
                problems.append(f"{path} is not used: {unread(error)}")
    return Found(tuple(files), tuple(problems))


def read(path: str) -> ToolFile:
    """A tool file; raises `OSError`, and `UnicodeDecodeError` where it is no text."""
    return ToolFile(path, whole_plain(path, LARGEST).decode())


def unread(error: Exception) -> str:
    """Why a file cannot be read, as a sentence."""
    if isinstance(error, UnicodeDecodeError):
        return "It is not text in UTF-8."
    said = getattr(error, "strerror", "") or str(error)
    return f"{said.rstrip('.')}."


def _names(folder: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name.endswith(".py") and not name.startswith((".", "_")):
            yield os.path.join(folder, name)
