"""How settings are read and written, for whoever does not know the files."""

from collections.abc import Callable

from msgspec import Struct


class Configure(Struct, frozen=True):
    """The value of a setting, as it is shown, and setting one.

    Both raise what is wrong; setting gives the file, and what counts more than it.
    """

    present: Callable[[str], str]
    change: Callable[[str, str], tuple[str, str]]
