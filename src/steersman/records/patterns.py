"""Regular expressions that are compiled when they are first used: most commands need few."""

import re
from collections.abc import Callable, Iterator
from typing import Any

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "split", "sub", "subn")


class Pattern:
    """As `re.Pattern`, made late."""

    __slots__ = (
        "findall",
        "finditer",
        "flags",
        "fullmatch",
        "match",
        "search",
        "split",
        "sub",
        "subn",
        "text",
    )

    match: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    fullmatch: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]
    findall: Callable[..., list[Any]]
    split: Callable[..., list[str]]
    sub: Callable[..., str]
    subn: Callable[..., tuple[str, int]]

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    def __getattr__(self, name: str) -> object:
        """Compile; the methods are there from now on."""
        from steersman.records.kept_patterns import KEPT

        made = KEPT.compile(self.text, self.flags)
        for method in _METHODS:
            setattr(self, method, getattr(made, method))
        return getattr(made, name)


def pattern(text: str, flags: int = 0) -> Pattern:
    """A regular expression for later."""
    return Pattern(text, flags)
