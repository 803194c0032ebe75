"""The outline of a file: what is defined in it, read from its syntax tree.

The tree is walked only where definitions can be, so an outline costs little more than parsing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.code.trees import plain, reading, repairing
from steersman.operations.code.trees.definition import Definition
from steersman.operations.code.trees.grammar import Grammar, Meaning, grammar
from steersman.operations.code.trees.languages import Language
from steersman.operations.code.trees.names import Name, names, type_name

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

LONGEST_SIGNATURE = 200
MOST_DEFINITIONS = 20_000
DEEPEST = 40
CALLABLES = frozenset({"function", "method", "constructor", "macro"})
_TYPES = frozenset({"class", "interface", "struct", "enum", "trait", "type", "scope", "variable"})
_BRACED = frozenset({"class", "interface", "struct", "enum", "trait"})
_ANNOTATIONS = re.compile(r"^(?:@(?!interface\b)[\w.]+(?:\([^()]*\))?\s+|\[[^\]]*\]\s+)+(?=\w)")


class Around(Struct, frozen=True):
    """What a definition is in: a name path that ends in a slash, its kind, how deep."""

    prefix: str = ""
    kind: str = ""
    depth: int = 0


def outline(content: bytes, language: Language) -> list[Definition]:
    """The definitions of a file in order. Raises `Unreadable` where it cannot be read."""
    source = reading.source(content)
    if not language.grammar:
        return plain.outline(source, language.name)
    rules = grammar(language)
    return definitions(rules.parse(source), rules, source)


def definitions(tree: Tree, rules: Grammar, source: bytes) -> list[Definition]:
    """The definitions in a tree, in order."""
    found = Walk(rules, source).run(tree.root_node)
    return _repaired(found, tree.root_node, rules, source) if tree.root_node.has_error else found


def _repaired(
    found: list[Definition], root: Node, rules: Grammar, source: bytes
) -> list[Definition]:
    """The definitions of a file with mistakes: in pieces, where that shows more."""
    more: list[Definition] = []
    lines: set[int] = set()
    for start, end, row in repairing.pieces(root, source):
        piece = source[start:end]
        for one in Walk(rules, piece).run(rules.parse(piece).root_node):
            lines.update(range(row + one.line, row + one.end_line + 1))
            moved = replace(one, line=row + one.line, end_line=row + one.end_line)
            more.append(moved)
    if not more:
        return found
    kept = [one for one in found if one.line not in lines]
    return sorted(kept + more, key=lambda one: (one.line, -one.end_line, one.column))


class Walk:
    """One walk over one tree. A stack of its own: nesting may be deeper than Python's."""

    def __init__(self, rules: Grammar, source: bytes) -> None:
        self._rules = rules
        self._source = source
        self._ascii = source.isascii()
        self._found: list[tuple[int, Definition]] = []
        self._waiting: list[tuple[Node, Around]] = []

    def run(self, root: Node) -> list[Definition]:
        """All definitions below a node."""
        self._waiting.append((root, Around()))
        meanings = self._rules.meanings
        while self._waiting and len(self._found) < MOST_DEFINITIONS:
            node, around = self._waiting.pop()
            in_function = around.kind in CALLABLES
            members = m.members if (m := meanings.get(node.kind_id)) is not None else ""
            for child in node.named_children:
                meaning = meanings.get(child.kind_id)
                if meaning is None:
                    if members and child.type == members:
                        self._add(child, Name(child), "constant", around, None)
                elif meaning.kind is not None:
                    self._define(child, meaning, around)
                elif not (meaning.outside and in_function):
                    self._waiting.append((child, around))
        self._found.sort(key=lambda found: found[0])
        return [definition for _, definition in self._found]

    def _define(self, node: Node, meaning: Meaning, around: Around) -> None:
        kind, body = meaning.kind or "", node.child_by_field_name("body")
        if meaning.refine:
            for child in node.children:
                refined = meaning.refine.get(child.type)
                if refined is not None:
                    kind, body = refined, child.child_by_field_name("body") or body
                    break
        if meaning.needs_body and body is None:
            return
        inner = around
        if kind:
            if meaning.receiver:
                around = self._received(node, meaning.receiver, around)
            plain = node.child_by_field_name("name") if meaning.where == "name" else None
            if plain is not None and plain.child_count == 0:
                inner = self._add(node, Name(plain), kind, around, body) or inner
            else:
                for name in names(node, meaning.where):
                    inner = self._add(node, name, kind, around, body) or inner
        is_local = kind == "variable" and around.kind in CALLABLES
        if inner.depth < DEEPEST and not is_local:
            self._waiting.append((node, inner))

    def _received(self, node: Node, field: str, around: Around) -> Around:
        receiver = node.child_by_field_name(field)
        owner = type_name(receiver) if receiver is not None else ""
        return Around(f"{around.prefix}{owner}/", "struct", around.depth) if owner else around

    def _add(
        self, node: Node, name: Name, kind: str, around: Around, body: Node | None
    ) -> Around | None:
        """Take a definition in; the answer is what is around those within it."""
        start, end = name.node.start_byte, name.node.end_byte
        said = _part(self._source[start:end])
        if name.qualifiers:
            path = "".join(f"{_part(part.encode())}/" for part in name.qualifiers)
            within = "function" if name.qualifiers == ("this",) else "struct"
            around = Around(around.prefix + path, within, around.depth)
        found = self._kind(kind, said, around, name)
        if not said or not found:
            return None
        if found != "scope":
            row, column = name.node.start_point
            definition = Definition(
                around.prefix + said,
                found,
                row + 1,
                _last_line(node),
                self._column(start, column),
                self._signature(node, body, found),
            )
            self._found.append((node.start_byte, definition))
        if found == "module":
            return Around(f"{around.prefix}{said}/", "", around.depth + 1)
        return Around(f"{around.prefix}{said}/", found, around.depth + 1)

    def _kind(self, kind: str, said: str, around: Around, name: Name) -> str:
        """The kind by what is around; empty for what does not count."""
        table = self._rules.table
        if name.callable and kind in ("variable", "field"):
            kind = "function"
        if kind == "function" and around.kind in _TYPES:
            owner = around.prefix[:-1].rpartition("/")[2]
            named_after = table.constructors_named_after_class and said == owner
            return "constructor" if said in table.constructors or named_after else "method"
        if kind == "variable":
            if around.kind in CALLABLES:
                return ""
            if table.only_constants:
                return "constant" if said[:1].isupper() else ""
            if len(said) > 1 and said.isupper():
                return "constant"
            return "field" if around.kind in _TYPES else "variable"
        return kind

    def _column(self, start: int, column: int) -> int:
        if self._ascii:
            return column + 1
        return len(self._source[start - column : start].decode("utf-8", "replace")) + 1

    def _signature(self, node: Node, body: Node | None, kind: str) -> str:
        start = node.start_byte
        end = node.end_byte if body is None else body.start_byte
        said = self._source[start : min(end, start + 4 * LONGEST_SIGNATURE)]
        if body is None:
            said = said.split(b"\n", 1)[0]
            if kind in _BRACED:
                said = said.split(b"{", 1)[0]
        line = " ".join(said.decode("utf-8", "replace").split())
        if line[:1] in ("@", "["):
            line = _ANNOTATIONS.sub("", line)
        line = line.removesuffix("=>").rstrip(" =:{;,")
        return line if len(line) <= LONGEST_SIGNATURE else line[: LONGEST_SIGNATURE - 1] + "…"


def _part(name: bytes) -> str:
    """A name as a part of a name path: on one line, without slashes."""
    said = name.decode("utf-8", "replace").replace("/", "|").strip("\"'`")
    return said if said.isidentifier() else " ".join(said.split())[:LONGEST_SIGNATURE]


def _last_line(node: Node) -> int:
    """The last line of a node; some end with the line break, at the begin of the next."""
    row, column = node.end_point
    return row if column == 0 and row > node.start_point[0] else row + 1
