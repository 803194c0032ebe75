"""Whether a repository's history lies in a folder, for those who may see only that folder.

A `.git` can be a file or a link that leads to another repository, and parts of it can be links:
whoever writes in the folder could show the content of any repository on the machine.
"""

import os
from contextlib import suppress

from steersman.records.plain_files import read_plain
from steersman.records.protection import inside

MOST = 1 << 16
PARTS = ("HEAD", "index", "refs", "packed-refs", "objects", "objects/pack", "objects/info")


def own_history(root: str, within: str) -> bool:
    """Whether all of the repository at `root`, which is in the folder, is in it as well.

    Or else the repository elsewhere says that this is one of its worktrees.
    """
    entry = os.path.join(root, ".git")
    home = os.path.realpath(entry)
    if os.path.isfile(home):
        home = _led_to(home, "gitdir:", root)
    if not inside(home, within):
        back = _led_to(os.path.join(home, "gitdir"), "", home)
        return not os.path.islink(entry) and back == os.path.realpath(entry)
    common = _led_to(os.path.join(home, "commondir"), "", home) or home
    if not inside(common, within):
        return False
    parts = [os.path.realpath(os.path.join(top, one)) for top in (home, common) for one in PARTS]
    objects = os.path.join(common, "objects")
    others = _line(os.path.join(objects, "info", "alternates"))
    return not others and all(inside(one, within) for one in parts)


def _led_to(file: str, mark: str, base: str) -> str:
    """The path that a file names, from a folder; empty where it names none."""
    said = _line(file)
    if not said.startswith(mark) or not said:
        return ""
    return os.path.realpath(os.path.join(base, said.removeprefix(mark).strip()))


def _line(file: str) -> str:
    with suppress(OSError):
        return os.fsdecode(read_plain(file, MOST)).strip()
    return ""
