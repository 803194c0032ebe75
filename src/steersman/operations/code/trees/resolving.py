"""Where the name at a place is defined: in the functions around it, in its file, by an import, or
somewhere in the project. Candidates, best first; only those of the best kind that there is."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from steersman.operations.code.records import Symbol
from steersman.operations.code.trees.definition import Definition
from steersman.operations.code.trees.outline import CALLABLES
from steersman.operations.code.trees.places import NamePlace, places
from steersman.operations.code.trees.uses import File, inside, reference, shadowed

_SELVES = frozenset({"self", "this", "cls", "Self", "$this"})
_MEMBERS = frozenset({"method", "field", "property", "constructor", "constant"})
_WORD = re.compile(r"\w+")


def place_at(file: File, line: int, column: int, name: str) -> tuple[str, NamePlace] | None:
    """The name at a line and column (from 1), or the first place of `name` in the line."""
    text = _line(file.source, line)
    word = name or _word_at(text, column)
    if not word:
        return None
    there = [place for place in places(file.root, file.source, word) if place.row == line - 1]
    if not there:
        return None
    raw = len(text[: column - 1].encode("utf-8", "replace"))
    size = len(word.encode("utf-8", "replace"))
    exact = [place for place in there if place.column <= raw <= place.column + size]
    return word, (exact or there)[0]


def local(file: File, word: str, place: NamePlace) -> Symbol | None:
    """What a function around a name binds it to: a parameter or a variable of its own."""
    bound = shadowed(place, places(file.root, file.source, word), file.language)
    if bound is None:
        return None
    said = reference(file, bound)
    path = f"{said.inside}/{word}" if said.inside else word
    return Symbol(
        word, path, "variable", file.path, said.line, said.line, said.column, said.text[:200]
    )


def in_file(file: File, word: str, place: NamePlace) -> list[Definition]:
    """Definitions of the file itself that a name at a place can mean."""
    known = [one for one in file.definitions if one.name == word]
    around = inside(file.definitions, place.row + 1)
    if place.owner is not None:
        owner = place.owner.strip()
        if owner not in _SELVES:
            last = _WORD.findall(owner)[-1:]
            return [one for one in known if _parent(one).rpartition("/")[2] in last]
        classes = _classes(file.definitions, around)
        return next(([o for o in known if _parent(o) == c] for c in classes if c), [])
    # The innermost first: what is beside the name, then what is around, then the file.
    while True:
        here = [one for one in known if _parent(one) == around and _is_seen(one, file, around)]
        if here or not around:
            return here
        around = around.rpartition("/")[0]


def imported_as(file: File, word: str) -> tuple[str, str]:
    """The import that brings a name, and what it is called where it comes from; or nothing."""
    for place in places(file.root, file.source, word):
        if place.imported is not None:
            said = place.imported
            alias = re.search(rf"(\w+)\s+as\s+{re.escape(word)}\b", said)
            return said, alias[1] if alias else word
    return "", word


def by_import(found: Sequence[Symbol], said: str, file: File) -> list[Symbol]:
    """Those candidates whose file an import can mean, the nearest first."""
    source = said.partition("import")[0] if said.startswith("from") else said
    words = [word for word in _WORD.findall(source) if word not in ("from", "import", "as")]
    if not words:
        words = [os.path.basename(os.path.dirname(file.path))]

    def fit(symbol: Symbol) -> int:
        parts = _WORD.findall(os.path.splitext(symbol.path)[0])
        return len(set(words) & set(parts)) + 2 * (words[-1] in parts[-2:])

    best = max((fit(symbol) for symbol in found), default=0)
    return [symbol for symbol in found if best and fit(symbol) == best]


def by_name(found: Sequence[Symbol], place: NamePlace, file: File) -> list[Symbol]:
    """Candidates by name alone: members for `owner.name`, others for a name by itself."""
    members = [symbol for symbol in found if symbol.kind in _MEMBERS and "/" in symbol.name_path]
    others = [symbol for symbol in found if symbol not in members]
    if place.owner is None:
        chosen = [s for s in others if "/" not in s.name_path] or others or members
    else:
        last = _WORD.findall(place.owner)[-1:]
        named = [s for s in found if _is_of(s, last)]
        chosen = named or members or others
    folder = os.path.dirname(file.path)

    def distance(symbol: Symbol) -> tuple[bool, bool, str, int]:
        away = os.path.dirname(symbol.path) != folder
        return symbol.path != file.path, away, symbol.path, symbol.line

    return sorted(chosen, key=distance)


def _is_of(symbol: Symbol, owner: list[str]) -> bool:
    stem = os.path.splitext(os.path.basename(symbol.path))[0]
    parent = symbol.name_path.rpartition("/")[0].rpartition("/")[2]
    return bool(owner) and owner[0] in (parent, stem)


def _classes(definitions: Sequence[Definition], around: str) -> list[str]:
    """The types around a name path, innermost first."""
    kinds = {one.name_path: one.kind for one in definitions}
    found = []
    while around:
        if kinds.get(around, "class") not in CALLABLES:
            found.append(around)
        around = around.rpartition("/")[0]
    return found


def _is_seen(one: Definition, file: File, around: str) -> bool:
    """Members of a class are not seen without their owner where a language has none of that."""
    if not around or file.language not in ("python", "javascript", "typescript", "tsx", "rust"):
        return True
    kinds = {other.name_path: other.kind for other in file.definitions}
    return kinds.get(around) in CALLABLES


def _parent(one: Definition) -> str:
    return one.name_path.rpartition("/")[0]


def _line(source: bytes, line: int) -> str:
    lines = source.split(b"\n", line)
    return lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""


def _word_at(text: str, column: int) -> str:
    for match in re.finditer(r"\w+[?!]?", text):
        if match.start() <= column - 1 <= match.end():
            return match[0]
    return ""
