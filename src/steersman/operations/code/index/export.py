"""`PROJECT_INDEX.json` and `PROJECT_INDEX.md`: the index as files that people and programs read.

Both say who made them, so that a file someone else made is never written over.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from tempfile import NamedTemporaryFile

import msgspec
from msgspec import Struct

from steersman.operations.code.index.graph import rank
from steersman.operations.code.index.ranking import Picture
from steersman.operations.code.trees.definition import Definition
from steersman.records.counting import counted
from steersman.records.errors import UsageProblem

JSON_NAME = "PROJECT_INDEX.json"
MARKDOWN_NAME = "PROJECT_INDEX.md"
MADE_BY = "steer index --write"
_MARK = f"<!-- made by `{MADE_BY}` -->"
_GLANCE = 400
# What a page of Markdown shows: the files that others lean on most, and their outer definitions.
PAGE_FILES = 200
PAGE_NAMES = 12
_WORTH_NAMING = frozenset(
    {"class", "function", "interface", "enum", "struct", "trait", "type", "module", "macro"}
)


class IndexedSymbol(Struct, frozen=True, array_like=True):
    """A definition: its name path, its kind, its first and last line."""

    name_path: str
    kind: str
    line: int
    end_line: int


class IndexedFile(Struct, frozen=True):
    """A file, what it defines, and which files it leans on most."""

    path: str
    language: str
    symbols: tuple[IndexedSymbol, ...] = ()
    leans_on: tuple[str, ...] = ()


class ProjectIndex(Struct, frozen=True):
    """A whole project; files in the order of their paths."""

    made_by: str
    version: int
    files: tuple[IndexedFile, ...]


def project(
    picture: Picture,
    languages: Mapping[str, str],
    outlines: Iterable[tuple[str, Sequence[Definition]]],
) -> ProjectIndex:
    """The project as the index knows it."""
    known = dict(outlines)
    files = []
    for number, path in enumerate(picture.paths):
        symbols = tuple(
            IndexedSymbol(one.name_path, one.kind, one.line, one.end_line)
            for one in known.get(path, ())
        )
        files.append(IndexedFile(path, languages.get(path, ""), symbols, _leans(picture, number)))
    return ProjectIndex(MADE_BY, 1, tuple(files))


def as_json(index: ProjectIndex) -> str:
    """The project for programs; stable, so that it can be compared."""
    return msgspec.json.format(msgspec.json.encode(index), indent=1).decode() + "\n"


def as_markdown(index: ProjectIndex, picture: Picture) -> str:
    """The project for people: the files that others lean on most, with what they define."""
    weights = rank(picture.graph, {})
    best = sorted(range(len(picture.paths)), key=lambda n: (-weights[n], picture.paths[n]))
    best = [n for n in best if index.files[n].symbols and not picture.asides[n]][:PAGE_FILES]
    symbols = sum(len(file.symbols) for file in index.files)
    left = len(index.files) - len(best)
    lines = [
        _MARK,
        "# Project index",
        "",
        f"{counted(len(index.files), 'file')}, {counted(symbols, 'definition')}. "
        "The files that other files use most come first.",
        "",
    ]
    for number in best:
        lines.append(f"- `{_plain(picture.paths[number])}`{_names(index.files[number])}")
    if left > 0:
        lines += ["", f"{left:,} more files are in `{JSON_NAME}`."]
    return "\n".join(lines) + "\n"


def write(folder: str, name: str, text: str) -> str:
    """Write one of the two files; the path. One that someone else made is left as it is."""
    path = os.path.join(folder, name)
    _check_ours(path)
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=folder, prefix=f".{name}.", delete=False
        ) as file:
            file.write(text)
        try:
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except OSError:
            with suppress(OSError):
                os.unlink(file.name)
            raise
    except OSError as error:
        raise UsageProblem(f"{path} cannot be written.", error.strerror or str(error)) from error
    return path


def _check_ours(path: str) -> None:
    if not os.path.lexists(path):
        return
    why = "It was not made by this command."
    if os.path.isfile(path) and not os.path.islink(path):
        with open(path, "rb") as file:
            if MADE_BY.encode() in file.read(_GLANCE):
                return
    raise UsageProblem(f"{path} already exists.", why, "Move it away, then try again.")


def _leans(picture: Picture, number: int) -> tuple[str, ...]:
    graph = picture.graph
    first, last = graph.starts[number], graph.starts[number + 1]
    edges = sorted(range(first, last), key=lambda edge: -graph.shares[edge])
    return tuple(picture.paths[graph.targets[edge]] for edge in edges[:5])


def _names(file: IndexedFile) -> str:
    outer = [
        one.name_path
        for one in file.symbols
        if one.kind in _WORTH_NAMING and "/" not in one.name_path
    ]
    names = [name for name in outer if not name.startswith("_")] or outer
    if not names:
        return ""
    more = f" … {len(names) - PAGE_NAMES} more" if len(names) > PAGE_NAMES else ""
    return ": " + ", ".join(f"`{_plain(name)}`" for name in names[:PAGE_NAMES]) + more


def _plain(text: str) -> str:
    return "".join(letter if letter.isprintable() and letter != "`" else "?" for letter in text)
