"""What changes destroy: content that is nowhere else, over a whole turn.

Lost is what no version control has: files that are deleted, or emptied, or overwritten with
something else; uncommitted work that is thrown away (`git reset --hard`, `git checkout .`); and
objects of git's own history. Many small losses are one large loss, so what a turn destroyed before
counts as well; what it made itself, or brought back, does not. A copy in a folder that tools make
again, or among git's own files, keeps nothing; an object of git keeps a content until it goes.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.undoing import squash
from steersman.operations.running import repository
from steersman.operations.running.history import (
    LARGEST,
    History,
    Turn,
    content_of,
    destroys_objects,
    dropped,
    is_object,
    piece,
    vanishing,
)
from steersman.records.change import Change, FileState
from steersman.records.secret_files import MADE_AGAIN, SKIPPED

MOST = 20_000  # files that are looked up one by one
SHRUNK = 10  # a file of a tenth of its size is not an edited one
SMALL = 64  # bytes, below which sizes say nothing
FEW = 8  # words, below which words say nothing
HEAD = 256_000  # bytes that are compared
_WORD = re.compile(r"\w+")


class Past(Protocol):
    """What a thread has changed so far."""

    def turn(self) -> Sequence[Change]:
        """What this turn changed and nobody agreed to, in order."""
        ...

    def thread(self) -> Sequence[Change]:
        """What the whole thread changed, in order."""
        ...


class NoPast:
    """Nothing was changed before."""

    def turn(self) -> Sequence[Change]:
        """Nothing."""
        return ()

    def thread(self) -> Sequence[Change]:
        """Nothing."""
        return ()


NO_PAST = NoPast()


class Loss(Struct, frozen=True):
    """Content that is nowhere else: in files that these changes destroy, and in all of the turn.

    `removed` counts the files that the turn deleted or emptied, whoever else has them; `special`
    are pipes, sockets and the like, of which nothing can be kept.
    """

    deleted: tuple[Change, ...] = ()
    discarded: tuple[Change, ...] = ()
    turn: tuple[Change, ...] = ()
    removed: int = 0
    history: History = History()
    special: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        lost = self.deleted or self.discarded or self.turn or self.special
        return bool(lost or self.history.gone)


def loss_of(
    journal: Journal, changes: Sequence[Change], command: str = "git", past: Past = NO_PAST
) -> Loss:
    """What these changes would lose, and the turn with them.

    A file that is still there was thrown away only if git took it back; so where neither the
    command nor its changes have to do with git, nobody asks git about it.
    """
    by_git = "git" in command or any(".git/" in change.path for change in changes)
    counted = [change for change in changes if _counts(change)]
    ruined = {change.path for change in counted if is_ruined(journal, change)}
    ruined |= _worn_down([change for change in counted if change.path not in ruined], past)
    edited = [change for change in counted if by_git and change.after.kind == "file"]
    pieces = any(destroys_objects(change) for change in changes)
    if not ruined and not edited and not pieces:
        return Loss()
    if not ruined and not pieces:
        return Loss(discarded=tuple(_discarded(journal, edited, changes)))
    net = squash([*past.turn(), *changes])
    history, homeless = _vanishing(journal, net, changes, past) if pieces else (History(), {})
    destroyed = _destroyed(journal, net)
    turn = _nowhere_else(journal, destroyed, net, history.gone)
    turn = list({**{change.path: change for change in turn}, **homeless}.values())
    late = _late(turn, [change for change in counted if change.path in ruined]) | {*homeless}
    thrown = tuple(_discarded(journal, edited, changes))
    late -= {change.path for change in thrown}
    lost = tuple(change for change in turn if change.path in late)
    removed = {change.path for change in destroyed}.union(homeless)
    return Loss(lost, thrown, tuple(turn), len(removed), history)


def _worn_down(changes: Sequence[Change], past: Past) -> set[str]:
    """The paths of files that shrink step by step: each step is an edit, all of them are not."""
    paths = {change.path for change in changes if change.after.size < change.before.size}
    if not paths:
        return set()
    net = squash([*past.turn(), *changes])
    return {change.path for change in net
            if change.path in paths and _counts(change) and _is_shrunk(change)}  # fmt: skip


def _vanishing(
    journal: Journal, net: Sequence[Change], changes: Sequence[Change], past: Past
) -> tuple[History, dict[str, Change]]:
    """What git's history loses, and files of the thread whose content was in it and nowhere else.

    The thread's own objects are nobody's history, but what it deleted may have been safe in them.
    """
    own = [[change for change in some if _is_own(change.path)] for some in (net, changes)]
    history = vanishing(journal, Turn(*own), past.thread)
    gone = dropped(journal, Turn(*own))
    if not gone:
        return history, {}
    whole = squash([*past.thread(), *changes])
    left = _not_moved(_destroyed(journal, whole)[:MOST], whole)
    return history, {change.path: change for change in left if _blob_name(journal, change) in gone}


def _destroyed(journal: Journal, net: Sequence[Change]) -> list[Change]:
    return [change for change in net if _counts(change) and is_ruined(journal, change)]


def _late(turn: Sequence[Change], ruined: Sequence[Change]) -> set[str]:
    """The paths of lost files whose content was destroyed just now, perhaps in another place."""
    paths = {change.path for change in ruined}
    contents = {change.before.digest for change in ruined}
    return {change.path for change in turn
            if change.path in paths or change.before.digest in contents}  # fmt: skip


def _is_own(path: str) -> bool:
    return MADE_AGAIN.isdisjoint(path.split("/"))


def _counts(change: Change) -> bool:
    """Whether a file had something in it that no tool makes again; git's own are judged apart."""
    before = change.before
    different = before.kind == "file" and before.digest != change.after.digest
    return different and _lasts(change.path)


