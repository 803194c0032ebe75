"""What undo and redo must do, worked out from the log alone; nothing here touches a file.

An effect counts until an undo names it; an undo can be redone until the next effect. One that is
quiet is no step: it goes with the effect before it, and leaves an undo redoable. A redo that
overwrote someone else's work can itself be undone, as long as nothing came after it. Squashing the
changes of many entries gives, for each path, where it came from and where it got to.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from steersman.operations.journal.changeset import same
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import NothingToUndo, ToolProblem
from steersman.records.undo import UndoPlan

Alike = Callable[[str, FileState, FileState], bool]  # whether two states of a path say the same


class Entry(Struct, frozen=True):
    """Changes that were made, as the log has them.

    `undoes` names the effects or the redo that an undo undid, or the one undo that a redo undid. A
    `void` entry says that those it names never happened: they were refused, or failed. What a
    `partial` undo names stays in force, less what it undid; `own` is that without someone else's
    changes. The names of an `exact` entry are right even where they look masked. `special` are
    pipes and the like that were made with it. `quiet`: git only noted something for itself.
    """

    seq: int
    changes: tuple[Change, ...]
    cause: Literal["effect", "undo", "redo", "void"] = "effect"
    undoes: tuple[int, ...] = ()
    partial: bool = False
    own: tuple[Change, ...] = ()
    exact: bool = False
    special: tuple[str, ...] = ()
    quiet: bool = False


class Standing(Struct, frozen=True):
    """Effects in force, oldest first, and undos that can be redone, latest last.

    `parts` are the undos of a part of effects that are in force, `quiet` what is no step.
    """

    effects: tuple[int, ...]
    undos: tuple[int, ...]
    parts: tuple[int, ...] = ()
    quiet: tuple[int, ...] = ()


def standing(entries: Iterable[Entry]) -> Standing:
    """What is in force after everything in the log."""
    in_force: list[int] = []  # effects, and undos of a part of them
    undos: dict[int, tuple[int, ...]] = {}
    redone: dict[int, tuple[int, tuple[int, ...]]] = {}  # by each redo: what it undid, and brought
    firsts: dict[int, int] = {}  # of an undo of a redo, the undo that stands again
    entries = list(entries)
    never = void(entries)
    partial = {entry.seq for entry in entries if entry.partial}
    quiet = {entry.seq for entry in entries if entry.quiet}
    for entry in entries:
        if entry.seq in never:
            continue
        match entry.cause:
            case "effect":
                in_force.append(entry.seq)
                if not entry.quiet:
                    undos.clear()
            case "undo" if entry.undoes and entry.undoes[0] in redone:
                first, brought = redone.pop(entry.undoes[0])
                undos[entry.seq], firsts[entry.seq] = brought, first
                in_force = sorted({*in_force, *({first} & partial)} - {*brought})
            case "undo" if entry.partial:
                undos[entry.seq] = ()
                in_force.append(entry.seq)
            case "undo":
                undos[entry.seq] = entry.undoes
                in_force = [seq for seq in in_force if seq not in entry.undoes]
            case "redo":
                for seq in entry.undoes:
                    first, brought = firsts.get(seq, seq), undos.pop(seq, ())
                    # What git noted for itself since the undo, the redo overwrites.
                    noted = {one for one in quiet if seq < one < entry.seq}
                    in_force = sorted({*in_force, *brought} - {first} - noted)
                    redone[entry.seq] = (first, brought)
    if all(seq in partial or seq in quiet for seq in in_force):
        quiet = set()  # with no step to go with, it is one
    return Standing(
        tuple(seq for seq in in_force if seq not in partial and seq not in quiet),
        tuple(undos),
        tuple(seq for seq in in_force if seq in partial),
        tuple(seq for seq in in_force if seq in quiet),
    )


def void(entries: Iterable[Entry]) -> set[int]:
    """The entries that never happened."""
    return {seq for entry in entries if entry.cause == "void" for seq in entry.undoes}


def specials(entries: Iterable[Entry]) -> set[str]:
    """Where entries left pipes and the like, which their undo removes."""
    return {path for entry in entries for path in entry.special}


def unchanged(_path: str, one: FileState, other: FileState) -> bool:
    """Whether two states of a path are the same to whoever uses it."""
    return same(one, other)


def plan_undo(
    entries: Sequence[Entry], wanted: Iterable[int], alike: Alike = unchanged
) -> UndoPlan:
    """How to undo effects in force, less what was undone of them before."""
    wanted = sorted(set(wanted))
    in_force = standing(entries)
    if not wanted:
        raise NothingToUndo("There is nothing to undo.")
    if missing := [seq for seq in wanted if seq not in in_force.effects]:
        raise ToolProblem(
            f"Nothing to undo at {', '.join(map(str, missing))}.",
            "There is no change there, or it was undone before.",
        )
    named, done = _done(entries, in_force, [*wanted, *_beside(in_force, set(wanted))])
    return UndoPlan("undo", tuple(named), tuple(inverse(squash(done))), gaps(done, alike))


def _beside(in_force: Standing, wanted: set[int]) -> list[int]:
    """What is no step, and came right after one of some effects, or before the first of all."""
    effects = in_force.effects
    return [one for one in in_force.quiet if effects[max(bisect(effects, one) - 1, 0)] in wanted]


def made(entries: Sequence[Entry]) -> list[Change]:
    """What entries changed in the end: all effects in force, less what was undone of them."""
    in_force = standing(entries)
    return squash(_done(entries, in_force, (*in_force.effects, *in_force.quiet))[1])


def _done(
    entries: Sequence[Entry], in_force: Standing, wanted: Iterable[int]
) -> tuple[list[int], list[Change]]:
    """The changes of effects and of the undos of parts of them, and which entries those are."""
    wanted = set(wanted)
    parts = {e.seq for e in entries if e.seq in in_force.parts and not wanted.isdisjoint(e.undoes)}
    named = wanted | parts
    return sorted(named), [change for e in entries if e.seq in named for change in _own(e)]


def _own(entry: Entry) -> list[Change]:
    """What an entry did to what the effects had made."""
    own = {change.path: change for change in entry.own}
    return [own.get(change.path, change) for change in entry.changes]


def plan_redo(entries: Sequence[Entry]) -> UndoPlan:
    """How to undo the last undo that nothing came after."""
    undos = standing(entries).undos
    if not undos:
        raise ToolProblem(
            "There is nothing to redo.", "Nothing was undone, or something else was done since."
        )
    done = next(entry.changes for entry in entries if entry.seq == undos[-1])
    return UndoPlan("redo", (undos[-1],), tuple(inverse(done)))


def steps(entries: Sequence[Entry], plan: UndoPlan) -> dict[str, list[Change]]:
    """What a plan does to each path, step by step, the latest that it undoes first."""
    found: dict[str, list[Change]] = {}
    for entry in reversed(entries):
        if entry.seq in plan.undoes:
            done = entry.changes if plan.cause == "redo" else _own(entry)
            for change in done:
                found.setdefault(change.path, []).append(change.reversed())
    return found


def plan_before_redo(entries: Sequence[Entry], alike: Alike = unchanged) -> UndoPlan | None:
    """How to restore what a redo overwrote, if it was the last to change something."""
    never = void(entries)
    left = [entry for entry in entries if entry.seq not in never and entry.cause != "void"]
    redo = next((entry for entry in reversed(left) if not entry.quiet), None)
    if redo is None or redo.cause != "redo":
        return None
    named = {entry.seq: entry for entry in left}
    undo = named[redo.undoes[0]]
    while named[undo.undoes[0]].cause == "redo":  # then the undo that was redone stands again
        undo = named[named[undo.undoes[0]].undoes[0]]
    expected = {change.path: change.after for change in undo.changes}
    if all(alike(one.path, one.before, expected.get(one.path, one.before)) for one in redo.changes):
        return None
    return UndoPlan("undo", (redo.seq,), tuple(inverse(redo.changes)))


def refuse_outdated(entries: Sequence[Entry], plan: UndoPlan) -> None:
    """Refuse a plan if someone undid or redid something since: it would be done twice."""
    in_force = standing(entries)
    if plan.cause == "redo":
        holds = plan.undoes == in_force.undos[-1:]
    else:
        redo = plan_before_redo(entries)
        whole = {
            *in_force.effects,
            *in_force.parts,
            *in_force.quiet,
            *(redo.undoes if redo else ()),
        }
        holds = whole.issuperset(plan.undoes)
    if not holds:
        raise ToolProblem(
            f"The {plan.cause} is out of date, so nothing was changed.",
            "Something else was done in the thread since it was shown.",
            "Look at the changes again, then repeat it.",
        )


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
    """The changes that undo these."""
    return [change.reversed() for change in changes]


def with_obstacles(chosen: Sequence[Change], changes: Sequence[Change]) -> list[Change]:
    """The chosen changes, and those that must be undone, or made, with them.

    A folder that is none any more comes back before what was in it; what is in a folder that came
    in the place of a file goes with it.
    """
    paths = {change.path for change in chosen}
    above = {path[:at] for path in paths for at, sign in enumerate(path) if sign == "/"}
    new = {change.path for change in chosen
           if change.after.kind == "folder" and change.before.kind != "folder"}  # fmt: skip

    def in_the_way(change: Change) -> bool:
        was_folder = change.before.kind == "folder" != change.after.kind
        folders = (change.path[:at] for at, sign in enumerate(change.path) if sign == "/")
        return (was_folder and change.path in above) or not new.isdisjoint(folders)

    return [change for change in changes if change.path in paths or in_the_way(change)]


def gaps(changes: Iterable[Change], alike: Alike = unchanged) -> tuple[str, ...]:
    """Paths that someone else changed between one change and the next."""
    last: dict[str, FileState] = {}
    found: set[str] = set()
    for change in changes:
        if change.path in last and not alike(change.path, last[change.path], change.before):
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
