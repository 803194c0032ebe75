"""Which files of a repository are git's own bookkeeping. Pure."""

# The first names below `.git` of what a commit, a merge or a fetch writes down. Not the
# steps of a rebase: git runs commands that are there.
BOOKKEEPING = frozenset(
    [
        "objects",
        "refs",
        "logs",
        "index",
        "HEAD",
        "ORIG_HEAD",
        "FETCH_HEAD",
        "MERGE_HEAD",
        "MERGE_MSG",
        "MERGE_MODE",
        "MERGE_AUTOSTASH",
        "CHERRY_PICK_HEAD",
        "REVERT_HEAD",
        "REBASE_HEAD",
        "AUTO_MERGE",
        "COMMIT_EDITMSG",
        "TAG_EDITMSG",
        "packed-refs",
    ]
)


def inner(path: str) -> str:
    """Where a file is in git's bookkeeping; empty when it is not a part of it."""
    parts = path.split("/")
    below = parts[parts.index(".git") + 1 :] if ".git" in parts else []
    if not below or below[0] not in BOOKKEEPING or below[:2] == ["objects", "info"]:
        return ""
    return "/".join(below)


def repository(path: str) -> str:
    """The `.git` folder whose bookkeeping a file is; empty when it is not a part of any."""
    below = inner(path)
    return path[: len(path) - len(below) - 1] if below else ""
