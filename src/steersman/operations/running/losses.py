"""What changes destroy: content that is nowhere else, over a whole turn.

Lost is what no version control has: files that are deleted, or emptied, or overwritten with
something else; uncommitted work that is thrown away (`git reset --hard`, `git checkout .`); and
objects of git's own history. Many small losses are one large loss, so what a turn destroyed before
counts as well; what the thread made itself, or brought back, does not. A copy in a folder that
tools make again, or among git's own files, keeps nothing; an object of git keeps a content until
it goes.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.undoing import squash
from steersman.operations.running.branches import STASHES, Unnamed, takes_names, unnamed
from steersman.operations.running.contents import blob_names, is_own, key, lasts
from steersman.operations.running.history import (
    History,
    Turn,
    destroys_objects,
    dropped,
    vanishing,
)
from steersman.operations.running.origins import Origins
from steersman.operations.running.uncommitted import not_moved, thrown_away, tracked, unknown
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.patterns import pattern

SHRUNK = 10  # a file of a tenth of its size is not an edited one
SMALL = 64  # bytes, below which sizes say nothing
FEW = 8  # words, below which words say nothing
HEAD = 256_000  # bytes that are compared
_WORD = pattern(r"\w+")


class Past(Protocol):
    """What a thread has changed so far."""

    def turn(self) -> Sequence[Change]:
        """What this turn changed and nobody agreed to, in order."""
        ...

    def thread(self) -> Sequence[Change]:
        """What the whole thread changed, in order."""
        ...

    def perhaps(self, *names: str) -> bool:
        """Whether the thread may have changed a path with one of these in it.

        That is cheaper than to see all.
        """
        ...


class NoPast:
    """Nothing was changed before."""

    def turn(self) -> Sequence[Change]:
        """Nothing."""
        return ()

    def thread(self) -> Sequence[Change]:
        """Nothing."""
        return ()

    def perhaps(self, *names: str) -> bool:
        """No."""
        return False


NO_PAST = NoPast()


class Loss(Struct, frozen=True):
    """Content that is nowhere else: in files that these changes destroy, and in all of the turn.

    `precious` are those of the deleted files that neither the thread nor another program made;
    git tracks so many of them as `tracked` says, with another content.
    `removed` counts the files that the turn deleted or emptied, whoever else has them; `special`
    are pipes, sockets and the like, of which nothing can be kept.
    """

    deleted: tuple[Change, ...] = ()
    discarded: tuple[Change, ...] = ()
    turn: tuple[Change, ...] = ()
    removed: int = 0
    history: History = History()
    special: tuple[str, ...] = ()
    precious: tuple[Change, ...] = ()
    unnamed: Unnamed = Unnamed()
    tracked: int = 0

    def __bool__(self) -> bool:
        lost = self.deleted or self.discarded or self.turn or self.special
        return bool(lost or self.history.gone or self.unnamed)


def loss_of(
    journal: Journal, changes: Sequence[Change], command: str = "git", past: Past = NO_PAST
) -> Loss:
    """What these changes would lose, and the turn with them.

    What is judged is the turn as a whole, as far as the latest changes have to do with it. What a
    tool writes, and no command, is an edit, whatever it is; what it deletes may be precious.
    """
    matters = any(_counts(one) or destroys_objects(one) or _brings(one) for one in changes)
    turn = past.turn() if matters else ()
    loss = _loss_of(journal, changes, command, past, turn) if matters else Loss()
    if any(map(takes_names, changes)) or (matters and past.perhaps(*STASHES)):
        return replace(loss, unnamed=unnamed(journal, changes, past.thread))
    return loss


def _loss_of(
    journal: Journal, changes: Sequence[Change], command: str, past: Past, turn: Sequence[Change]
) -> Loss:
    counted = [change for change in changes if _counts(change)]
    pieces = any(destroys_objects(change) for change in changes)
    net = squash([*turn, *changes])
    thrown = thrown_away(journal, net, changes, by_command=bool(command))
    ruined = {change.path for change in counted if is_ruined(journal, change)}
    ruined |= _worn_down([change for change in counted if change.path not in ruined], net)
    first = Origins(lambda: [*past.thread(), *changes])
    thrown = _of_others(journal, thrown, net, first)
    discarded = tuple({one.path: one for some in thrown.values() for one in some}.values())
    if not ruined and not pieces:
        return Loss(discarded=discarded)
    from steersman.operations.running.precious import Keeping

    history, homeless = _vanishing(journal, net, changes, past) if pieces else (History(), {})
    destroyed = _destroyed(journal, net)
    gone = unknown(journal, not_moved(destroyed, net), net, history.gone)
    gone = _foreign(journal, gone, net, first, history.gone)
    gone = list({**{change.path: change for change in gone}, **homeless}.values())
    late = _late(gone, [change for change in counted if change.path in ruined], first)
    late |= {*homeless}
    late -= {*thrown, *(change.path for change in discarded)}
    lost = tuple(change for change in gone if change.path in late)
    removed = {change.path for change in destroyed}.union(homeless)
    keeping = Keeping(journal.root, past.thread() if lost else ())
    counts = [change for change in lost if command or change.after.kind == "absent"]
    places = ({change.path, first.of(change).path} - {""} for change in counts)
    kept = (any(map(keeping.keeps, paths)) for paths in places)
    precious = tuple(change for change, keeps in zip(counts, kept, strict=True) if keeps)
    edited = tracked(journal, [change.path for change in precious])
    return Loss(lost, discarded, tuple(gone), len(removed), history, precious=precious,
                tracked=len(edited))  # fmt: skip


def _of_others(
    journal: Journal,
    thrown: dict[str, list[Change]],
    net: Sequence[Change],
    first: Origins,
) -> dict[str, list[Change]]:
    """Of work that is thrown away, what is not the thread's own."""
    work = [change for change in net if change.path in thrown]
    foreign = _foreign(journal, work, net, first, frozenset())
    return {change.path: thrown[change.path] for change in foreign}


