"""What belongs together in a repository: HEAD, refs, index and the like are one state.

Taken from two sides file by file they say something that nobody did: a commit would delete files, a
branch would be gone. Objects are apart: one more never hurts, one less may. So are settings.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from steersman.operations.journal.folders import ROOT
from steersman.operations.journal.objects import Objects
from steersman.records.change import Change, FileState
from steersman.records.names import shown
from steersman.records.patterns import pattern

SHOWN = 8
LARGEST = 10_000_000
_INNER = r"(?:modules/.+?/|worktrees/[^/]+/)*"
_OBJECT = pattern(
    rf"{_INNER}(?:objects(?:/(?:[0-9a-f]{{2}}|pack)(?:/(?!multi-pack-index)[^/]+)?)?"
    r"|(?:lfs|annex)(?:/objects(?:/.*)?)?)",
    re.DOTALL,
)
_SETTING = pattern(
    rf"{_INNER}(?:config[^/]*|description|(?:hooks|info|branches|remotes)(?:/.*)?)", re.DOTALL
)
# What git writes down beside its state, for itself or for an editor.
_BESIDE = pattern(rf"{_INNER}(?:FETCH_HEAD|COMMIT_EDITMSG|gc\.pid|gc\.log|.*\.lock)")
_POINTS = pattern(r"(?!logs/)(?:.*/)?(?:refs/.+|packed-refs|HEAD|[A-Z]+_HEAD)", re.DOTALL)
_COMMIT = re.compile(rb"^([0-9a-f]{40,64})(?: (\S+))?", re.MULTILINE)


def repositories(paths: Collection[str]) -> frozenset[str]:
    """The folders among paths that git would take for repositories, whatever they are called."""
    tops = [path[:-4] for path in paths if path == "HEAD" or path.endswith("/HEAD")]
    return frozenset(top[:-1] for top in tops if f"{top}objects" in paths and f"{top}refs" in paths)


def repository_of(path: str, others: Collection[str] = ()) -> str | None:
    """The outermost repository that a path is in; `others` are those not called `.git`."""
    names = path.split("/")
    if ".git" in names[:-1]:
        return "/".join(names[: names.index(".git") + 1])
    if not others or path == ROOT:
        return None
    tops = ("/".join(names[:depth]) for depth in range(len(names)))
    return next((top for top in tops if top in others), None)


def is_state(path: str, repository: str) -> bool:
    """Whether a path in a repository must fit the others there."""
    name = _inner(path, repository)
    return not _OBJECT.fullmatch(name) and not _SETTING.fullmatch(name)


def is_safe(change: Change, repository: str) -> bool:
    """Whether a change in a repository can be made whatever else was changed there."""
    name = _inner(change.path, repository)
    if _OBJECT.fullmatch(name):
        return change.before.kind == "absent"
    return bool(_SETTING.fullmatch(name)) and change.after.kind != "absent"


def changed_by_others(
    seen: Mapping[str, object], now: Mapping[str, object], others: Collection[str]
) -> set[str]:
    """The repositories whose state is not as it was seen last."""
    moved = (path for path in seen.keys() | now.keys() if seen.get(path) != now.get(path))
    found = ((path, repository_of(path, others)) for path in moved)
    return {
        top
        for path, top in found
        if top is not None and is_state(path, top) and not _BESIDE.fullmatch(_inner(path, top))
    }


def not_taken_over(repository: str, changes: Sequence[Change], objects: Objects) -> str:
    """What to say of changes that were not made, and where the command's commits are."""
    names = [_inner(change.path, repository) for change in changes
             if "folder" not in (change.before.kind, change.after.kind)]  # fmt: skip
    plain = [name for name in names if not re.match(rf"{_INNER}(?:logs|objects)/", name)] or names
    what = _some([shown(name) for name in plain])
    note = (
        f"The repository {shown(repository) or 'of the workspace'} was changed by others "
        f"and stays as it is; what the command did to {what} there is not kept"
    )
    commits = _commits(repository, changes, objects)
    if not commits:
        return note
    listed = _some([f"{commit} ({shown(name)})" for commit, name in commits.items()])
    return f"{note}; its objects are kept, the command's commit is {listed}"


def _commits(repository: str, changes: Sequence[Change], objects: Objects) -> dict[str, str]:
    """What refs point to after changes and did not before, each with a ref that does."""
    before: set[str] = set()
    after: dict[str, str] = {}
    for change in changes:
        name = _inner(change.path, repository)
        if _POINTS.fullmatch(name):
            before.update(commit for commit, _ in _read(change.before, objects))
            for commit, ref in _read(change.after, objects):
                after.setdefault(commit, ref or name)
    return {commit: name for commit, name in after.items() if commit not in before}


def _read(state: FileState, objects: Objects) -> list[tuple[str, str]]:
    if not state.digest or not objects.has(state.digest):
        return []
    with objects.open(state.digest) as file:
        found = _COMMIT.findall(file.read(LARGEST))
    return [(commit.decode(), ref.decode(errors="replace")) for commit, ref in found]


def _inner(path: str, repository: str) -> str:
    return path[len(repository) + 1 :] if repository else path


def _some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
