"""Which files need more than the usual leave, by their place in the workspace."""

import os
import re
from pathlib import Path

from steersman.action import Delete, Write

_NAMES = [
    name
    for name in Path(__file__).with_name("protected.txt").read_text(encoding="utf-8").splitlines()
    if name and not name.startswith("#")
]
FOLDERS = frozenset(name.removesuffix("/") for name in _NAMES if name.endswith("/"))
FILES = frozenset(name for name in _NAMES if not name.endswith("/"))
# Inside `.git`: what git runs or obeys. The rest of it changes with every commit.
_GIT = re.compile(
    r"(?:^|/)\.git(?:/(?:modules|worktrees)/.+?)?"
    r"/(?:hooks(?:/(?!.*\.sample$).*)?|config(?:\.worktree)?|info/attributes|commondir|gitdir)$"
)
_GIT_ITSELF = re.compile(r"(?:^|/)\.git(?:/(?:HEAD|objects|refs))?$")
_BARE = frozenset({"HEAD", "objects", "refs", "config", "hooks"})
_HARMLESS_LINE = re.compile(
    r"""\s*(?:\[(?:core|user|branch|remote|init|pull)(?:\s+"[^"\\]*")?\]
    |(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks
    |name|email|remote|merge|rebase|fetch|url|defaultbranch)\s*=\s*+(?!["']?\s*!)(?!.*ext::)[^\\]*)?$""",
    re.VERBOSE | re.IGNORECASE,
)
PROTECTED_GIT = (".git/hooks/", ".git/config", ".git/config.worktree", ".git/info/attributes")


# What must not appear either, where it is missing. The place of each is held while a command runs,
# where other programs can see it, so these are few; a slash stands for a folder.
_NEVER_MADE = frozenset(
    {".git/hooks/", ".git/config", ".steersman/", ".claude/", ".vscode/", ".husky/", ".mcp.json",
     ".envrc"}
)  # fmt: skip


def inside(path: str, folder: str) -> bool:
    """True when a resolved path is the folder or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def protected_name(name: str) -> bool:
    """Whether a change of a path, relative to the workspace, needs a closer look."""
    parts = name.split("/")
    return bool(
        _GIT.search(name)
        or _GIT_ITSELF.search(name)
        or name in _BARE
        or parts[-1] in FILES
        or not FOLDERS.isdisjoint(parts)
    )


def protected(action: Write | Delete, workspace: str) -> str:
    """What file it is that needs a person's word in any case; empty when it does not."""
    name = action.path[len(workspace.rstrip("/")) + 1 :]
    parts = name.split("/")
    if _GIT.search(name):
        return "" if _only_bookkeeping(action, name) else f"{name}, which git runs or obeys,"
    if _GIT_ITSELF.search(name) and isinstance(action, Delete):
        return f"{name}, a part of the repository itself,"
    if isinstance(action, Write) and name in _BARE:
        return f"{name}, with which git could take this folder for a repository,"
    if parts[-1] in FILES or not FOLDERS.isdisjoint(parts):
        return f"{name}, which other programs run or obey,"
    return ""


def _only_bookkeeping(action: Write | Delete, name: str) -> bool:
    """True for a change of git's config that names branches, remotes and people, nothing more."""
    if isinstance(action, Delete) or not name.endswith("config") or not action.diff:
        return False
    added = [line[1:] for line in action.diff.splitlines() if line.startswith("+")]
    return all(_HARMLESS_LINE.match(line) for line in added if not line.startswith("++ "))


def pinned(workspace: str) -> tuple[str, ...]:
    """What a command that works on the folder itself cannot change."""
    top = workspace.rstrip("/")
    names = (*PROTECTED_GIT, *(f"{name}/" for name in sorted(FOLDERS)), *sorted(FILES))
    return tuple(
        f"{top}/{name}"
        for name in names
        if name in _NEVER_MADE or os.path.lexists(f"{top}/{name}".rstrip("/"))
    )
