"""What undo and redo must do, worked out from the log alone; nothing here touches a file.

An effect counts until an undo names it; an undo can be redone until the next effect. Squashing the
changes of many entries gives, for each path, where it came from and where it got to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from steersman.operations.journal.changeset import same
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import ToolProblem
from steersman.records.undo import UndoPlan


class Entry(Struct, frozen=True):
    """Changes that were made, as the log has them.

    `undoes` names the effects an undo undid, or the one undo that a redo undid. A `void`
    entry says that those it names never happened: they were refused, or failed.
    """

    seq: int
    changes: tuple[Change, ...]
    cause: Literal["effect", "undo", "redo", "void"] = "effect"
    undoes: tuple[int, ...] = ()


class Standing(Struct, frozen=True):
    """Effects in force, oldest first, and undos that can be redone, latest last."""

    effects: tuple[int, ...]
    undos: tuple[int, ...]


def standing(entries: Iterable[Entry]) -> Standing:
    """What is in force after everything in the log."""
    effects: list[int] = []
    undos: dict[int, tuple[int, ...]] = {}
    entries = list(entries)
    never = void(entries)
    for entry in entries:
        if entry.seq in never:
            continue
        match entry.cause:
            case "effect":
                effects.append(entry.seq)
                undos.clear()
            case "undo":
                undos[entry.seq] = entry.undoes
                effects = [seq for seq in effects if seq not in entry.undoes]
            case "redo":
                for seq in entry.undoes:
                    effects = sorted({*effects, *undos.pop(seq, ())})
    return Standing(tuple(effects), tuple(undos))


def void(entries: Iterable[Entry]) -> set[int]:
    """The entries that never happened."""
    return {seq for entry in entries if entry.cause == "void" for seq in entry.undoes}


def plan_undo(entries: Sequence[Entry], wanted: Iterable[int]) -> UndoPlan:
    """How to undo effects in force."""
    wanted = sorted(set(wanted))
    in_force = standing(entries).effects
    if not wanted:
        raise ToolProblem("There is nothing to undo.")
    if missing := [seq for seq in wanted if seq not in in_force]:
        raise ToolProblem(
            f"Nothing to undo at {', '.join(map(str, missing))}.",
            "There is no change there, or it was undone before.",
        )
    done = [change for e in entries if e.seq in wanted for change in e.changes]
    return UndoPlan("undo", tuple(wanted), tuple(inverse(squash(done))), gaps(done))


def plan_redo(entries: Sequence[Entry]) -> UndoPlan:
    """How to undo the last undo that nothing came after."""
    undos = standing(entries).undos
    if not undos:
        raise ToolProblem(
            "There is nothing to redo.", "Nothing was undone, or something else was done since."
        )
    done = next(entry.changes for entry in entries if entry.seq == undos[-1])
    return UndoPlan("redo", (undos[-1],), tuple(inverse(done)))


def since(entries: Iterable[Entry], seq: int) -> tuple[int, ...]:
    """The effects in force that came after a place in the log."""
    return tuple(effect for effect in standing(entries).effects if effect > seq)


def squash(changes: Iterable[Change]) -> list[Change]:
    """The net change of each path, by path; none where a path got back to where it was."""
    first: dict[str, FileState] = {}
    last: dict[str, FileState] = {}
    for change in changes:
        first.setdefault(change.path, change.before)
        last[change.path] = change.after
    net = [Change(path, first[path], last[path]) for path in sorted(first)]
    return [change for change in net if not same(change.before, change.after)]


def inverse(changes: Iterable[Change]) -> list[Change]:
    """The changes that take these back."""
    return [change.reversed() for change in changes]


def gaps(changes: Iterable[Change]) -> tuple[str, ...]:
    """Paths that someone else changed between one change and the next."""
    last: dict[str, FileState] = {}
    found: set[str] = set()
    for change in changes:
        if change.path in last and not same(last[change.path], change.before):
            found.add(change.path)
        last[change.path] = change.after
    return tuple(sorted(found))


def conflicts(present: Mapping[str, FileState], plan: UndoPlan) -> tuple[str, ...]:
    """Paths that are not as the plan expects them: someone else changed them since."""
    return tuple(
        change.path
        for change in plan.changes
        if not same(present.get(change.path, ABSENT), change.before)
    )
