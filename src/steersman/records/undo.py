"""What an undo or a redo would do to files, as records."""

from typing import Literal

from msgspec import Struct

from steersman.records.change import Change


class UndoPlan(Struct, frozen=True):
    """What to do: the entry to write, and the paths where someone else's change would be lost."""

    cause: Literal["undo", "redo"]
    undoes: tuple[int, ...]
    changes: tuple[Change, ...]
    gaps: tuple[str, ...] = ()
