"""What an undo or a redo would do to files, as records."""

from typing import Literal

from msgspec import Struct

from steersman.records.change import Change


class UndoPlan(Struct, frozen=True):
    """What to do: the entry to write, and the paths where someone else's change would be lost.

    `kept` counts git's objects that stay, because something else leads to them by now.
    """

    cause: Literal["undo", "redo"]
    undoes: tuple[int, ...]
    changes: tuple[Change, ...]
    gaps: tuple[str, ...] = ()
    kept: int = 0
