"""What a sandbox covers: files nobody may read.

A hidden file is covered by a device on a mount without devices: whatever opens it is told that
permission is denied, root too, and whatever only asks finds no ordinary file, so that no program
takes an emptied secret for the real one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from steersman.operations.running.disk import holds
from steersman.records.errors import ToolProblem

MOST = 400
_NOTHING = "/dev/null"


def hidden(paths: Iterable[str]) -> list[str]:
    """The real paths that exist, outermost only: what is in a covered folder is covered."""
    return _few(outermost(_real(paths)))


def veils(paths: Iterable[str], opened: Iterable[str]) -> tuple[list[str], list[str]]:
    """Hidden folders that are emptied, because something in them is opened; and what is covered.

    An emptied folder has nothing but what is opened in it, of which hidden parts are covered again.
    """
    every, seen = set(_real(paths)), set(opened)
    around = {path for path in every if any(path != one and holds(path, one) for one in seen)}

    def visible(path: str) -> bool:
        over = [one for one in around | seen if one != path and holds(one, path)]
        return not over or max(over, key=len) in seen

    covered = _few(outermost(filter(visible, every - around)))
    return sorted(filter(visible, around - seen)), covered


def _real(paths: Iterable[str]) -> Iterator[str]:
    return (os.path.realpath(path) for path in paths if os.path.exists(path))


def _few(found: list[str]) -> list[str]:
    if len(found) > MOST:
        raise ToolProblem(
            f"{len(found):,} files and folders are to be hidden from the command.",
            f"A sandbox covers {MOST} at most, each by itself.",
            "Name folders instead of the files in them in .steersmanignore.",
        )
    return found


def outermost(paths: Iterable[str]) -> list[str]:
    """Paths without those inside others, in order."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not kept or not holds(kept[-1], path):
            kept.append(path)
    return kept


def covers(paths: Iterable[str]) -> list[str]:
    """The words for bubblewrap that cover real paths."""
    words: list[str] = []
    for path in paths:
        if stat.S_ISDIR(os.stat(path).st_mode):
            words += ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
        else:
            words += ["--ro-bind", _NOTHING, path]
    return words


def pins(paths: Iterable[str], root: str, copy: str) -> list[str]:
    """The words that keep folders between a workspace and covers in it from being renamed.

    A cover would leave with them. What is mounted there is a copy, and they are mounted once more.
    """
    found = set()
    for path in paths:
        parent = os.path.dirname(path)
        while holds(root, parent) and parent != root:
            found.add(parent)
            parent = os.path.dirname(parent)
    places = [place for place in sorted(found) if os.path.isdir(copied(place, root, copy))]
    return [word for place in places for word in ("--bind", copied(place, root, copy), place)]


def copied(path: str, root: str, copy: str) -> str:
    """Where a path of a workspace is in a copy of it."""
    return os.path.join(copy, os.path.relpath(path, root))
