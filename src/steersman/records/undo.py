"""What an undo or a redo would do to files, as records."""

from typing import Literal

from msgspec import Struct

from steersman.records.change import Change

Choice = Literal["whole", "rest"]  # of a plan: all of it, or what overwrites nothing


class Part(Struct, frozen=True, omit_defaults=True):
    """A path that is undone while the rest stays: all of it, or some hunks of what changed there.

    A folder stands for everything below it. Hunks count from 1, in the diff of what was done.
    """

    path: str
    hunks: tuple[int, ...] = ()


class OpenUndo(Struct, frozen=True):
    """An undo or redo that was begun, and of which nobody has heard yet what became of it.

    `working`: the session that began it has not said that it ended it, and no other began since.
    """

    seq: int
    cause: Literal["undo", "redo"]
    changes: int
    working: bool


class UndoPlan(Struct, frozen=True):
    """What to do: the entry to write, and the paths where someone else's change would be lost.

    `kept` counts git's objects that stay, because something else leads to them by now. `parts` are
    what was chosen, where not everything is undone. Where someone else changed a file, `others` has
    what they did; where that fits, `changes` keep it, and `own` has the change without it.
    """

    cause: Literal["undo", "redo"]
    undoes: tuple[int, ...]
    changes: tuple[Change, ...]
    gaps: tuple[str, ...] = ()
    kept: int = 0
    parts: tuple[Part, ...] = ()
    own: tuple[Change, ...] = ()
    others: tuple[Change, ...] = ()
