"""Whether the guard knows the name of every file that a command writes, by `programs/looks.txt`."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path


def names_its_writes(words: Sequence[str]) -> bool:
    """True for what writes nothing but the files that the guard reads in its words."""
    name = words[0].rsplit("/", 1)[-1] if words else ""
    return any(_begins(row, words[1:]) for row in _rows().get(name, ()))


def _begins(row: Sequence[frozenset[str]], words: Sequence[str]) -> bool:
    return len(words) >= len(row) and all(
        word in some for word, some in zip(words, row, strict=False)
    )


@cache
def _rows() -> dict[str, list[list[frozenset[str]]]]:
    """The words that follow each program, each a choice of some."""
    table = (Path(__file__).parent / "programs" / "looks.txt").read_text("utf-8")
    made: dict[str, list[list[frozenset[str]]]] = {}
    for line in table.splitlines():
        if line.startswith("#") or not line:
            continue
        names, *verbs = line.split()
        for name in names.split("|"):
            made.setdefault(name, []).append([frozenset(one.split("|")) for one in verbs])
    return made
