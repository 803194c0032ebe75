"""Work that git does not have: whether a content is safe with it, and what was thrown away.

Thrown away is the work in a file that git tracks and that has a content again which git had before
the turn (`git checkout .`, `git reset --hard`), when the work is in no object and no other file.
What git does not answer is not known, and never safe.
"""

import os
from collections.abc import Iterator, Sequence

from steersman.operations.journal.journal import Journal
from steersman.operations.running import repository, stored
from steersman.operations.running.contents import (
    blob_names,
    is_own,
    key,
    lasts,
    of_git,
    stored_names,
)
from steersman.operations.running.history import is_object, piece
from steersman.records.change import Change
from steersman.records.names import on_disk
from steersman.records.real_paths import real_path

MOST = 20_000  # files that are looked up one by one
SMALL = 64  # bytes, below which contents are alike by chance


def not_moved(destroyed: Sequence[Change], net: Sequence[Change]) -> list[Change]:
    """Those of destroyed files whose content was not moved to a place where it lasts."""
    moved = {key(change.after) for change in net
             if change.after.kind in ("file", "link") and lasts(change.path)}  # fmt: skip
    return [change for change in destroyed if key(change.before) not in moved]


def unknown(
    journal: Journal, changes: Sequence[Change], net: Sequence[Change], gone: frozenset[str]
) -> list[Change]:
    """Those whose content no repository has that they are in."""
    names = {change.path: blob_names(journal, change.before) for change in changes[:MOST]}
    above = repository.homes(journal.root, names)
    made = set(_made(journal, net)) if any(above.values()) else set()
    safe: dict[str, set[str]] = {}
    for home in {home for homes in above.values() for home in homes}:
        asked = {name for path, some in names.items() if home in above[path] for name in some}
        known = repository.known(journal.root, asked, home)
        safe[home] = known | made if known is not None else set()

    def is_safe(path: str) -> bool:
        wanted = names.get(path, frozenset()) - gone
        return any(not safe[home].isdisjoint(wanted) for home in above.get(path, ()))

    return [change for change in changes if not is_safe(change.path)]


def _made(journal: Journal, changes: Sequence[Change]) -> Iterator[str]:
    """The names of contents that a command itself put into the repository, if it really did."""
    for change in changes:
        kept = change.after.kind == "file" and is_own(change.path)
        made = piece(change.path) if kept else None
        if made and not made.pack and is_object(journal, change.after, made.name):
            yield made.name


def thrown_away(
    journal: Journal, net: Sequence[Change], changes: Sequence[Change], *, by_command: bool
) -> dict[str, list[Change]]:
    """By path, the latest changes by which the turn throws away uncommitted work.

    They are of the file itself, or of the last other one that had the same content.
    """
    doers = _doers(net, changes, by_command)
    late = [change for change in net if doers.get(change.path)]
    back = _had_before(journal, not_moved(late, net), net)
    work = unknown(journal, back, net, frozenset())
    return {change.path: doers[change.path] for change in _tracked(journal, work)}


def _returns(change: Change) -> bool:
    """Whether a file has another content, which may be an older one."""
    kept = change.before.kind == "file" and change.after.kind in ("file", "link")
    different = key(change.before) != key(change.after)
    return kept and different and lasts(change.path) and not of_git(change.path)


def _doers(
    net: Sequence[Change], changes: Sequence[Change], by_command: bool
) -> dict[str, list[Change]]:
    """For files of a turn that may be older again, the latest changes that have to do with it."""
    latest = {one.path: one for one in changes if key(one.before) != key(one.after)}
    copies: dict[str, list[Change]] = {}
    for one in latest.values():
        copies.setdefault(key(one.before), []).append(one)
    own = {path: [one] if by_command else [] for path, one in latest.items()}
    return {change.path: own.get(change.path, copies.get(key(change.before), []))
            for change in net if _returns(change)}  # fmt: skip


def _had_before(journal: Journal, changes: Sequence[Change], net: Sequence[Change]) -> list[Change]:
    """Those whose content git had before the turn began."""
    names = {change.path: stored_names(journal, change.after) for change in changes}
    above = repository.homes(journal.root, names)
    taken, new = _pieces(journal, net)
    had: set[str] = set(taken)
    for home in {home for homes in above.values() for home in homes}:
        asked = {name for path, some in names.items() if home in above[path] for name in some}
        there = stored.held(home, asked, new)
        if there is None:
            there = repository.known(journal.root, asked, home)
        had |= asked if there is None else there
    return [change for change in changes if not had.isdisjoint(names[change.path])]


def _pieces(journal: Journal, net: Sequence[Change]) -> tuple[set[str], set[str]]:
    """The objects that the turn took away one by one, and the files of objects that are new.

    Where it took packs away, what they had may be in the new ones.
    """
    pieces = [(made, change) for change in net if (made := piece(change.path))]
    taken = {made.name for made, change in pieces if change.before.kind == "file"}
    packed = any(made.pack and change.before.kind == "file" for made, change in pieces)
    top = real_path(journal.root)
    return taken, {os.path.join(top, on_disk(change.path)) for made, change in pieces
                   if change.before.kind == "absent" and not (made.pack and packed)}  # fmt: skip


def _tracked(journal: Journal, changes: Sequence[Change]) -> Iterator[Change]:
    """Those of files that git keeps; what is very small must be what it has of that very file."""
    above = repository.homes(journal.root, [change.path for change in changes])
    kept: set[str] = set()
    for home in {home for homes in above.values() for home in homes}:
        inside = [change for change in changes if home in above[change.path]]
        answers = repository.committed(journal.root, home, [change.path for change in inside])
        for change, names in zip(inside, answers, strict=True):
            small = names is not None and change.after.size < SMALL
            wanted = stored_names(journal, change.after) if small else frozenset()
            if names is None or (names and (not small or not wanted.isdisjoint(names))):
                kept.add(change.path)
    return (change for change in changes if change.path in kept)


def tracked(journal: Journal, paths: Sequence[str]) -> set[str]:
    """Those that git has in the last commit or the index, as far as it answers."""
    above = repository.homes(journal.root, paths[:MOST])
    found: set[str] = set()
    for home in {home for homes in above.values() for home in homes}:
        inside = [path for path, homes in above.items() if home in homes]
        answers = repository.committed(journal.root, home, inside)
        found.update(path for path, names in zip(inside, answers, strict=True) if names)
    return found
