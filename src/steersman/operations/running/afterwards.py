"""Effects that happened before anyone could judge them: put before the gate, or undone.

Where there is no sandbox that can show a command a view, it works on the folder itself. What it did
is judged when it has ended, like the effects of any other: protected files that it made somewhere,
what it lost, and all else it did. Nobody can tell what a person did to the folder meanwhile from
what the command did: so nothing is undone of which no copy is kept.
"""

import asyncio
from collections.abc import Sequence

from steersman.operations.journal.changeset import Changeset
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.keepsakes import keep
from steersman.operations.journal.undoing import with_obstacles
from steersman.operations.running.effects import actions_for
from steersman.operations.running.losses import NO_PAST, Past, loss_of
from steersman.operations.running.specials import in_the_way
from steersman.operations.tool import Bench
from steersman.records.action import Action, ChangeMany, Delete, Write
from steersman.records.change import Change
from steersman.records.errors import SteersmanError
from steersman.records.message import Checkpoint
from steersman.records.names import shown
from steersman.records.protection import protected


async def settled(
    journal: Journal, found: Changeset, bench: Bench, past: Past, *, only_protected: bool = False
) -> tuple[list[Change], list[str]]:
    """The changes that stay, and what is to be said about those that do not.

    `only_protected`: the user let the command do all else.
    """
    changes = found.changes
    actions = await asyncio.to_thread(actions_for, journal, changes, past=past, remove=found.remove)
    gone: dict[str, Change] = {}
    guarded, others = await asyncio.to_thread(_sorted, actions, journal.root)
    notes = await _unless_allowed(journal, guarded, _of(journal, changes, guarded), bench, gone)
    if not only_protected:
        notes += await _unless_allowed(journal, others, _of(journal, changes, others), bench, gone)
    for many in () if only_protected else actions:
        if isinstance(many, ChangeMany):
            lost = await asyncio.to_thread(_lost, journal, changes, past) if many.named else changes
            notes += await _unless_allowed(journal, [many], lost, bench, gone)
    notes += await asyncio.to_thread(keep, journal.objects, list(gone.values()))
    return [change for change in changes if change.path not in gone], notes


def doubtful(journal: Journal, changes: Sequence[Change]) -> list[Change]:
    """The changes that someone would be asked about: of what is protected, and losses."""
    guarded, _ = _sorted(actions_for(journal, changes), journal.root)
    lost = _lost(journal, changes, NO_PAST)
    paths = {change.path for change in (*_of(journal, changes, guarded), *lost)}
    return [change for change in changes if change.path in paths]


def _sorted(actions: Sequence[Action], root: str) -> tuple[list[Action], list[Action]]:
    """Changes of what is protected, and of all else."""
    guarded: list[Action] = []
    others: list[Action] = []
    for action in actions:
        if isinstance(action, Write | Delete):
            (guarded if protected(action, root) else others).append(action)
    return guarded, others


def _lost(journal: Journal, changes: Sequence[Change], past: Past) -> Sequence[Change]:
    """The changes that lose something; those of git's history belong together."""
    loss = loss_of(journal, changes, past=past)
    if loss.history.gone:
        return changes
    lost = {change.path for change in (*loss.deleted, *loss.discarded)}
    return with_obstacles([change for change in changes if change.path in lost], changes)


def _of(journal: Journal, changes: Sequence[Change], actions: Sequence[Action]) -> list[Change]:
    """The changes that actions are about."""
    paths = {journal.named(action.path) for action in actions if isinstance(action, Write | Delete)}
    return with_obstacles([change for change in changes if change.path in paths], changes)


async def _unless_allowed(
    journal: Journal,
    actions: Sequence[Action],
    changes: Sequence[Change],
    bench: Bench,
    gone: dict[str, Change],
) -> list[str]:
    """Undo changes if the gate says no; the answer says so."""
    if not actions:
        return []
    try:
        await bench.admit(actions)
        return []
    except SteersmanError as refused:
        why = refused.what
    back = [Change(change.path, change.after, change.before) for change in changes
            if change.path not in gone]  # fmt: skip
    undone: Sequence[Change] = []
    stuck = _beyond_recall(journal, actions, changes)
    if back:
        await bench.record(await asyncio.to_thread(journal.actions, back, "past"))
        undone, others = await _undone(journal, back, bench)
        stuck += others
    gone.update((change.path, change) for change in undone)
    notes = [f"Undone: {_names(undone)}. {why}"] if undone else []
    return notes + [f"{why} It could not be undone: {one}" for one in stuck]


def _beyond_recall(
    journal: Journal, actions: Sequence[Action], changes: Sequence[Change]
) -> list[str]:
    """What was deleted permanently: pipes, sockets and the like."""
    known = {change.path for change in changes}
    paths = [journal.named(action.path) for action in actions if isinstance(action, Delete)]
    return [shown(path) for path in paths if path not in known]


async def _undone(
    journal: Journal, back: Sequence[Change], bench: Bench
) -> tuple[Sequence[Change], list[str]]:
    """Undo changes at once or, where one of them is in the way, all the others."""
    try:
        await _make(journal, back, bench)
        return back, []
    except SteersmanError:
        undone, stuck = [], []
    for change in sorted(back, key=_inner_first):
        try:
            await _make(journal, [change], bench)
            undone.append(change)
        except SteersmanError as problem:
            stuck.append(f"{shown(change.path)} ({problem.what})")
    return undone, stuck


async def _make(journal: Journal, changes: Sequence[Change], bench: Bench) -> None:
    body = Checkpoint("effect", tuple(changes), count=len(changes))
    remove = await asyncio.to_thread(in_the_way, journal.root, changes)
    await journal.make(body, bench.lane, bench.call, remove=remove)


def _inner_first(change: Change) -> tuple[bool, int]:
    """What goes before what comes; what is in a folder goes before it and comes after it."""
    comes, depth = change.after.kind != "absent", change.path.count("/")
    return comes, depth if comes else -depth


def _names(changes: Sequence[Change]) -> str:
    names = ", ".join(shown(change.path) for change in changes[:3])
    return f"{names} …" if len(changes) > 3 else names
