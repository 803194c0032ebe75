"""What a sandbox covers: files nobody may read.

A hidden file is covered by a device on a mount without devices: whatever opens it is reported that
permission is denied, root too, and whatever only asks finds no ordinary file, so that no program
takes an emptied secret for the real one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import heappop, heappush

from steersman.operations.running.disk import holds
from steersman.records.errors import ToolProblem
from steersman.records.real_paths import real_path

MOST = 400
_NOTHING = "/dev/null"


def hidden(paths: Iterable[str], root: str) -> list[str]:
    """The real paths that exist, outermost only: what is in a covered folder is covered.

    When they are many, a folder outside of which the workspace lies, and that holds nothing else,
    stands for all that is in it.
    """
    found = outermost(_real(paths))
    return found if len(found) <= MOST else outermost(_gathered(found, root))


def to_cover(paths: Iterable[str], opened: Iterable[str], root: str) -> tuple[list[str], list[str]]:
    """Hidden folders that are emptied, because something in them is opened; and what is covered.

    An emptied folder has nothing but what is opened in it, of which hidden parts are covered again.
    """
    every, seen = set(_real(paths)), set(opened)
    around = {path for path in every if any(path != one and holds(path, one) for one in seen)}

    def visible(path: str) -> bool:
        over = [one for one in around | seen if one != path and holds(one, path)]
        return not over or max(over, key=len) in seen

    covered = hidden(filter(visible, every - around), root)
    if len(covered) > MOST:
        raise ToolProblem(
            f"{len(covered):,} files and folders are to be hidden from the command.",
            f"Without overlays a sandbox covers {MOST} at most, one by one.",
            "Name folders instead of the files in them in .steersmanignore.",
        )
    return sorted(filter(visible, around - seen)), covered


def unveiled(paths: Iterable[str], veiled: Collection[str]) -> list[str]:
    """The real paths that exist and are not, and are in nothing, that is veiled."""
    covered = frozenset(veiled)

    def plain(path: str) -> bool:
        while path not in covered:
            path, below = os.path.dirname(path), path
            if path == below:
                return True
        return False

    return list(filter(plain, _real(paths)))


def _real(paths: Iterable[str]) -> Iterator[str]:
    return (real_path(path) for path in paths if os.path.exists(path))


def _gathered(paths: Sequence[str], root: str) -> Iterable[str]:
    """The paths, and the folders that hold nothing else, the deepest looked at first."""
    inside: dict[str, set[str]] = {}
    waiting: list[tuple[int, str]] = []

    def add(path: str) -> None:
        parent, name = os.path.split(path)
        if parent not in inside:
            heappush(waiting, (-parent.count("/"), parent))
        inside.setdefault(parent, set()).add(name)

    for path in paths:
        add(path)
    whole: list[str] = []
    while waiting:
        _, folder = heappop(waiting)
        if not holds(folder, root) and _names(folder) == inside[folder]:
            whole.append(folder)
            add(folder)
    return [*paths, *whole]


def _names(folder: str) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


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
    paths = list(paths)
    if len(paths) > MOST:
        raise ToolProblem(
            f"{len(paths):,} files and folders are to be hidden from the command.",
            f"Where there is no view of the workspace, a sandbox covers {MOST} at most.",
            "Run it in the foreground, or name folders in .steersmanignore instead of the files.",
        )
    for path in paths:
        if stat.S_ISDIR(os.stat(path).st_mode):
            words += ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
        else:
            words += ["--ro-bind", _NOTHING, path]
    return words


def above(paths: Iterable[str], root: str) -> list[str]:
    """The folders between a workspace and paths in it, outer ones first."""
    found = set()
    for path in paths:
        parent = os.path.dirname(path)
        while holds(root, parent) and parent != root:
            found.add(parent)
            parent = os.path.dirname(parent)
    return sorted(found)
