"""Which places of a name are uses of one definition, as far as a tree can tell.

No types are known here. What cannot be known is taken for a use: a name too many is seen at once,
one too few is not. Left out are names that are bound in a function around them, defined in the
file itself, or not imported where that is the only way to come by them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.operations.code.records import Reference, Symbol
from steersman.operations.code.trees.definition import Definition
from steersman.operations.code.trees.kinship import may_have
from steersman.operations.code.trees.outline import CALLABLES
from steersman.operations.code.trees.places import NamePlace, places

if TYPE_CHECKING:
    from tree_sitter import Node

FAMILIES = (
    frozenset({"javascript", "typescript", "tsx"}),
    frozenset({"c", "cpp"}),
    frozenset({"java", "kotlin"}),
)
_MEMBERS = frozenset({"method", "field", "property", "constructor", "constant"})
# Where a member is spoken of without its owner.
_BARE_MEMBERS = frozenset({"java", "c-sharp", "cpp", "kotlin", "swift", "ruby", "bash"})
_NEEDS_IMPORT = frozenset({"python", "javascript", "typescript", "tsx"})
_SELVES = frozenset({"self", "this", "cls", "super", "super()", "Self", "$this"})
_WORD = re.compile(r"\w+")
_IMPORTED = re.compile(rb"^[ \t]*import[ \t]+([^\n#;]+)", re.M)
LONGEST_LINE = 300


class File(Struct, frozen=True):
    """A file that was parsed: its path is relative to the workspace."""

    path: str
    language: str
    source: bytes
    root: Node
    definitions: Sequence[Definition]


def same_family(one: str, other: str) -> bool:
    """Whether files of two languages can speak of each other."""
    return one == other or any(one in family and other in family for family in FAMILIES)


def uses(file: File, target: Symbol) -> list[Reference]:
    """The uses of a definition in a file, its own place not counted."""
    found = places(file.root, file.source, target.name)
    if not found:
        return []
    judge = _Judge(file, target, found)
    chosen = [place for place in found if judge.accepts(place)]
    return [reference(file, place) for place in chosen]


def reference(file: File, place: NamePlace) -> Reference:
    """A place in the shape that answers have."""
    begin = place.start - place.column
    end = file.source.find(b"\n", begin)
    line = file.source[begin : end if end >= 0 else len(file.source)]
    lead = line[: place.column].decode("utf-8", "replace")
    said = line.decode("utf-8", "replace").strip()[:LONGEST_LINE]
    row, column = place.row + 1, len(lead) + 1
    return Reference(file.path, row, column, said, inside(file.definitions, row, column))


def inside(definitions: Sequence[Definition], line: int, column: int = 0) -> str:
    """The name path of the innermost definition around a place; empty at the top level.

    Without a column, definitions that have no room for others do not count.
    """
    found = ""
    best = (0, 0)
    for one in definitions:
        begin = (one.line, one.column)
        if column:
            fits = begin <= (line, column)
        else:
            fits = one.line <= line and (one.kind in CALLABLES or one.end_line > one.line)
        if fits and best <= begin and line <= one.end_line:
            found, best = one.name_path, begin
    return found


def shadowed(place: NamePlace, all_places: Sequence[NamePlace], language: str) -> NamePlace | None:
    """Where a function around a name binds it, if one does: it means something of its own there.

    In Python that holds in the whole function, elsewhere from that place on.
    """
    if place.owner is not None:
        return None
    for function in place.functions:
        there = [p for p in all_places if p.functions and p.functions[0] == function]
        if language != "python":
            there = [p for p in there if p.start <= place.start]
        if any(p.nonlocal_ for p in there):
            return None
        bound = next((p for p in there if p.bound and p.owner is None), None)
        if bound is not None:
            return bound
    return None


class _Judge:
    """Says which places of a name in one file are uses of a target."""

    def __init__(self, file: File, target: Symbol, found: Sequence[NamePlace]) -> None:
        self._file = file
        self._target = target
        self._places = found
        self._here = file.path == target.path
        last = [d for d in file.definitions if d.name == target.name]
        self._defined = {(d.line, d.column) for d in last}
        self._above = target.name_path.rpartition("/")[0]
        self._member = bool(self._above) and target.kind in _MEMBERS
        top = [d for d in last if "/" not in d.name_path]
        self._own_definition = not self._here and any(_is_own(d, file.language) for d in top)
        self._imports = [p.imported for p in found if p.imported is not None]
        self._imports += [d.signature for d in top if _is_required(d)]
        self._columns = _Columns(file.source)
        self._modules = _modules(file.source) if file.language == "python" else frozenset()
        self._kinds = {d.name_path: d.kind for d in file.definitions}
        self._span = self._enclosing()

    def _enclosing(self) -> tuple[int, int] | None:
        """The lines in which a definition within a function is known; None when all are."""
        if not self._here or not self._above:
            return None
        for one in self._file.definitions:
            if one.name_path == self._above and one.line <= self._target.line <= one.end_line:
                return (one.line, one.end_line) if one.kind in CALLABLES else None
        return None

    def accepts(self, place: NamePlace) -> bool:
        at = (place.row + 1, self._columns.of(place))
        if at in self._defined:
            return False
        if self._span is not None and not self._span[0] <= at[0] <= self._span[1]:
            return False
        if place.label:
            return self._member and self._target.kind in ("field", "property")
        if place.imported is not None:
            return not self._here and self._may_come_from(place.imported)
        if place.owner is not None:
            return self._accepts_owned(place)
        return self._accepts_bare(place)

    def _accepts_owned(self, place: NamePlace) -> bool:
        owner = (place.owner or "").strip()
        if self._member:
            return owner not in self._modules and self._may_be_ours(place, owner)
        if owner in _SELVES:
            return False
        if self._file.language in _NEEDS_IMPORT and not self._here:
            first = _WORD.match(owner)
            return first is not None and self._is_imported(first[0])
        return True

    def _may_be_ours(self, place: NamePlace, owner: str) -> bool:
        """Whether `self.name` can mean the target: not in a class unrelated to its own."""
        around = inside(self._file.definitions, place.row + 1)
        while owner in _SELVES and around:
            if self._kinds.get(around, "") not in (*CALLABLES, ""):
                ours = self._above.rpartition("/")[2]
                return may_have(self._file.definitions, around, self._target.name, ours)
            around = around.rpartition("/")[0]
        return True

    def _accepts_bare(self, place: NamePlace) -> bool:
        if shadowed(place, self._places, self._file.language) is not None:
            return False
        language = self._file.language
        if self._member and self._target.kind != "constant" and language not in _BARE_MEMBERS:
            return self._in_class_body(place)
        if self._here or self._member:
            return True
        if self._own_definition:
            return False
        if language == "go":
            return os.path.dirname(self._file.path) == os.path.dirname(self._target.path)
        if language in _NEEDS_IMPORT:
            star = self._has_star()
            return star or any(self._may_come_from(said) for said in self._imports)
        return True

    def _in_class_body(self, place: NamePlace) -> bool:
        """Whether a bare name is in the very class, outside its methods."""
        if not self._here or place.functions:
            return False
        return inside(self._file.definitions, place.row + 1) == self._above

    def _may_come_from(self, said: str) -> bool:
        """Whether an import can lead to the target: by a word of its path, or a relative one."""
        if self._file.language == "python":
            words = said.partition("import")[0] if said.startswith("from") else said
            if re.match(r"from\s+\.+\s+import", said):
                return True
        elif self._file.language in _NEEDS_IMPORT:
            words = said.rpartition("from")[2] or said
            if re.search(r"""["'][./~#@]""", words):
                return True
        else:
            return True
        known = set(_WORD.findall(os.path.splitext(self._target.path)[0]))
        return not known.isdisjoint(_WORD.findall(words))

    def _has_star(self) -> bool:
        if self._file.language != "python":
            return False
        stars = re.findall(rb"(?m)^\s*(from\s+\S+\s+import\s+)\*", self._file.source)
        return any(self._may_come_from(star.decode("utf-8", "replace")) for star in stars)

    def _is_imported(self, name: str) -> bool:
        """Whether a name is, or can be, the module or package that the target is in."""
        for place in places(self._file.root, self._file.source, name):
            if place.imported is not None and self._may_come_from(place.imported):
                return True
            if place.bound and self._file.language != "python":
                return True
        return False


class _Columns:
    """Columns in characters, counted only where a line has more than ASCII."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._ascii = source.isascii()

    def of(self, place: NamePlace) -> int:
        if self._ascii:
            return place.column + 1
        lead = self._source[place.start - place.column : place.start]
        return len(lead.decode("utf-8", "replace")) + 1


def _modules(source: bytes) -> frozenset[str]:
    """What is certainly a module: `import a.b, c as d` makes `a`, `a.b` and `d`."""
    found: set[str] = set()
    for said in _IMPORTED.findall(source):
        for one in said.decode("utf-8", "replace").split(","):
            path, _, alias = one.strip().partition(" as ")
            found |= {alias.strip()} if alias else {path, path.partition(".")[0]}
    return frozenset(found)


def _is_own(definition: Definition, language: str) -> bool:
    """Whether a definition of the same name is another thing: in C it may be the same, declared."""
    if language in ("c", "cpp"):
        return definition.signature.startswith("static ")
    return not _is_required(definition)


def _is_required(definition: Definition) -> bool:
    """Whether a definition is an import in other words."""
    return "require(" in definition.signature or "import(" in definition.signature
