"""What git records for itself, shown in a line instead of file by file. Pure.

Only its bookkeeping: hooks, configuration and everything else that git runs or loads is shown like
any other file.
"""

import re
from collections.abc import Iterable, Sequence

from steersman.records.counting import counted
from steersman.records.git_names import inner
from steersman.records.patterns import pattern
from steersman.records.secret_files import MADE_AGAIN
from steersman.records.visible import titled

NAMED, SUBJECT = 3, 50  # commits that are named, and letters of a name
_OBJECT = pattern(r"objects/[0-9a-f]{2}/[0-9a-f]{38,62}")
_PACK = pattern(r"objects/pack/[^/]+\.pack")
_COMMIT = pattern(r"^[+-](?![+-]{2} ).*\tcommit\b", re.MULTILINE)


def commits(log: str) -> int:
    """How many commits a diff of git's own log of `HEAD` reports."""
    return len(_COMMIT.findall(log))


def named_commits(subjects: Sequence[str]) -> str:
    """Commits by their number and their subjects, the latest of many."""
    named = ", ".join(titled(one, SUBJECT) for one in subjects[-NAMED:])
    more = f" and {len(subjects) - NAMED} more" if len(subjects) > NAMED else ""
    return f"{counted(len(subjects), 'commit')} {named}{more}"


def line(paths: Iterable[str], made: int | None = None, subjects: Sequence[str] = ()) -> str:
    """All of git's bookkeeping among some paths, in a line; empty when there is none.

    `made` is how many commits were made, where that is known; `subjects` are theirs, where a
    branch leads to them.
    """
    noted = [found for path in paths if (found := inner(path))]
    if not noted:
        return ""
    objects = sum(_OBJECT.fullmatch(one) is not None for one in noted)
    parts = []
    if subjects:
        parts.append(named_commits(subjects))
        objects = max(0, objects - len(subjects))
    elif made:
        parts.append(counted(made, "commit"))
        objects = max(0, objects - made)
    elif made is None and "COMMIT_EDITMSG" in noted and objects:
        parts.append("committed")
    parts += [counted(objects, "object")] if objects else []
    packs = sum(_PACK.fullmatch(one) is not None for one in noted)
    parts += [counted(packs, "pack")] if packs else []
    return f"git: {', '.join(parts) or counted(len(noted), 'file')}"


def folded(changes: Sequence[str]) -> list[str]:
    """Changes as a command's result lists them (`created a.py`): a person's files, then others'."""
    paths = {one: _path(one) for one in changes}
    own = [one for one, path in paths.items() if not inner(path) and not made_again(path)]
    made = sum(made_again(path) and not path.endswith("/") for path in paths.values())
    noted = line(paths.values())
    return [*own, *([f"{counted(made, 'file')} made by tools"] if made else []),
            *([noted] if noted else [])]  # fmt: skip


def made_again(path: str) -> bool:
    """Whether tools make a file again whenever it is needed."""
    return not MADE_AGAIN.isdisjoint(path.split("/"))


def counted_changes(changes: Sequence[str]) -> str:
    """How many changes there are, without counting what git notes for itself."""
    own = sum(not inner(_path(one)) for one in changes)
    noted = line(_path(one) for one in changes)
    return " · ".join(filter(None, (counted(own, "change") if own else "", noted)))


def undo_words(paths: Sequence[str], count: int = 0, ignored: int = 0, made: str = "") -> str:
    """How much an undo or redo changes, a person's files first; `count` where not all paths are
    known, `ignored` files beside them; `made` are its commits, in words."""
    if len(paths) < count:
        return counted(count, "change")
    own, again = len(files_first(paths)), made_files(paths) + ignored
    parts = [counted(own, "change")] if own else []
    parts += [counted(again, "ignored file")] if again else []
    parts += [made or "git's own files"] if any(map(inner, paths)) else []
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def files_first(paths: Iterable[str]) -> list[str]:
    """A person's paths: not git's bookkeeping, nor what tools make; what else is in a `.git`
    folder comes last."""
    return sorted((one for one in paths if not inner(one) and not made_again(one)), key=in_git)


def made_files(paths: Iterable[str]) -> int:
    """How many files tools make again, without the folders of that name."""
    return sum(made_again(one) and one.rpartition("/")[2] not in MADE_AGAIN for one in paths)


def in_git(path: str) -> bool:
    """Whether something is in a `.git` folder."""
    return ".git" in path.split("/")


def _path(change: str) -> str:
    return change.partition(" ")[2]
