"""Whether a repository's history lies in a folder, for those who may see only that folder.

A `.git` can be a file or a link that leads to another repository, and anything in it can be a link:
whoever writes in the folder could show the content of any repository on the machine.
"""

import os

from steersman.records.plain_files import whole_plain
from steersman.records.protection import inside

LARGEST = 1 << 16
MOST = 200_000  # entries of a repository that are looked at; one with more is not shown


def own_history(root: str, within: str) -> bool:
    """Whether all of the repository at `root`, which is in the folder, is in it as well.

    Or else the repository elsewhere says that this is one of its worktrees.
    """
    entry = os.path.join(root, ".git")
    try:
        home = os.path.realpath(entry)
        if os.path.isfile(home):
            home = _led_to(home, "gitdir: ", root)
        if not inside(home, within):
            back = _led_to(os.path.join(home, "gitdir"), "", home)
            return not os.path.islink(entry) and back == os.path.realpath(entry)
        common = _led_to(os.path.join(home, "commondir"), "", home) or home
        alternates = os.path.join(common, "objects", "info", "alternates")
        return not os.path.lexists(alternates) and _stays(within, home, common)
    except OSError:  # whatever it is, git may understand it
        return False


def _stays(within: str, *tops: str) -> bool:
    """Whether folders are in another, and so is all that links below them lead to."""
    waiting, seen = list(tops), set[str]()
    entries = 0
    while waiting:
        folder = os.path.realpath(waiting.pop())
        if not inside(folder, within):
            return False
        if folder in seen:
            continue
        seen.add(folder)
        with os.scandir(folder) as found:
            for entry in found:
                entries += 1
                link = entry.is_symlink()
                if entries > MOST or (link and not inside(os.path.realpath(entry.path), within)):
                    return False
                if entry.is_dir():
                    waiting.append(entry.path)
    return True


def _led_to(file: str, mark: str, base: str) -> str:
    """The path that a file names, from a folder; empty where there is no such file.

    Git cuts off the end of the line, and no space. Raises `OSError` where it names none.
    """
    try:
        said = os.fsdecode(whole_plain(file, LARGEST)).rstrip("\r\n")
    except FileNotFoundError:
        return ""
    if not said.startswith(mark) or said == mark or "\0" in said:
        raise OSError(0, "It names no path.")
    return os.path.realpath(os.path.join(base, said.removeprefix(mark)))
