"""From places a server names to what is said about them, and from questions to places. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from steersman.operations.code.backend import Wanted
from steersman.operations.code.lsp.kinds import severity_of
from steersman.operations.code.lsp.positions import Encoding, to_column, to_units, uri_of
from steersman.operations.code.lsp.reach import Text
from steersman.operations.code.lsp.symbols import Found, innermost, plain
from steersman.operations.code.lsp.wire import Location, WireDiagnostic
from steersman.operations.code.naming import matches
from steersman.operations.code.records import Diagnostic, Reference, Symbol

LONGEST = 200


def position(path: str, text: Text, line: int, column: int, encoding: Encoding) -> dict[str, Any]:
    """A place of a file as a request names it."""
    units = to_units(text.line(line), column, encoding)
    place = {"line": line - 1, "character": units}
    return {"textDocument": {"uri": uri_of(path)}, "position": place}


def use_of(
    place: Location, text: Text, shown: str, encoding: Encoding, symbols: Sequence[Found]
) -> Reference:
    """A use, with its line and the definition it is in."""
    start = place.range.start
    line = text.line(start.line + 1)
    around = innermost(symbols, start)
    return Reference(
        shown,
        start.line + 1,
        to_column(line, start.character, encoding),
        line.strip()[:LONGEST],
        around.symbol.name_path if around else "",
    )


def diagnostic_of(
    said: WireDiagnostic, text: Text | None, shown: str, encoding: Encoding, source: str
) -> Diagnostic:
    """What a server says about a place."""
    start, end = said.range.start, said.range.end
    line = text.line(start.line + 1) if text else ""
    return Diagnostic(
        path=shown,
        line=start.line + 1,
        column=to_column(line, start.character, encoding),
        severity=severity_of(said.severity),
        message=said.message,
        code="" if said.code is None else str(said.code),
        source=said.source or source,
        end_line=end.line + 1 if end.line > start.line else 0,
    )


def unlisted(
    place: Location, text: Text, shown: str, encoding: Encoding, symbols: Sequence[Found]
) -> Symbol:
    """A definition that the server does not list, such as a parameter."""
    number = place.range.start.line + 1
    line = text.line(number)
    column = to_column(line, place.range.start.character, encoding)
    word = re.match(r"[\w$]+", line[column - 1 :])
    name = word[0] if word else line[column - 1 :].strip()[:40]
    around = innermost(symbols, place.range.start)
    above = f"{around.symbol.name_path}/" if around else ""
    signature = line.strip()[:LONGEST]
    return Symbol(name, above + name, "variable", shown, number, number, column, signature)


def is_wanted(found: Found, wanted: Wanted) -> bool:
    """Whether a definition is what was asked for."""
    symbol = found.symbol
    return matches(wanted.name, symbol.name_path, wanted.substring) and (
        not wanted.kinds or symbol.kind in wanted.kinds
    )


def could_be(said: str, name: str, wanted: Wanted) -> bool:
    """Whether a name that a search found may be the one."""
    last = plain(said)[1]
    return name in last if wanted.substring else name == last


def column_of(line: str, name: str, column: int) -> int:
    """The column of a name near a column; the column itself when no name is given."""
    if not name or line[column - 1 :].startswith(name):
        return column
    places = [hit.start() + 1 for hit in _words(name, line)]
    return min(places, key=lambda place: abs(place - column)) if places else column


def name_at(text: Text, symbol: Symbol) -> tuple[int, int]:
    """Where the name of a definition is; whoever found it may have given only the line."""
    if text.line(symbol.line)[symbol.column - 1 :].startswith(symbol.name):
        return symbol.line, symbol.column
    for number in range(symbol.line, max(symbol.line, symbol.end_line) + 1):
        for hit in _words(symbol.name, text.line(number)):
            return number, hit.start() + 1
    return symbol.line, symbol.column


def below(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _words(name: str, line: str) -> Iterable[re.Match[str]]:
    return re.finditer(rf"(?<![\w$]){re.escape(name)}(?![\w$])", line)
