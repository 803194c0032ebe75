"""Which folder a person means when they name none: the repository that they are in."""

import os

from steersman.records.plain_files import read_plain


def meant(folder: str) -> tuple[str, ...]:
    """The workspace for work in a folder (a real path), then the folders down from it to there.

    It is the top of the repository around the folder, if that belongs to the same person; never the
    home folder or one above it, unless work begins right there.
    """
    begun = os.stat(folder).st_uid
    home = os.path.realpath(os.path.expanduser("~"))
    passed = [folder]
    while not _has_repository(passed[-1], {begun, os.geteuid()}):
        above = os.path.dirname(passed[-1])
        if above == passed[-1] or _holds(above, home) or os.path.basename(passed[-1]) == ".git":
            return (folder,)
        passed.append(above)
    return tuple(reversed(passed))


def _holds(folder: str, home: str) -> bool:
    return f"{home}/".startswith(f"{folder.rstrip('/')}/")


def _has_repository(folder: str, persons: set[int]) -> bool:
    """Whether git takes a folder for the top of a work tree, and one person made both."""
    inner = os.path.join(folder, ".git")
    try:
        owner = os.stat(folder).st_uid
        if owner not in persons or os.lstat(inner).st_uid != owner:
            return False
        if os.path.isdir(inner):
            return os.path.lexists(os.path.join(inner, "HEAD"))
        return read_plain(inner, 8) == b"gitdir: "
    except OSError:
        return False
