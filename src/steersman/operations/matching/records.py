"""The records of the matcher: what a caller asks for and what comes back.

No behaviour lives here beyond the one exception that carries a refusal to the public functions.
"""

from typing import Literal

from msgspec import Struct

Code = Literal[
    "no-edits",
    "empty-search",
    "no-change",
    "not-found",
    "ambiguous",
    "already-applied",
    "left-out-code",
    "copied-numbers",
    "contradictory-indentation",
    "not-text",
    "encoding",
    "malformed-patch",
    "unplaced-insertion",
]

TierName = Literal[
    "exact",
    "trailing-blanks",
    "typography",
    "indentation",
    "all-blanks",
    "blank-borders",
    "line-numbers",
    "placed",
]


class Edit(Struct, frozen=True):
    """Replace `search`, which must name one place unless `replace_all` is set."""

    search: str
    replace: str
    replace_all: bool = False


class Note(Struct, frozen=True):
    """How one edit was applied; `lines` are the first and last line it left, 1-based."""

    tier: TierName
    lines: tuple[int, int]
    count: int = 1
    hunk: str = ""


class Applied(Struct, frozen=True):
    """The new bytes of the file, with one note for each edit."""

    content: bytes
    notes: list[Note]


class Refused(Struct, frozen=True):
    """Why nothing was changed: the index of the edit at fault, a code, and what to do next."""

    edit: int
    code: Code
    message: str


class Refusal(Exception):
    """Raised inside the matcher; the public functions turn it into a `Refused`."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message

    def of(self, edit: int) -> Refused:
        """The same refusal, as a record about one edit."""
        return Refused(edit, self.code, self.message)
