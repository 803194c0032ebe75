"""Effects that happened before anybody could judge them: put before the gate, or taken back.

A command in the background, or one that a view could not serve, works on the folder itself. What
could be foreseen is pinned there; the rest of what people are asked about is judged when the
command has ended: protected files it made somewhere, and what it lost.
"""

import asyncio
from collections.abc import Sequence

from steersman.action import Action, ChangeMany, Delete, Write
from steersman.change import Change
from steersman.errors import SteersmanError
from steersman.message import Checkpoint
from steersman.operations.journal.journal import Journal
from steersman.operations.running.effects import actions_for, loss_of
from steersman.operations.tool import Bench
from steersman.protection import inside, protected


async def settled(
    journal: Journal, changes: Sequence[Change], bench: Bench, pinned: Sequence[str]
) -> tuple[list[Change], list[str]]:
    """The changes that stand, and what is to be said about those that do not."""
    actions = await asyncio.to_thread(actions_for, journal, changes)
    notes = []
    gone: set[str] = set()
    # What was pinned somebody else has changed.
    guarded = [
        action
        for action in actions
        if isinstance(action, Write | Delete)
        and protected(action, journal.root)
        and not any(inside(action.path, place.rstrip("/")) for place in pinned)
    ]
    paths = {action.path for action in guarded}
    touched = [change for change in changes if f"{journal.root}/{change.path}" in paths]
    notes += await _unless_allowed(journal, guarded, touched, bench, gone)
    many = [action for action in actions if isinstance(action, ChangeMany)]
    loss = await asyncio.to_thread(loss_of, journal, changes) if many else None
    if loss:
        notes += await _unless_allowed(journal, many, (*loss.deleted, *loss.discarded), bench, gone)
    return [change for change in changes if change.path not in gone], notes


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