def _lasts(path: str) -> bool:
    """Whether what is at a path is somebody's own file, and stays until somebody deletes it."""
    return SKIPPED.isdisjoint(path.split("/"))


def is_ruined(journal: Journal, change: Change) -> bool:
    """Whether what a file held is not in it any more: it is gone, emptied, or something else."""
    before, after = change.before, change.after
    if after.kind != "file":
        return True
    if not before.size:
        return False
    return _is_shrunk(change) or _unrelated(_head(journal, before), _head(journal, after))


def _is_shrunk(change: Change) -> bool:
    before, after = change.before.size, change.after.size
    return after * SHRUNK <= before and (not after or before >= SMALL)


def _head(journal: Journal, state: FileState) -> bytes:
    if not journal.objects.has(state.digest):
        return b""
    with journal.objects.open(state.digest) as file:
        return file.read(HEAD)


def _unrelated(before: bytes, after: bytes) -> bool:
    """Whether nearly nothing of a content is left in another; what has a form keeps its mark."""
    if b"\0" in before[:8000]:
        return before[:4] != after[:4]
    words = set(_WORD.findall(before.decode(errors="replace")))
    left = words.intersection(_WORD.findall(after.decode(errors="replace")))
    return len(words) >= FEW and len(left) * 5 < len(words)


def _nowhere_else(
    journal: Journal, destroyed: Sequence[Change], net: Sequence[Change], gone: frozenset[str]
) -> list[Change]:
    """Those of destroyed files whose content neither git nor another file has."""
    return _unknown(journal, _not_moved(destroyed, net), net, gone)


def _not_moved(destroyed: Sequence[Change], net: Sequence[Change]) -> list[Change]:
    """Those of destroyed files whose content was not moved to a place where it lasts."""
    moved = {change.after.digest for change in net
             if change.after.kind == "file" and _lasts(change.path)}  # fmt: skip
    return [change for change in destroyed if change.before.digest not in moved]


def _unknown(
    journal: Journal, changes: Sequence[Change], net: Sequence[Change], gone: frozenset[str]
) -> list[Change]:
    """Those whose content git does not have."""
    names = {change: _blob_name(journal, change) for change in changes[:MOST]}
    known = repository.known(journal.root, [name for name in names.values() if name])
    if known is None:  # no repository: nothing has a copy
        return list(changes)
    safe = (known | set(_made(journal, net))) - gone
    return [change for change in changes if names.get(change, "") not in safe]


def _made(journal: Journal, changes: Sequence[Change]) -> Iterator[str]:
    """The names of contents that a command itself put into the repository, if it really did."""
    for change in changes:
        kept = change.after.kind == "file" and _is_own(change.path)
        made = piece(change.path) if kept else None
        if made and not made.pack and is_object(journal, change.after, made.name):
            yield made.name


def _discarded(
    journal: Journal, edited: Sequence[Change], changes: Sequence[Change]
) -> Iterator[Change]:
    """Changed files that are now as they were committed, and whose work is nowhere else."""
    unsafe = _unknown(journal, edited, changes, frozenset()) if edited else []
    committed = repository.committed(journal.root, [change.path for change in unsafe])
    for change, names in zip(unsafe, committed, strict=True):
        if names and _blob_name(journal, change.reversed()) in names:
            yield change


def _blob_name(journal: Journal, change: Change) -> str:
    """The name git gives to the content before a change; empty where it is not known."""
    state = change.before
    if not state.digest or state.size > LARGEST or not journal.objects.has(state.digest):
        return ""
    content = content_of(journal, state)
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