def _foreign(
    journal: Journal,
    lost: Sequence[Change],
    net: Sequence[Change],
    first: Origins,
    gone: frozenset[str],
) -> list[Change]:
    """Those of lost contents that the thread did not make, or made of what git does not have."""
    if not lost:
        return []
    roots = [(one, first.of(one).state) for one in lost]
    made = [Change(one.path, root, one.after) for one, root in roots
            if root != one.before and root.kind in ("file", "link")]  # fmt: skip
    kept = {change.path for change in unknown(journal, made, net, gone)}
    return [one for one, root in roots if root == one.before or one.path in kept]


def _brings(change: Change) -> bool:
    """Whether a file appears: perhaps one that the turn took away, as git has it."""
    return change.after.kind != "absent" and change.before.kind == "absent" and lasts(change.path)


def _worn_down(changes: Sequence[Change], net: Sequence[Change]) -> set[str]:
    """The paths of files that shrink step by step: each step is an edit, all of them are not."""
    paths = {change.path for change in changes if change.after.size < change.before.size}
    return {change.path for change in net
            if change.path in paths and _counts(change) and _is_shrunk(change)}  # fmt: skip


def _vanishing(
    journal: Journal, net: Sequence[Change], changes: Sequence[Change], past: Past
) -> tuple[History, dict[str, Change]]:
    """What git's history loses, and files of the thread whose content was in it and nowhere else.

    The thread's own objects are nobody's history, but what it deleted may have been safe in them.
    """
    own = [[change for change in some if is_own(change.path)] for some in (net, changes)]
    history = vanishing(journal, Turn(*own), past.thread)
    gone = dropped(journal, Turn(*own))
    if not gone:
        return history, {}
    whole = squash([*past.thread(), *changes])
    left = not_moved(_destroyed(journal, whole), whole)
    return history, {change.path: change for change in left
                     if not gone.isdisjoint(blob_names(journal, change.before))}  # fmt: skip


def _destroyed(journal: Journal, net: Sequence[Change]) -> list[Change]:
    return [change for change in net if _counts(change) and is_ruined(journal, change)]


def _late(turn: Sequence[Change], ruined: Sequence[Change], first: Origins) -> set[str]:
    """The paths of lost files of which the last was destroyed just now, perhaps moved or edited."""
    paths = {change.path for change in ruined}
    contents = {key(change.before) for change in ruined}
    contents |= {key(first.of(change).state) for change in ruined} - {key(ABSENT)}
    return {change.path for change in turn
            if change.path in paths or key(change.before) in contents}  # fmt: skip


def _counts(change: Change) -> bool:
    """Whether a path had something in it that no tool makes again; git's own are judged apart."""
    before, after = change.before, change.after
    different = before.kind != after.kind or key(before) != key(after)
    return before.kind in ("file", "link") and different and lasts(change.path)


def is_ruined(journal: Journal, change: Change) -> bool:
    """Whether what a file held is not in it any more: it is gone, emptied, or something else."""
    before, after = change.before, change.after
    if after.kind != before.kind:
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
