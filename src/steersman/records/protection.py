"""Which files need more than the usual permission, by their place in the workspace."""

import os
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from steersman.records import protected_git
from steersman.records.action import Delete, Write
from steersman.records.far_disk import far_disk
from steersman.records.git_places import GitPlaces
from steersman.records.own_places import config_folder, data_folder
from steersman.records.patterns import pattern
from steersman.records.protected_links import FILES, FOLDERS

# Where the host itself runs from, and its settings and state: whoever changes these is no longer
# confined by it.
_PREFIXES = (sys.prefix, sys.base_prefix)
_GIT_ITSELF = pattern(r"(?:^|/)\.git(?:/(?:head|objects|refs))?$")
_GIT_PLACE = pattern(r"(?:^|/)\.git$")
# Without this file no folder is a repository, whatever else is in it.
_BARE = pattern(r"(?!(?:.*/)?\.git/)(?:.*/)?HEAD", re.DOTALL)


def inside(path: str, folder: str) -> bool:
    """True when a resolved path is the folder or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def protected_name(name: str, places: GitPlaces | None = None, workspace: str = "") -> bool:
    """Whether a change of a path, relative to the workspace, needs a closer look."""
    if name == "." or _BARE.fullmatch(name):
        return True
    if places is not None:
        path = os.path.join(workspace, name)
        if places.obeyed(path) or places.leads(path):
            return True
        name = places.as_git(name)
        if ".git" not in name.lower().split("/") and places.begins(path):
            return True
    name = name.lower()
    parts = name.split("/")
    return bool(
        protected_git.obeyed(name)
        or protected_git.looked_into(name)
        or _GIT_ITSELF.search(name)
        or parts[-1] in FILES
        or _in_folder(parts)
    )


def _in_folder(parts: Sequence[str]) -> bool:
    """Whether a path is or lies in a protected folder, which has one name or two."""
    pairs = map("/".join, pairwise(parts))
    return not FOLDERS.isdisjoint(parts) or not FOLDERS.isdisjoint(pairs)


def git_bookkeeping(path: str) -> bool:
    """Whether a path, relative to the workspace, is one that git changes as it works."""
    name = path.lower()
    return ".git" in path.split("/") and (
        protected_git.looked_into(name) or not protected_name(path)
    )


def runs_host(path: str, workspace: str) -> bool:
    """Whether a resolved path belongs to the program that confines, and lies in the workspace."""
    own = _own(str(config_folder(os.environ)), str(data_folder(os.environ)))
    return any(inside(path, place) and inside(place, workspace) for place in own)


@lru_cache(maxsize=4)
def _own(*folders: str) -> frozenset[str]:
    return frozenset(os.path.realpath(place) for place in (*_PREFIXES, *folders))


def protected(action: Write | Delete, workspace: str) -> str:
    """What file it is that needs approval in any case; empty when it does not."""
    there = far_disk()
    return there.protected(action, workspace) if there else _protected(action, workspace)


def _protected(action: Write | Delete, workspace: str) -> str:
    shown = action.path[len(workspace.rstrip("/")) + 1 :]
    parts = shown.lower().split("/")
    if runs_host(action.path, workspace):
        return f"{shown}, a part of Steersman itself, its settings or its state"
    places = GitPlaces(workspace)
    name = places.as_git(shown).lower()
    if isinstance(action, Write) and action.opened and (not shown or ".git" in name.split("/")):
        return f"{shown or 'the workspace folder'}, so that others may write there"
    if _named_by_git(action, places) or protected_git.runs_something(action, name):
        others = places.behind_link(action.path)
        return f"{shown}, which {'other programs run or load' if others else 'git runs or loads'}"
    if protected_git.obeyed(name):
        return ""
    if _GIT_ITSELF.search(name) and isinstance(action, Delete):
        return f"{shown}, a part of the repository itself"
    if isinstance(action, Write) and (
        _leads_git_away(action, shown, name)
        or _BARE.fullmatch(shown)
        or (".git" not in name.split("/") and places.begins(action.path))
    ):
        return f"{shown}, with which git could take a folder for a repository"
    if parts[-1] in FILES or _in_folder(parts):
        return f"{shown}, which other programs run or load"
    return ""


def _named_by_git(action: Write | Delete, places: GitPlaces) -> bool:
    """Whether a config names what is changed, or what would lie elsewhere by a link."""
    if places.obeyed(action.path):
        return True
    return " → link to " in action.diff and places.leads(action.path)


def _leads_git_away(action: Write, shown: str, name: str) -> bool:
    """True for a repository that is a file or a link: it names another, with any config."""
    usual = (f"{shown}: absent → folder\n", f"{shown}: mode ")
    return bool(_GIT_PLACE.search(name)) and not action.diff.startswith(usual)
