"""Branches, tags and stashes that changes take away, where nothing else leads to their commits.

Git keeps such commits for a while, but only someone who knows their numbers finds them. A branch
that was renamed, packed or merged loses nothing, nor does one that the thread made itself.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.undoing import squash
from steersman.operations.running import repository
from steersman.operations.running.contents import content_of
from steersman.operations.running.git_needs import named_now
from steersman.operations.running.history import piece
from steersman.records.change import Change, FileState

_REF = re.compile(
    r"(?P<store>(?:.*/)?)(?<!logs/)(?:(?P<ref>refs/(?!remotes/|bisect/|rewritten/|prefetch/).+)|(?P<many>packed-refs)"
    r"|logs/(?P<log>refs/stash))",
    re.DOTALL,
)
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_STASH = "refs/stash"
_KINDS = {"heads": "branch", "tags": "tag"}

Names = dict[str, str]  # of objects, and of what led there


class Unnamed(Struct, frozen=True):
    """What is taken away, in words, and how many commits only that led to."""

    names: tuple[str, ...] = ()
    commits: int = 0


def takes_names(change: Change) -> bool:
    """Whether a file that names branches, tags or stashes is gone, or is another one."""
    return change.before.kind == "file" and _REF.fullmatch(change.path) is not None


def unnamed(
    journal: Journal, changes: Sequence[Change], thread: Callable[[], Sequence[Change]]
) -> Unnamed:
    """What these changes take away; commits that the thread made itself are its own.

    A name that it moved before counts as it was when the thread began.
    """
    latest = [change for change in changes if takes_names(change)]
    paths = {change.path for change in latest}
    whole = [*thread(), *changes]
    taken = [*latest, *(change for change in squash(whole) if change.path in paths)]
    found = [_REF.fullmatch(change.path) for change in latest]
    after = {change.path: change.after for change in changes}
    names: list[str] = []
    commits = 0
    for store in sorted({match["store"] for match in found if match}):
        left = named_now(journal, store, after)
        lost = _lost(journal, store, taken, left.refs if left else set())
        own = _made(store, whole) if lost else set()
        lost = {one: ref for one, ref in lost.items() if one not in own}
        if not lost:
            continue
        gone = repository.only_from(journal.root, store, lost, left.objects) if left else None
        if gone != 0:
            names += sorted(set(map(_called, lost.values())))
            commits += len(lost) if gone is None else gone
    return Unnamed(tuple(names), commits)


def _lost(journal: Journal, store: str, changes: Sequence[Change], left: Collection[str]) -> Names:
    """The objects that names of one repository led to; a branch that only moves has a reflog."""
    lost: Names = {}
    for change in changes:
        found = _REF.fullmatch(change.path)
        if found and found["store"] == store:
            was, now = (_read(journal, found, state) for state in (change.before, change.after))
            lost |= {one: ref for one, ref in was.items()
                     if one not in now and (ref == _STASH or ref not in left)}  # fmt: skip
    return lost


def _read(journal: Journal, found: "re.Match[str]", state: FileState) -> Names:
    """The objects that a file leads to."""
    if state.kind != "file":
        return {}
    text = content_of(journal, state).decode(errors="replace")
    if found["ref"]:
        return {one: found["ref"] for one in _OBJECT.findall(text)}
    if found["log"]:
        rows = [line.split(" ") for line in text.splitlines()]
        return {row[1]: _STASH for row in rows if len(row) > 1 and _OBJECT.fullmatch(row[1])}
    rows = [line.split(" ", 1) for line in text.splitlines()]
    return {row[0]: row[1] for row in rows if len(row) == 2 and _OBJECT.fullmatch(row[0])
            and not row[1].startswith("refs/remotes/")}  # fmt: skip


def _called(ref: str) -> str:
    _, kind, *rest = ref.split("/")
    if ref == _STASH:
        return "stash"
    return f"{_KINDS[kind]} {'/'.join(rest)}" if kind in _KINDS else ref


def _made(store: str, thread: Iterable[Change]) -> set[str]:
    """The objects that the thread made."""
    pieces = (piece(change.path) for change in thread if change.before.kind == "absent")
    return {made.name for made in pieces if made and made.store == store and not made.pack}
