"""Files with several names: a change of one is a change of all, and learns so."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from steersman.records.change import Change
from steersman.records.names import on_disk, written

_Key = tuple[int, int]


def with_siblings(root: str, changes: Sequence[Change]) -> list[Change]:
    """The changes, and those of the other names of the files they write.

    Only for files whose every name is in the workspace: a name elsewhere must not be written by a
    change of this one, so that file parts from it. The tree is walked only if there is such a file.
    """
    wanted: dict[_Key, Change] = {}
    counts: dict[_Key, int] = {}
    for change in changes:
        if change.before.kind == change.after.kind == "file":
            found = _about(os.path.join(root, on_disk(change.path)))
            if found is not None and found.st_nlink > 1:
                wanted.setdefault(_key(found), change)
                counts[_key(found)] = found.st_nlink
    if not wanted:
        return list(changes)
    named = {change.path for change in changes}
    added: list[Change] = []
    for key, names in _names(root, set(wanted)).items():
        if len(names) == counts[key]:
            like = wanted[key]
            added += [Change(n, like.before, like.after) for n in names if n not in named]
    return [*changes, *added]


def _names(root: str, wanted: set[_Key]) -> dict[_Key, list[str]]:
    names: dict[_Key, list[str]] = {}
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            found = _about(path)
            if found is not None and stat.S_ISREG(found.st_mode) and _key(found) in wanted:
                names.setdefault(_key(found), []).append(written(os.path.relpath(path, root)))
    return names


def _about(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _key(found: os.stat_result) -> _Key:
    return found.st_dev, found.st_ino
