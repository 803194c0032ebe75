"""Making a workspace go from one state to another: all of it, or none of it.

Everything is looked at and kept before anything is touched; new contents are staged as hidden files
on the same disk; then names are changed by renames, each with its way back noted. Whatever fails on
the way, the way back is walked to the end and the workspace is as it was.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing
from secrets import token_hex

from steersman.operations.journal.changeset import same
from steersman.operations.journal.folders import ROOT, Tree, parts
from steersman.operations.journal.locks import held
from steersman.operations.journal.looking import NOTHING, Seen, Special
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.performing import Performance
from steersman.operations.journal.recovery import (
    Pending,
    cut_off,
    is_done,
    note_reverted,
    noted,
    remove_hidden,
    way_back,
)
from steersman.operations.journal.steps import Step
from steersman.records.change import Change
from steersman.records.counting import counted
from steersman.records.errors import SteersmanError, ToolProblem
from steersman.records.names import shown

_SHOWN = 10
LOCKS = "locks"
NO_CHECKPOINT = ("", 0)


class Conflict(ToolProblem):
    """Someone else changed what a change starts from; nothing was touched."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        super().__init__(
            f"Changed by someone else: {', '.join(map(shown, paths[:_SHOWN]))}{more}.",
            "What is there now is not what this change starts from, so nothing was touched.",
            "Look again, then repeat the change.",
        )


class HalfDone(ToolProblem):
    """A change that failed and left something behind."""


def apply(
    root: str,
    changes: Sequence[Change],
    objects: Objects,
    *,
    check: bool = True,
    times: Mapping[str, int] | None = None,
    remove: Sequence[str] = (),
    checkpoint: tuple[str, int] = NO_CHECKPOINT,
) -> None:
    """Take every path from its `before` to its `after`, or leave everything as it was.

    `checkpoint` is the thread whose log has these changes, and their place in it. Without
    `check`, paths are taken to `after` from whatever they are now. `times` gives files their time
    of change in nanoseconds; `remove` names pipes, sockets and the like that go too.
    """
    if not changes and not remove:
        return
    _refuse_odd(changes, remove)
    try:
        with _locked(root, objects, [*(change.path for change in changes), *remove]):
            _apply(root, changes, objects, checkpoint, check=check, times=times, remove=remove)
    except OSError as error:
        raise _failed(error) from error


def recover(objects: Objects) -> list[str]:
    """Undo commits that were cut off; the answer says in sentences what was found."""
    # Who comes second waits: what it then sees of the files is not half undone.
    with held(os.path.join(objects.folder, "recovering"), [objects.folder]):
        objects.tidy()
        return _recover(objects)


def _recover(objects: Objects) -> list[str]:
    told = []
    for pending in cut_off(objects):
        root, changes = pending.root, pending.changes
        with _locked(root, objects, [change.path for change in changes]):
            remove_hidden(root, pending.token, changes)
            with closing(Tree(root)) as tree:
                done = is_done(tree, pending)
                back, foreign = way_back(tree, pending)
                tree.settle()
            if done:
                continue
            _apply(root, back, objects)
            note_reverted(objects, pending)
        told.append(
            f"A change of {counted(len(changes), 'path')} in {root} was cut off and undone."
        )
        told += [f"{path} was changed since then and stays as it is." for path in foreign]
    return told


def _locked(root: str, objects: Objects, paths: Sequence[str]) -> AbstractContextManager[None]:
    real = [os.path.join(root, path) for path in paths]
    return held(os.path.join(objects.folder, LOCKS), real)


def _apply(
    root: str,
    changes: Sequence[Change],
    objects: Objects,
    checkpoint: tuple[str, int] = NO_CHECKPOINT,
    *,
    check: bool = True,
    times: Mapping[str, int] | None = None,
    remove: Sequence[str] = (),
) -> None:
    token = token_hex(6)
    with closing(Tree(root)) as tree:
        try:
            steps = _verified(tree, changes, objects, set(remove), check=check)
            _refuse_leftovers(tree, steps, remove)
        finally:
            tree.settle()
        if not steps and not remove:
            return
        real = [Change(step.path, step.seen.state, step.after) for step in steps]
        with noted(objects, Pending(root, token, real, *checkpoint)):
            _perform(Performance(tree, objects, steps, times or {}, token), remove)


def _perform(performance: Performance, remove: Sequence[str]) -> None:
    try:
        performance.run(remove)
    except BaseException as error:
        unrestored = performance.roll_back()
        if unrestored:
            raise _half_done(error, unrestored) from error
        raise
    performance.clean()


def _refuse_odd(changes: Sequence[Change], remove: Sequence[str]) -> None:
    for path in remove:
        parts(path)
    seen: set[str] = set()
    for change in changes:
        parts(change.path)
        if change.path in seen:
            raise ToolProblem(f"{change.path} occurs twice in one change.")
        seen.add(change.path)
        if change.path == ROOT and {change.before.kind, change.after.kind} != {"folder"}:
            raise ToolProblem("The workspace folder itself can only change its mode.")


def _verified(
    tree: Tree, changes: Sequence[Change], objects: Objects, remove: set[str], *, check: bool
) -> list[Step]:
    """What must be done; originals are in the journal afterwards, and nothing is touched yet."""
    steps, conflicts = [], []
    for change in changes:
        try:
            gone = change.path in remove
            seen = NOTHING if gone else tree.examine(change.path, objects, durable=False)
        except Special:
            conflicts.append(change.path)
            continue
        if check and not same(seen.state, change.before):
            conflicts.append(change.path)
        elif not same(seen.state, change.after):
            steps.append(_step(change, seen, objects))
    if conflicts:
        raise Conflict(sorted(conflicts))
    if any(step.seen.state.kind == "file" for step in steps):
        objects.settle()
    return steps


def _step(change: Change, seen: Seen, objects: Objects) -> Step:
    after = change.after
    if after.kind == "file" and after.digest != seen.state.digest and not objects.has(after.digest):
        raise ToolProblem(
            f"{change.path} cannot be given its content.",
            "The journal did not keep it: it was too large, or the journal was cleared.",
        )
    return Step(change.path, seen, after)


def _refuse_leftovers(tree: Tree, steps: Sequence[Step], remove: Sequence[str]) -> None:
    """A folder can go only with everything in it; what is not named belongs to someone else."""
    going = {step.path for step in steps if step.goes} | set(remove)
    left = [
        f"{step.path}/{name}"
        for step in steps
        if step.goes and step.seen.state.kind == "folder"
        for name in tree.names(step.path)
        if f"{step.path}/{name}" not in going
    ]
    if left:
        raise Conflict(sorted(left))


def _failed(error: OSError) -> ToolProblem:
    name = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return ToolProblem(
        "The change could not be made; the workspace is as it was.",
        f"{name}{error.strerror or error}.",
    )


def _half_done(error: BaseException, unrestored: Sequence[str]) -> HalfDone:
    why = error.what if isinstance(error, SteersmanError) else str(error)
    return HalfDone(
        f"The change failed and could not be undone for: {', '.join(unrestored[:_SHOWN])}.",
        f"{why} The originals are kept in the journal.",
        "Remove what blocks it, then run `steer undo`; if this was an undo, `steer redo`.",
    )
