"""What a syntax tree says about a file: its definitions, and the names that are used in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from steersman.operations.code.records import Symbol


class Definition(Struct, frozen=True, array_like=True, gc=False):
    """A definition in one file, as it is kept in the index.

    `line` and `column` (from 1, in characters) are where the name is; `end_line` is where the
    definition ends. Definitions of a file are kept flat and in order; `name_path` shows the nest.
    """

    name_path: str
    kind: str
    line: int
    end_line: int
    column: int
    signature: str

    @property
    def name(self) -> str:
        """The last part of the name path."""
        return self.name_path.rpartition("/")[2]

    def symbol(self, path: str, children: tuple[Symbol, ...] = ()) -> Symbol:
        """The definition in the shape that answers have."""
        return Symbol(
            name=self.name,
            name_path=self.name_path,
            kind=self.kind,
            path=path,
            line=self.line,
            end_line=self.end_line,
            column=self.column,
            signature=self.signature,
            children=children,
        )


class Tags(Struct, frozen=True, gc=False):
    """What the index keeps of a file: definitions, and how often other names are used (as UTF-8).

    `note` says why there is nothing: too large, binary, no grammar.
    """

    definitions: tuple[Definition, ...] = ()
    references: Mapping[bytes, int] = {}
    note: str = ""


def nested(definitions: Iterable[Definition], path: str, depth: int) -> list[Symbol]:
    """Definitions as a tree, to a depth; 0 is the top level alone.

    A definition whose name path leads through something that is not defined in the file (a method
    of a type of elsewhere) is at the top.
    """
    children: dict[int, list[int]] = {-1: []}
    last: dict[str, int] = {}
    rows = list(definitions)
    # The type may be below its methods, so all names are known before any is placed.
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        first.setdefault(row.name_path, place)
    for place, row in enumerate(rows):
        above = row.name_path.rpartition("/")[0]
        parent = last.get(above, first.get(above, -1)) if above else -1
        children.setdefault(parent if parent != place else -1, []).append(place)
        last[row.name_path] = place
    return [_built(rows, children, place, path, depth) for place in children[-1]]


def _built(
    rows: list[Definition], children: dict[int, list[int]], place: int, path: str, depth: int
) -> Symbol:
    below = children.get(place, ()) if depth > 0 else ()
    return rows[place].symbol(
        path, tuple(_built(rows, children, child, path, depth - 1) for child in below)
    )
