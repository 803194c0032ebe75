"""The instruction files that hold in a folder, for people who read and change them.

What a person writes here is their own: it passes no gate, and no undo knows of it.
"""

import os
import stat
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from steersman.governance.secret_finder import Finder
from steersman.identity.instructions import NAMES, Instructions
from steersman.identity.settings import config_file
from steersman.operations.journal.folders import Tree
from steersman.records.errors import UsageProblem
from steersman.records.names import written
from steersman.records.plain_files import whole_plain
from steersman.records.private_files import make_private_folder

LARGEST = 1 << 20
SOURCES = {
    "user": "yours, in every project",
    "configured": "named in your settings",
    "folder": "of this project",
}


class MemoryFile(Struct, frozen=True):
    """An instruction file; `about` says whose it is. One that is not `used` is empty or new."""

    path: str
    name: str
    about: str
    used: bool = True


def found(folder: str, environ: Mapping[str, str]) -> tuple[list[MemoryFile], list[str]]:
    """The files that hold here, those that could be made, and what was wrong with others."""
    root = os.path.realpath(folder)
    secret_files, _ = Finder(root).find(deep=False)
    looked = Instructions(root, environ, secret_files)
    files = [
        MemoryFile(os.path.realpath(one.path), one.name, SOURCES[one.source])
        for one in looked.beginning()
    ]
    config = os.path.realpath(config_file(environ).parent)
    for place, about in ((root, SOURCES["folder"]), (config, SOURCES["user"])):
        path = os.path.join(place, NAMES[0])
        taken = any(os.path.dirname(one.path) == place for one in files)
        if not taken and not os.path.islink(path):
            files.append(MemoryFile(path, looked.named(path), about, used=False))
    return files, looked.notes


def read(path: str) -> str:
    """What is in a file; empty when it is not there."""
    if not os.path.lexists(path):
        return ""
    try:
        return whole_plain(path, LARGEST).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "It is not text in UTF-8."
        raise UsageProblem(f"{path} cannot be read.", why or "") from error


def write(path: str, before: str, text: str) -> None:
    """Give a file another text, if it is still what it was."""
    text = text if not text or text.endswith("\n") else f"{text}\n"
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | (0 if before else os.O_CREAT)
    try:
        make_private_folder(Path(path).parent)
        # Links were followed when it was found; one that is in its path since is not.
        with (
            closing(Tree(os.sep)) as tree,
            tree.place(written(path.lstrip(os.sep)), 0) as (folder, name),
            open(os.open(name, flags, 0o666, dir_fd=folder), "r+b") as file,
        ):
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageProblem(f"{path} is not a regular file.")
            if file.read(LARGEST + 1) != before.encode():
                raise UsageProblem(
                    f"{path} was changed by someone else in the meantime.", "Nothing was written."
                )
            file.seek(0)
            file.write(text.encode(errors="replace"))
            file.truncate()
    except OSError as error:
        raise UsageProblem(f"{path} cannot be written.", error.strerror or "") from error


def add(path: str, line: str) -> None:
    """Add a line to a file, as an item of a list."""
    before = read(path)
    gap = "" if not before or before.endswith("\n") else "\n"
    write(path, before, f"{before}{gap}- {line}\n")
