"""Whether the work of a stash is in the folder: then a stash that goes away takes nothing with it.

`git stash pop` brings the work back and drops the stash. It is all there when every line that the
stash changed is in the files, and every file that it kept apart.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.matching import has_edit
from steersman.operations.running import repository
from steersman.operations.running.contents import LARGEST, content_of
from steersman.records.change import FileState
from steersman.records.names import on_disk, written
from steersman.records.plain_files import whole_plain

MOST = 500  # files of a stash that are compared
_FILES = ("100644", "100755")
_NOTHING = "000000"

States = Mapping[str, FileState]


class _Piece(Struct, frozen=True):
    """A file of a stash: its content before and in it, by their names in git; empty for none."""

    path: str
    before: str
    after: str


# What files have: for each piece its content, or that there is none; None where nobody knows.
_Present = Callable[[Sequence[_Piece]], list[bytes | None] | None]


def unpacked(journal: Journal, store: str, stashes: Iterable[str], states: States) -> set[str]:
    """Those of the stashes whose work is in the folder, given the states that some files have."""
    home, ours = store.removesuffix(".git/"), store.endswith(".git/")
    if not ours:
        return set()

    def present(pieces: Sequence[_Piece]) -> list[bytes | None]:
        return [_present(journal, f"{home}{one.path}", states) for one in pieces]

    return {stash for stash in stashes if _is_in(journal.root, store, stash, present)}


def committed(journal: Journal, store: str, stashes: Iterable[str]) -> set[str]:
    """Those of the stashes whose work is in the last commit."""
    root = journal.root

    def present(pieces: Sequence[_Piece]) -> list[bytes | None] | None:
        names = repository.last_committed(root, store, [on_disk(one.path) for one in pieces])
        held = repository.blob_contents(root, store, {*names} - {""}) if names is not None else None
        return [held.get(name) for name in names] if names and held is not None else None

    return {stash for stash in stashes if _is_in(root, store, stash, present)}


def _is_in(root: str, store: str, stash: str, present: _Present) -> bool:
    """Whether the work of a stash is in some files."""
    pieces = _pieces(root, store, stash)
    names = {name for piece in pieces or () for name in (piece.before, piece.after)}
    blobs = repository.blob_contents(root, store, names - {""}) if pieces else None
    if not pieces or blobs is None:
        return False
    held = present(pieces)
    return held is not None and all(
        _is_there(now, piece, blobs) for now, piece in zip(held, pieces, strict=True)
    )


def blobs_of(root: str, store: str, stash: str) -> set[str]:
    """The names of what a stash keeps of files; its own where that is not known."""
    pieces = _pieces(root, store, stash)
    return {stash} if pieces is None else {piece.after for piece in pieces} - {""}


def _is_there(present: bytes | None, piece: _Piece, blobs: Mapping[str, bytes]) -> bool:
    if not piece.after:
        return present is None
    if present is None or not piece.before:
        return present == blobs[piece.after]
    return has_edit(blobs[piece.before], blobs[piece.after], present)


def _pieces(root: str, store: str, stash: str) -> list[_Piece] | None:
    """What a stash changes: in files, in the index, and the untracked ones; None if not known."""
    family = repository.parents(root, store, stash)
    if len(family) not in (2, 3):
        return None
    base, *kept = family
    pairs = [(base, stash), (base, kept[0]), *(("", other) for other in kept[1:])]
    found: list[_Piece] = []
    for before, after in pairs:
        rows = repository.differing(root, store, before, after)
        if rows is None or len(found) + len(rows) > MOST:
            return None
        for modes, names, path in rows:
            if not {*modes} <= {*_FILES, _NOTHING}:
                return None  # a link or a repository of its own
            sides = ("" if mode == _NOTHING else name
                     for mode, name in zip(modes, names, strict=True))  # fmt: skip
            found.append(_Piece(written(os.fsdecode(path)), *sides))
    return found


def _present(journal: Journal, path: str, states: States) -> bytes | None:
    """What is at a path; None for no file."""
    if (state := states.get(path)) is not None:
        return content_of(journal, state) if state.kind == "file" else None
    try:
        return whole_plain(os.path.join(journal.root, on_disk(path)), LARGEST)
    except OSError:
        return None
