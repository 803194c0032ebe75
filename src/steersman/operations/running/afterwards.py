"""Effects that happened before anybody could judge them: put before the gate, or taken back.

A command in the background, or one that a view could not serve, works on the folder itself. What
could be foreseen is pinned there; the rest is judged when the command has ended, like the effects
of any other: protected files that it made somewhere, what it lost, and all else it did.
"""

import asyncio
import os
from collections.abc import Sequence

from steersman.operations.journal.journal import Journal
from steersman.operations.running.effects import actions_for, loss_of
from steersman.operations.tool import Bench
from steersman.records.action import Action, ChangeMany, Delete, Write
from steersman.records.change import Change
from steersman.records.errors import SteersmanError
from steersman.records.message import Checkpoint
from steersman.records.protection import inside, protected


async def settled(
    journal: Journal, changes: Sequence[Change], bench: Bench, pinned: Sequence[str]
) -> tuple[list[Change], list[str]]:
    """The changes that stand, and what is to be said about those that do not."""
    actions = await asyncio.to_thread(actions_for, journal, changes)
    gone: set[str] = set()
    guarded: list[Action] = []
    others: list[Action] = []
    for action in actions:
        if not isinstance(action, Write | Delete):
            continue
        if any(inside(action.path, place) for place in pinned):
            continue  # somebody else has changed it
        (guarded if protected(action, journal.root) else others).append(action)
    notes = await _unless_allowed(journal, guarded, _of(journal, changes, guarded), bench, gone)
    notes += await _unless_allowed(journal, others, _of(journal, changes, others), bench, gone)
    for many in actions:
        if isinstance(many, ChangeMany):
            loss = await asyncio.to_thread(loss_of, journal, changes)
            lost = (*loss.deleted, *loss.discarded) if many.named else changes
            notes += await _unless_allowed(journal, [many], lost, bench, gone)
    return [change for change in changes if change.path not in gone], notes


def _of(journal: Journal, changes: Sequence[Change], actions: Sequence[Action]) -> list[Change]:
    """The changes that actions are about."""
    paths = {action.path for action in actions if isinstance(action, Write | Delete)}
    return [change for change in changes if os.path.join(journal.root, change.path) in paths]


async def _unless_allowed(
    journal: Journal,
    actions: Sequence[Action],
    changes: Sequence[Change],
    bench: Bench,
    gone: set[str],
) -> list[str]:
    """Take changes back if the gate says no; the answer tells so."""
    if not actions:
        return []
    try:
        await bench.admit(actions)
        return []
    except SteersmanError as refused:
        why = refused.what
    back = [Change(change.path, change.after, change.before) for change in changes
            if change.path not in gone]  # fmt: skip
    names = ", ".join(change.path for change in back[:3]) + (" …" if len(back) > 3 else "")
    try:
        await bench.record(journal.actions(back, "past"))
        body = Checkpoint("effect", tuple(back), count=len(back))
        await journal.make(body, bench.lane, bench.call)
    except SteersmanError as problem:
        return [f"{why} It could not be taken back: {names} ({problem.what})"]
    gone.update(change.path for change in back)
    return [f"Taken back: {names}. {why}"]
