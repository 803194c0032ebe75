"""Programs the host itself runs: never one of the workspace, whatever the PATH says.

A virtual environment in the workspace is on the PATH of many people, and commands may write there.
"""

import os
from collections.abc import Mapping
from contextlib import suppress

from steersman.records.plain_files import is_special

_GITS_OWN = ("", "info", "objects/info", "refs/heads")
_BESIDE = (".git", ".gitattributes", ".gitignore", ".gitmodules")
_SYSTEM = os.pathsep.join(("/usr/bin", "/bin", "/run/current-system/sw/bin"))


def found(name: str, environ: Mapping[str, str], workspace: str) -> str | None:
    """The first program of that name on the PATH, in a folder that is not of the workspace."""
    root = os.path.realpath(workspace)
    for folder in environ.get("PATH", _SYSTEM).split(os.pathsep):
        program = os.path.join(folder, name)
        if not os.path.isabs(folder) or _inside(program, root) or not os.access(program, os.X_OK):
            continue
        if os.path.isfile(program) and not _inside(os.path.realpath(program), root):
            return program
    return None


def repository(folder: str) -> str | None:
    """The top of the repository that a folder is in."""
    top = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(top, ".git")):
        if top == os.path.dirname(top):
            return None
        top = os.path.dirname(top)
    return top


def git(environ: Mapping[str, str], folder: str) -> str | None:
    """The program, unless it would wait for a pipe or device that is among git's own files."""
    top = repository(folder)
    if top is None:
        return None
    if any(is_special(os.path.join(top, name)) for name in _BESIDE):
        return None
    inner = os.path.join(top, ".git")
    for place in _GITS_OWN:
        with suppress(OSError), os.scandir(os.path.join(inner, place)) as entries:
            if any(is_special(entry.path) for entry in entries):
                return None
    return found("git", environ, folder)


def outside(path: str, workspace: str) -> str:
    """A PATH without what is relative to a folder or lies in the workspace."""
    root = os.path.realpath(workspace)
    kept = (
        folder
        for folder in path.split(os.pathsep)
        if os.path.isabs(folder) and not _inside(os.path.realpath(folder) + "/", root)
    )
    return os.pathsep.join(kept) or _SYSTEM


def of_the_system(name: str) -> str:
    """A program that every system has, looked for where systems keep theirs."""
    return found(name, {"PATH": _SYSTEM}, "/nowhere") or f"/usr/bin/{name}"


def _inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
