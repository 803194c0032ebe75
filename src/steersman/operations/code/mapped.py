"""Another MCP server as a backend: a table says which of its tools does what, and how it answers.

The table is in the server's entry (`codeTools`). A row names the tool, its arguments with
places to fill in, and the reading of its answers:

- `json`: an array of objects, or an object that holds one; common names of fields are understood.
- `places`: lines of text that begin with `path:line:column`, or `path:line`.
- `serena`: what Serena's tool for the same answers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.code import mapped_reading as reading
from steersman.operations.code import serena_reading
from steersman.operations.code.backend import Ability, Spot, Target, Wanted
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.code.servers import Servers, effect_of, usable
from steersman.operations.code.shapes import Sight
from steersman.operations.tool import Bench
from steersman.records import validation
from steersman.records.action import McpCall
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server

MOST_FILES = 20
_BLANK = re.compile(r"\{(\w+)\}")


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """How one ability is had: `lines` is the number of a file's first line in answers.

    In `arguments`, `{path}` (relative), `{absolute}`, `{uri}`, `{name}`, `{line}`, `{column}`,
    `{line0}` and `{column0}` (from 0) and `{depth}` are filled in.
    """

    tool: str
    arguments: dict[str, Any] = {}
    reading: Literal["json", "places", "serena"] = "json"
    lines: Literal[0, 1] = 1


Table = Mapping[Ability, Row]


def table_of(entry: Mapping[str, Any], server: str) -> Table:
    """The table of a server's entry, or what is wrong with it."""
    try:
        return msgspec.convert(dict(entry), dict[Ability, Row])
    except msgspec.ValidationError as error:
        raise UsageProblem(
            f"codeTools of the MCP server {server} is not valid: {validation.in_words(error)}.",
            "Each of overview, find, declaration, references, diagnostics may name a tool, its "
            "arguments, a reading (json, places, serena) and lines (0 or 1).",
        ) from error


