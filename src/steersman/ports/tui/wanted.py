"""What a person asked for on the command line."""

from msgspec import Struct


class Wanted(Struct, frozen=True):
    """A thread to continue by its id, or to `choose` from a list; words to say first."""

    resume: str = ""
    say: str = ""
    choose: bool = False
