"""From what a server lists to our symbols: nested, named by their paths, with plain names. Pure.

Servers differ: some nest, some list flat with ranges, some put the place of a method into its name
(`(*Client).Send`, `Client::send`, `impl Client`). Here all of it becomes `Client/Send`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from steersman.operations.code.lsp.kinds import kind_of
from steersman.operations.code.lsp.positions import Encoding, to_column, to_units
from steersman.operations.code.lsp.wire import (
    DocumentSymbol,
    Position,
    Range,
    SymbolInformation,
    each,
    listed,
)
from steersman.operations.code.records import Symbol

SIGNATURE = 200
DEEPEST = 40
LONG = 500
_GO_METHOD = re.compile(r"\(\*?(\w+)(?:\[[^\]]*\])?\)\.(\w+)")
_IMPL = re.compile(r"impl(?:<[^>]*>)?\s+(?:.*\bfor\s+)?&?(?:mut\s+)?(?:\w+::)*(\w+)")
_TAIL = re.compile(r"[(<\s].*$", re.S)
_SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_BORROWS = re.compile(r"\s*(?:import\b(?!\s*\()|export\s+(?:type\s+)?[{*])")
_BORROWED = re.compile(r"[\w$\s,*]*(?://.*)?")
_FUNCTION = re.compile(
    r"\s*(?::[^=]*)?=\s*(?:async\s*)?(?:function\b|(?:\([^=]*\)|[\w$]+)\s*(?::[^=]+)?=>)"
)
_BODIES = frozenset({"function", "method", "constructor", "property"})
_MADE_UP = re.compile(r"\scallback$|^<.*>$")


class Found(msgspec.Struct, frozen=True):
    """A definition with its place in the file as the server said it."""

    symbol: Symbol
    whole: Range
    name_at: Range
    inner: tuple[Found, ...] = ()

    def flat(self) -> Iterator[Found]:
        """This and all that is defined in it."""
        yield self
        for found in self.inner:
            yield from found.flat()


def document_symbols(
    answer: Any, path: str, lines: Sequence[str], encoding: Encoding, shown: str
) -> tuple[Found, ...]:
    """The definitions of a file, in order."""
    items = list(listed(answer))
    if items and isinstance(items[0], dict) and "location" in items[0]:
        nodes = nested(each(SymbolInformation, items))
    else:
        nodes = each(DocumentSymbol, items)
    reading = _Reading(path, lines, encoding, shown)
    return tuple(reading.all(nodes, (), 0, ""))


def nested(flat: Iterable[SymbolInformation]) -> list[DocumentSymbol]:
    """A flat list as a tree, by which range holds which."""
    ordered = sorted(flat, key=_outer_first)
    top: list[DocumentSymbol] = []
    open_: list[DocumentSymbol] = []
    for item in ordered:
        place = item.location.range
        node = DocumentSymbol(item.name, item.kind, place, place, None, [])
        while open_ and not (open_[-1].range.holds(place) and open_[-1].range != place):
            open_.pop()
        (top if not open_ or open_[-1].children is None else open_[-1].children).append(node)
        open_.append(node)
    return top


def plain(name: str) -> tuple[tuple[str, ...], str]:
    """A name without what servers add to it, and the folders of names it says it is in."""
    if method := _GO_METHOD.fullmatch(name):
        return (method[1],), method[2]
    bare = name
    if not name.startswith(("operator", "(", "<")):
        bare = _TAIL.sub("", name) or name
    *outer, last = [part for part in bare.split("::") if part] or [name]
    return tuple(outer), last


class _Reading:
    """One file's symbols on their way to our shape."""

    def __init__(self, path: str, lines: Sequence[str], encoding: Encoding, shown: str) -> None:
        self._path = path
        self._lines = lines
        self._encoding = encoding
        self._shown = shown

    def all(
        self, nodes: Iterable[DocumentSymbol], above: tuple[str, ...], depth: int, within: str
    ) -> Iterator[Found]:
        """What a list defines: names that are only imported, and local variables, are not of it."""
        for node in sorted(nodes, key=_by_place):
            if depth >= DEEPEST or _MADE_UP.search(node.name):
                continue
            if block := _IMPL.match(node.name):  # no definition, but a place for some
                yield from self.all(node.children or (), (*above, block[1]), depth + 1, "class")
                continue
            kind = self._kind(node)
            local = within in _BODIES and kind in ("variable", "constant")
            if not local and not (kind == "variable" and self._borrowed(node)):
                yield self._one(node, kind, above, depth)

    def _one(self, node: DocumentSymbol, kind: str, above: tuple[str, ...], depth: int) -> Found:
        outer, name = plain(node.name)
        names = (*above, *outer, name)
        inner = tuple(self.all(node.children or (), names, depth + 1, kind))
        at = self._name_at(node, name)
        line = self._line(at.line)
        symbol = Symbol(
            name=name,
            name_path="/".join(names),
            kind=kind,
            path=self._shown,
            line=at.line + 1,
            end_line=max(at.line, self._last(node.range)) + 1,
            column=to_column(line, at.character, self._encoding),
            signature=line.strip()[:SIGNATURE],
        )
        return Found(symbol, node.range, node.selection_range, inner)

    def _kind(self, node: DocumentSymbol) -> str:
        """The word for a kind; in scripts a variable with a function for its value is one."""
        kind = kind_of(node.kind, self._path)
        if kind in ("variable", "constant") and self._path.endswith(_SCRIPTS):
            end = node.selection_range.end
            line = self._line(end.line)
            begin = to_column(line, end.character, self._encoding) - 1
            if _FUNCTION.match(line[begin : begin + LONG]):
                return "function"
        return kind

    def _borrowed(self, node: DocumentSymbol) -> bool:
        """Whether a name of a script is only imported or exported again in this place."""
        if not self._path.endswith(_SCRIPTS):
            return False
        for number in range(node.selection_range.start.line, -1, -1):
            line = self._line(number)[:LONG]
            if _BORROWS.match(line):
                return True
            if not _BORROWED.fullmatch(line.replace("}", " ").partition(" from ")[0]):
                return False
        return False

    def _name_at(self, node: DocumentSymbol, name: str) -> Position:
        """Where the name is; servers without a range for it give that of the whole."""
        start = node.selection_range.start
        if node.selection_range != node.range:
            return start
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for number in range(start.line, min(start.line + 20, node.range.end.line + 1)):
            line = self._line(number)
            begin = 0
            if number == start.line:
                begin = to_column(line, start.character, self._encoding) - 1
            if hit := word.search(line, begin):
                return Position(number, to_units(line, hit.start() + 1, self._encoding))
        return start

    def _last(self, whole: Range) -> int:
        """The last line; a range that ends where a line begins does not reach into it."""
        end = whole.end
        return end.line - 1 if end.character == 0 and end.line > whole.start.line else end.line

    def _line(self, number: int) -> str:
        return self._lines[number] if 0 <= number < len(self._lines) else ""


def cut(found: Found, depth: int) -> Symbol:
    """A symbol with what is in it, down to a depth."""
    if depth <= 0:
        return found.symbol
    children = tuple(cut(inner, depth - 1) for inner in found.inner)
    return msgspec.structs.replace(found.symbol, children=children)


def innermost(found: Iterable[Found], place: Position) -> Found | None:
    """The smallest definition around a place."""
    for one in found:
        if one.whole.has(place):
            return innermost(one.inner, place) or one
    return None


def body_of(found: Found, lines: Sequence[str]) -> str:
    """The whole lines of a definition, with the decorators a server counts to it."""
    return "\n".join(lines[found.whole.start.line : found.symbol.end_line])


def _outer_first(item: SymbolInformation) -> tuple[int, int, int, int]:
    start, end = item.location.range.start, item.location.range.end
    return start.line, start.character, -end.line, -end.character


def _by_place(node: DocumentSymbol) -> tuple[int, int]:
    start = node.selection_range.start
    return start.line, start.character
