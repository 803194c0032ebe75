"""What a run that asked nobody came to: the files it changed and the tests it ran."""

from typing import Literal

from msgspec import Struct


class FileStat(Struct, frozen=True, omit_defaults=True):
    """A file that was changed, with the lines of it that are new and gone.

    `moved_from` is the old name of one that was renamed.
    """

    path: str
    what: Literal["created", "changed", "deleted", "renamed"]
    added: int = 0
    removed: int = 0
    moved_from: str = ""


class Tested(Struct, frozen=True, omit_defaults=True):
    """A command that ran tests: how it ended, and the line in which it says what came of them.

    `exit_code` is absent where it continues in the background.
    """

    command: str
    exit_code: int | None = None
    result: str = ""
