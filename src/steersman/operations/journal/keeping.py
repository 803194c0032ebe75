"""Undoing changes of files that someone else changed, too: their work stays where that fits.

Each change is undone in turn, the latest first, in the file as it is now.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from steersman.operations.journal.changeset import same
from steersman.operations.journal.choosing import onto
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.moves import moves
from steersman.records.change import Change, FileState
from steersman.records.names import on_disk
from steersman.records.undo import UndoPlan

Steps = Mapping[str, Sequence[Change]]  # what a plan does to each path, step by step


def keeping(
    journal: Journal, plan: UndoPlan, steps: Steps, present: Mapping[str, FileState]
) -> UndoPlan:
    """A plan that keeps what someone else did; where that does not fit, it is as it was.

    `present` has the paths that someone else changed, as they are now.
    """
    changes, own, others, fitting = list[Change](), list[Change](), list[Change](), set[str]()
    back = _back(journal, plan, steps, present)
    for change in plan.changes:
        if change.path in back:
            own.append(change)
            changes.append(back[change.path])
            if change.path in present:
                others.append(Change(change.path, change.before, present[change.path]))
            continue
        if change.path not in present:
            changes.append(change)
            continue
        found, now = steps.get(change.path) or [change], present[change.path]
        others += _of_others(found, now)
        after = _through(journal, found, now)
        if after is None:
            changes.append(change)
            continue
        own.append(change)
        if len(found) > 1:
            fitting.add(change.path)
        if not same(now, after):
            changes.append(Change(change.path, now, after))
    gaps = tuple(path for path in plan.gaps if path not in fitting)
    return replace(plan, changes=tuple(changes), own=tuple(own), others=tuple(others), gaps=gaps)


def _back(
    journal: Journal, plan: UndoPlan, steps: Steps, present: Mapping[str, FileState]
) -> dict[str, Change]:
    """Moves that are undone with what someone else changed under the new name, by both names."""
    found: dict[str, Change] = {}
    undone = {change.path: change for change in plan.changes}
    done = [change.reversed() for change in plan.changes]
    for new, old in moves(done, journal.content).items():
        now, alone = present.get(new), max(len(steps.get(path, ())) for path in (new, old)) <= 1
        if now is None or old in present or not alone:
            continue
        step = Change(old, undone[new].before, undone[old].after)
        if (made := onto(journal, step, now)) is not step:
            found[old] = Change(old, undone[old].before, made.after)
            found[new] = Change(new, now, undone[new].after)
    return found


def _of_others(steps: Sequence[Change], now: FileState) -> list[Change]:
    """What someone else did to a path, before, between and after the steps; the oldest first."""
    met = [now, *(step.after for step in steps)]
    found = [Change(step.path, step.before, there)
             for step, there in zip(steps, met, strict=False)]  # fmt: skip
    return [one for one in reversed(found) if not same(one.before, one.after)]


def _through(journal: Journal, steps: Sequence[Change], now: FileState) -> FileState | None:
    """What a path is after all steps; None where one does not fit."""
    for step in steps:
        if same(now, step.before):
            now = step.after
            continue
        found = onto(journal, step, now)
        if found is step:
            return None
        now = found.after
    return now


def copy(journal: Journal, changes: Sequence[Change], folder: Path) -> list[str]:
    """Write what files are after some changes into a folder; gives the paths that are there."""
    found = []
    for change in changes:
        content = journal.content(change.after)
        if content is not None:
            place = folder / on_disk(change.path)
            for above in reversed(place.parents):
                above.mkdir(mode=0o700, exist_ok=True)  # `parents` would go by the umask
            with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
            found.append(change.path)
    return found
