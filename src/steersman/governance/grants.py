"""What a server in a sandbox may be given of the disk, and what never.

A server writes the disk itself: nothing it does there passes the gate or can be undone. So it is
given no folder with a file in it that other programs run or load, and none that is private.
"""

import os
from collections.abc import Iterator, Sequence

from steersman.governance.secret_finder import Finder
from steersman.records.errors import ToolProblem
from steersman.records.git_places import GitPlaces
from steersman.records.protection import inside, protected_name, runs_host
from steersman.records.secret_files import SKIPPED

MOST_LOOKED_AT = 100_000


def located(path: str, workspace: str, home: str) -> str:
    """A granted path in full: `~` is the home folder, a relative one is below the workspace."""
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return os.path.normpath(os.path.join(workspace, path))


def check_readable(place: str, workspace: str, private: Sequence[str]) -> None:
    """Refuse a path that is private or not there, and a link that a command may turn elsewhere."""
    why = _unfit(place, private)
    if not why and inside(place, workspace) and not inside(os.path.realpath(place), workspace):
        why = "it is a link that leads out of the workspace"
    _refuse(place, "read", why)


def check_writable(
    place: str, workspace: str, home: str, private: Sequence[str], secrets: Sequence[str]
) -> None:
    """Refuse a path that a server should not change behind the gate's back."""
    why = _unfit(place, private)
    if not why and (inside(workspace, place) or inside(home, place)):
        why = "it is or contains the whole workspace or the home folder"
    if not why and any(inside(path, place) for path in (*private, *secrets)):
        why = "it contains hidden files"
    if not why and os.path.realpath(place) != place:
        why = "it is a link, or leads through one"
    if not why:
        why = _kept(place, workspace)
    _refuse(place, "change", why)


def secrets_below(place: str, workspace: str) -> tuple[str, ...]:
    """The files of a folder outside the workspace that are secret by their names.

    A folder that holds the workspace is not shown any more than it is without being granted.
    """
    if inside(workspace, os.path.realpath(place)):
        return ()
    secret, found, seen = Finder(place).find(deep=False)[0], [], 0
    for folder, folders, files in os.walk(place):
        seen += len(folders) + len(files)
        if seen > MOST_LOOKED_AT:
            _refuse(place, "read", "it has too many files to check")
        below = os.path.relpath(folder, place) if folder != place else ""
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in (*folders, *files):
            if secret.hides(os.fsencode(os.path.join(below, name)), name in folders):
                found.append(os.path.join(folder, name))
    return tuple(found)


def _refuse(place: str, verb: str, why: str) -> None:
    if why:
        raise ToolProblem(
            f"A server cannot get permission to {verb} {place}: {why}.",
            try_this="Change `sandbox` or `cwd` in its entry; docs/mcp.md says what is allowed.",
        )


def _unfit(place: str, private: Sequence[str]) -> str:
    if not os.path.exists(place):
        return "it does not exist"
    real = os.path.realpath(place)
    return "it is private" if any(inside(real, path) for path in private) else ""


def _kept(place: str, workspace: str) -> str:
    """Why a path is kept as it is: it is or holds what other programs run or load."""
    if runs_host(place, workspace):
        return "Steersman runs from there"
    top = workspace if inside(place, workspace) else os.path.dirname(place)
    places = GitPlaces(top)
    for count, path in enumerate(_below(place)):
        if count > MOST_LOOKED_AT:
            return "it has too many files to check"
        name = os.path.relpath(path, top)
        if protected_name(name, places, top) or ".git" in name.lower().split("/"):
            return f"other programs run or load {name}"
    return ""


def _below(place: str) -> Iterator[str]:
    yield place
    for folder, folders, files in os.walk(place):
        yield from (os.path.join(folder, name) for name in (*folders, *files))
