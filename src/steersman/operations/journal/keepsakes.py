"""Copies of what was undone although it may be a person's own, in a folder by their names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from secrets import token_hex

from steersman.operations.journal.objects import Objects, copy
from steersman.records.change import Change, FileState
from steersman.records.names import on_disk, shown
from steersman.records.secret_files import MADE_AGAIN

_FOLDER = "undone"


def keep(objects: Objects, undone: Sequence[Change]) -> list[str]:
    """Keep what these changes took away; the sentences say where it is."""
    own = [one for one in undone if MADE_AGAIN.isdisjoint(one.path.split("/")) and _differs(one)]
    files = [one for one in own if one.before.kind == "file"]
    links = [one for one in own if one.before.kind == "link"]
    if not files and not links:
        return []
    folder = os.path.join(objects.folder, _FOLDER, token_hex(6))
    told = [f"If you made these changes yourself: they are kept in {folder}"]
    for change in (*files, *links):  # no link is there yet when a file is written
        state, place = change.before, os.path.join(folder, on_disk(change.path))
        try:
            os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            _put(objects, state, place)
        except OSError as error:  # a path that is too long there, or a full disk
            where = objects.path(state.digest) if state.digest else shown(state.target)
            told.append(f"Not copied there: {shown(change.path)} ({error.strerror}); it is {where}")
    return told


def _differs(change: Change) -> bool:
    """Whether more than a mode was undone."""
    before, after = change.before, change.after
    return (before.kind, before.digest, before.target) != (after.kind, after.digest, after.target)


def _put(objects: Objects, state: FileState, place: str) -> None:
    if state.kind == "link":
        os.symlink(on_disk(state.target), place)
        return
    mode = 0o600 | state.mode & 0o700
    target = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with objects.open(state.digest) as content:
            copy(content.fileno(), target)
    finally:
        os.close(target)
