"""Hunks of unified diffs by number, and a choice of them.

Hunks count from 1, in the order of their `@@` lines. A diff without any (the file is not text, or
it is empty) counts as one hunk.
"""

from collections.abc import Sequence

from msgspec import Struct

from steersman.records.action import Action, Delete, Write
from steersman.records.counting import counted

_ONE_ONLY = "there is only one hunk"
_MORE = "the call does more than change files"
_WHOLE = "it can only be approved or denied as a whole"


class FileHunks(Struct, frozen=True):
    """The accepted hunks of one file; `path` is that of the action whose diff was shown."""

    path: str
    numbers: tuple[int, ...]


def hunks_of(diff: str) -> tuple[str, ...]:
    """The texts of a diff's hunks, each with its `@@` line; number 1 comes first."""
    # Every other line of a hunk has a mark before it, so `@@` can only begin a hunk.
    _, *hunks = f"\n{diff}".split("\n@@ ")
    return tuple(f"@@ {hunk}".removesuffix("\n") + "\n" for hunk in hunks)


def parts_of(diff: str) -> int:
    """How many hunks of a diff can be accepted or rejected."""
    return len(hunks_of(diff)) or 1


def why_whole(actions: Sequence[Action], *, whole: bool = False) -> str:
    """Why no hunks of a request can be chosen; empty when they can.

    `whole` is what the request itself says of this.
    """
    changes = _changes(actions)
    if whole or any(change.origin != "tool" for change in changes):
        return _WHOLE
    if len(changes) < len(actions):
        return _MORE
    return _ONE_ONLY if sum(parts_of(change.diff) for change in changes) < 2 else ""


def misfit(actions: Sequence[Action], chosen: Sequence[FileHunks], *, whole: bool = False) -> str:
    """Why a choice of hunks is not an answer to a request; empty when it is one."""
    changes = {change.path: change for change in _changes(actions)}
    why = why_whole(actions, whole=whole)
    if why and why != _ONE_ONLY:
        return f"Hunks cannot be chosen: {why}."
    named = {one.path: frozenset(one.numbers) for one in chosen}
    if len(named) < len(chosen):
        return "A file is named twice."
    for path, numbers in named.items():
        if path not in changes:
            return f"{path} is not one of the files that were asked about."
        parts = parts_of(changes[path].diff)
        if wrong := sorted(numbers - set(range(1, parts + 1))):
            hunks = counted(parts, "hunk")
            return f"{path} has {hunks}, so there is no hunk {wrong[0]}."
    return next(filter(None, (_torn(one, changes, named) for one in changes.values())), "")


def _changes(actions: Sequence[Action]) -> list[Write | Delete]:
    return [action for action in actions if isinstance(action, Write | Delete)]


def _torn(
    action: Write | Delete,
    changes: dict[str, Write | Delete],
    named: dict[str, frozenset[int]],
) -> str:
    """Whether a choice would leave half of a move, in a sentence."""
    if not isinstance(action, Write) or not action.moved_from:
        return ""
    halves = [changes[path] for path in (action.moved_from, action.path) if path in changes]
    accepted = sum(len(named.get(half.path, ())) for half in halves)
    if accepted in (0, sum(parts_of(half.diff) for half in halves)):
        return ""
    moved = f"{action.moved_from} is moved to {action.path}"
    return f"{moved}, which can only be accepted or rejected as a whole."
