"""What an index of code holds, and what it answers to a question."""

from msgspec import Struct


class IndexState(Struct, frozen=True):
    """What an index holds; `updated` is when it last changed, 0 when it is not there."""

    root: str
    path: str
    files: int = 0
    definitions: int = 0
    languages: dict[str, int] = {}
    size: int = 0
    updated: float = 0.0


class Excerpt(Struct, frozen=True, omit_defaults=True):
    """A part of a file that matters for a question, and why."""

    path: str
    line: int
    end_line: int
    text: str
    score: float
    why: str = ""


class RankedContext(Struct, frozen=True, omit_defaults=True):
    """The excerpts that fit a budget, best first; `files` names what also ranks high."""

    backend: str
    excerpts: tuple[Excerpt, ...]
    tokens: int
    files: tuple[str, ...] = ()
    note: str = ""