class MappedBackend:
    """A server that knows code in its own way."""

    def __init__(self, servers: Servers, server: Server, root: str, table: Table) -> None:
        self._servers = servers
        self._server = server
        self._root = root
        self._table = table

    @property
    def name(self) -> str:
        """The server's name."""
        return self._server.name

    def serves(self, ability: Ability, path: str) -> bool:
        """Whether the table has it and the server may be asked."""
        row = self._table.get(ability)
        if row is None or not usable(self._servers, self._server.name):
            return False
        if ability in ("overview", "declaration", "diagnostics") and os.path.isdir(path):
            return False
        known = {tool.name for tool in self._servers.tools_of(self._server.name)}
        return not known or row.tool in known

    async def overview(self, path: str, depth: int, bench: Bench) -> list[Symbol]:
        """The symbols of a file."""
        found = await self._symbols("overview", self._blanks(path, depth=depth), path, bench)
        return [_cut(symbol, depth) for symbol in found]

    async def find(self, wanted: Wanted, bench: Bench) -> list[Symbol]:
        """Definitions; servers differ in what they match, so it is matched here again."""
        from steersman.operations.code.naming import matches

        blanks = self._blanks(wanted.within, name=wanted.name, depth=wanted.depth)
        found = await self._symbols("find", blanks, wanted.within, bench)
        sight = Sight(bench.workspace)
        below = bench.workspace.shown(wanted.within)
        kept = [
            symbol
            for symbol in found
            if matches(wanted.name, symbol.name_path, wanted.substring)
            and (not wanted.kinds or symbol.kind in wanted.kinds)
            and (below in (".", symbol.path) or symbol.path.startswith(below + "/"))
        ]
        if not wanted.body:
            return kept
        return [
            replace(s, body="\n".join(sight.lines(s.path)[s.line - 1 : s.end_line])) for s in kept
        ]

    async def declaration(self, spot: Spot, bench: Bench) -> list[Symbol]:
        """Where a name is defined."""
        blanks = self._blanks(spot.path, spot.name, spot.line, spot.column)
        return await self._symbols("declaration", blanks, spot.path, bench)

    async def references(self, target: Target, bench: Bench) -> list[Reference]:
        """Uses of a symbol, its definition not among them."""
        symbol = target.symbol
        path = os.path.join(self._root, symbol.path)
        blanks = self._blanks(path, symbol.name, symbol.line, symbol.column)
        row, text = await self._ask("references", blanks, bench)
        lines = Sight(bench.workspace).lines
        if row.reading == "serena":
            return serena_reading.references(text, symbol.name, lines)
        uses = [
            use
            for place in self._places(row, text, path)
            for use in reading.reference(place, symbol.name, lines)
        ]
        return [use for use in uses if (use.path, use.line) != (symbol.path, symbol.line)]

    async def diagnostics(self, paths: tuple[str, ...], bench: Bench) -> list[Diagnostic]:
        """What it says about files."""
        found: list[Diagnostic] = []
        for path in paths[:MOST_FILES]:
            row, text = await self._ask("diagnostics", self._blanks(path), bench)
            if row.reading == "serena":
                found += serena_reading.diagnostics(text, Sight(bench.workspace).lines)
            else:
                found += map(reading.diagnostic, self._places(row, text, path))
        return found

    async def close(self) -> None:
        """The gateway ends the server."""

    async def _symbols(
        self, ability: Ability, blanks: Mapping[str, Any], path: str, bench: Bench
    ) -> list[Symbol]:
        row, text = await self._ask(ability, blanks, bench)
        lines = Sight(bench.workspace).lines
        if row.reading == "serena":
            return serena_reading.symbols(text, lines)
        found = [reading.symbol(place, lines) for place in self._places(row, text, path)]
        return [replace(s, name=s.name or str(blanks["name"])) if not s.name else s for s in found]

    def _places(self, row: Row, text: str, path: str) -> Iterator[reading.AnswerPlace]:
        read = reading.from_json if row.reading == "json" else reading.from_lines
        return read(text, row.lines, self._root, os.path.relpath(path, self._root))

    def _blanks(
        self, path: str, name: str = "", line: int = 1, column: int = 1, depth: int = 0
    ) -> dict[str, Any]:
        from steersman.operations.code.lsp.positions import uri_of

        shown = os.path.relpath(path, self._root)
        return {
            "path": "" if shown == "." else shown, "absolute": path, "uri": uri_of(path),
            "name": name, "line": line, "column": column, "line0": line - 1,
            "column0": column - 1, "depth": depth,
        }  # fmt: skip

    async def _ask(
        self, ability: Ability, blanks: Mapping[str, Any], bench: Bench
    ) -> tuple[Row, str]:
        row = self._table[ability]
        arguments = filled(row.arguments, blanks)
        # A table says what a tool is for, not that it only reads: other sources say that.
        effect = await effect_of(self._servers, self._server.name, row.tool)
        await bench.admit([McpCall(self._server.name, row.tool, arguments, effect)])
        outcome = await self._servers.call(self._server.name, row.tool, arguments, None)
        if row.reading == "json" and outcome.structured is not None and not outcome.failed:
            return row, msgspec.json.encode(outcome.structured).decode()
        return row, serena_reading.answer(outcome)


def filled(template: Any, blanks: Mapping[str, Any]) -> Any:
    """A template with its places filled in; one that is nothing else keeps the value's type."""
    if isinstance(template, dict):
        return {key: filled(value, blanks) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, blanks) for value in template]
    if not isinstance(template, str):
        return template
    whole = _BLANK.fullmatch(template)
    if whole and whole[1] in blanks:
        return blanks[whole[1]]
    return _BLANK.sub(lambda blank: str(blanks.get(blank[1], blank[0])), template)


def _cut(symbol: Symbol, depth: int) -> Symbol:
    children: Sequence[Symbol] = symbol.children if depth else ()
    return replace(symbol, children=tuple(_cut(child, depth - 1) for child in children))
