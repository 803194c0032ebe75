"""Serena's answers in the one shape. Pure: texts and lines of files in, records out.

Serena counts lines from 0, gives no columns, groups by kind, and answers with JSON inside of text.
What it says when something fails is written to steer a model; none of it is passed on.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from steersman.operations.code.backend import Unable
from steersman.operations.code.lsp.positions import to_column
from steersman.operations.code.records import Diagnostic, Reference, Severity, Symbol
from steersman.operations.code.spots import columns
from steersman.operations.finding import Hit
from steersman.records.mcp_tools import Outcome, ServerProblem
from steersman.records.patterns import pattern

Lines = Callable[[str], Sequence[str]]

_KINDS = {
    "file": "module", "module": "module", "namespace": "module", "package": "module",
    "class": "class", "method": "method", "property": "property", "field": "field",
    "constructor": "constructor", "enum": "enum", "interface": "interface",
    "function": "function", "variable": "variable", "constant": "constant", "key": "key",
    "enummember": "constant", "struct": "struct", "event": "field", "operator": "function",
    "typeparameter": "type",
}  # fmt: skip
_SEVERITIES: Mapping[str, Severity] = {
    "error": "error", "warning": "warning", "information": "info", "info": "info", "hint": "hint",
}  # fmt: skip
_PLACE = pattern(r"^ *> *(\d+):", re.MULTILINE)
_ALIAS = pattern(r"\s*(?:export\s+)?(?:declare\s+)?type\s+\w+")
_OVERLOAD = pattern(r"\[\d+\](?=/|$)")
_SERVER = pattern(r"language.?server|IMPORTANT:|LanguageServer|uvx|\bnpm\b|\bnode\b", re.I)


class _Range(Struct):
    start_line: int
    end_line: int


class _Found(Struct):
    name_path: str = ""
    name: str = ""
    kind: str = ""
    relative_path: str = ""
    body_location: _Range | None = None
    children: dict[str, list["_Found"]] = {}
    content_around_reference: str = ""


class _Point(Struct):
    line: int
    character: int


class _Stretch(Struct):
    start: _Point
    end: _Point


class _Complaint(Struct):
    message: str
    range: _Stretch
    code: str | int | None = None
    source: str | None = None


def answer(outcome: Outcome) -> str:
    """The text of an answer; raises in our own words when it is none."""
    structured = outcome.structured
    text = outcome.text
    if isinstance(structured, dict) and isinstance(structured.get("result"), str):
        text = structured["result"]
    elif outcome.cut:
        raise Unable("its answer was too long")
    if outcome.failed:
        raise _failure(text)
    if text.startswith("The answer is too long"):
        raise Unable("its answer was too long")
    return text


def _failure(text: str) -> Unable | ServerProblem:
    for sign, words in (
        ("Match must be unique", "the place is not clear to it"),
        ("No symbol declaration found", "no declaration there"),
        ("No symbol matching", "it does not know the symbol"),
        ("ultiple symbols", "the symbol is not clear to it"),
        ("does not exist", "it does not see the file"),
        ("FileNotFoundError", "it does not see the file"),
        ("ignored", "it does not read the file"),
    ):
        if sign in text and "IMPORTANT:" not in text:
            return Unable(words)
    if _SERVER.search(text):
        return ServerProblem(
            "its language server does not work here",
            try_this="See `steer mcp test` for what it says.",
        )
    kind = re.search(r"\b([A-Z]\w{2,40}(?:Error|Exception))\b", text)
    return Unable(f"it failed{f' ({kind[1]})' if kind else ''}")


def symbols(text: str, lines: Lines, *, body: bool = False) -> list[Symbol]:
    """Symbols of `find_symbol`, or the one of `find_declaration`; `body` with their lines."""
    found = _decoded(text, list[_Found] | _Found)
    listed = found if isinstance(found, list) else [found]
    told = [(one, symbol) for one in listed for symbol in _symbol(one, lines)]
    if not body:
        return [symbol for _, symbol in told]
    return [msgspec.structs.replace(symbol, body=_body(one, symbol, lines)) for one, symbol in told]


def raw_name_paths(text: str) -> list[tuple[str, int]]:
    """Name paths as Serena writes them, overloads numbered, with their lines from 1."""
    found = _decoded(text, list[_Found])
    return [
        (one.name_path, one.body_location.start_line + 1)
        for one in found
        if one.body_location is not None
    ]


def top_names(text: str) -> list[str]:
    """The names of `get_symbols_overview`, which says no lines."""
    found = _decoded(text, dict[str, list[str | dict[str, Any]]])
    names = [
        n
        for kind in found.values()
        for one in kind
        for n in ([one] if isinstance(one, str) else one)
    ]
    return list(dict.fromkeys(names))


def references(text: str, name: str, lines: Lines) -> list[Reference]:
    """Uses of `find_referencing_symbols`; several in a line are told apart by their columns."""
    found = _decoded(text, dict[str, dict[str, list[_Found]]])
    counts: dict[tuple[str, int], int] = {}
    uses = []
    for path, kinds in found.items():
        for kind, using in kinds.items():
            for one in using:
                place = _PLACE.search(one.content_around_reference)
                if place is None:
                    continue
                line = int(place[1]) + 1
                nth = counts[path, line] = counts.get((path, line), 0) + 1
                column, shown = _at(name, line, nth, lines(path))
                inside = "" if kind.lower() == "file" else _plain(one.name_path)
                uses.append(Reference(path, line, column, shown.strip(), inside))
    return uses


def diagnostics(text: str, lines: Lines) -> list[Diagnostic]:
    """Complaints of `get_diagnostics_for_file`."""
    if not text.lstrip().startswith("{"):
        return []  # said in words: nothing was found
    found = _decoded(text, dict[str, dict[str, dict[str, list[_Complaint]]]])
    return [
        _complaint(one, path, _SEVERITIES.get(severity.lower(), "error"), lines)
        for path, severities in found.items()
        for severity, places in severities.items()
        for said in places.values()
        for one in said
    ]


def places(text: str) -> list[Hit]:
    """Places of `search_for_pattern`, with the lines around them."""
    found = _decoded(text, dict[str, list[str]])
    return [hit for path, blocks in found.items() for block in blocks for hit in _hits(path, block)]


def _hits(path: str, block: str) -> Iterator[Hit]:
    before: list[str] = []
    matched: list[tuple[int, str]] = []
    after: list[str] = []
    for row in block.split("\n"):
        cut = re.match(r"^(\.\.\.| *>) *(\d+):(.*)$", row)
        if cut is None:
            continue
        if cut[1].strip() == ">":
            matched.append((int(cut[2]) + 1, cut[3]))
        else:
            (after if matched else before).append(cut[3])
    if matched:
        first, last = matched[0][0], matched[-1][0]
        shown = "\n".join(row for _, row in matched)
        yield Hit(path, first, 1, shown, last if last > first else 0, before, after)


def _complaint(one: _Complaint, path: str, severity: Severity, lines: Lines) -> Diagnostic:
    start, end = one.range.start, one.range.end
    text = _line(lines(path), start.line + 1)
    return Diagnostic(
        path=path,
        line=start.line + 1,
        column=to_column(text, start.character, "utf-16") if text else start.character + 1,
        severity=severity,
        message=one.message,
        code="" if one.code is None else str(one.code),
        source=one.source or "",
        end_line=end.line + 1 if end.line > start.line else 0,
    )


def _symbol(one: _Found, lines: Lines, above: str = "", path: str = "") -> Iterator[Symbol]:
    """A symbol with its members; what has no place of its own is no definition for us."""
    if one.kind.lower() == "file":
        return  # Serena counts a file among the symbols, by its name without the ending
    path = one.relative_path or path
    name_path = _plain(one.name_path) or f"{above}/{_plain(one.name)}"
    if one.body_location is None or not path:
        return
    name = name_path.rpartition("/")[2]
    line, end = one.body_location.start_line + 1, one.body_location.end_line + 1
    text = lines(path)
    line, column = _where(name, line, end, text)
    members = [
        member
        for kind, children in one.children.items()
        for child in children
        for member in _symbol(msgspec.structs.replace(child, kind=kind), lines, name_path, path)
    ]
    yield Symbol(
        name=name,
        name_path=name_path,
        kind=_kind(one.kind, _line(text, line)),
        path=path,
        line=line,
        end_line=max(line, end),
        column=column,
        signature=_line(text, line).strip()[:200],
        children=tuple(sorted(members, key=lambda member: member.line)),
    )


def _body(one: _Found, symbol: Symbol, lines: Lines) -> str:
    """The whole lines of a definition, decorators with it; Serena's own begin within a line."""
    first = one.body_location.start_line if one.body_location else symbol.line - 1
    return "\n".join(lines(symbol.path)[first : symbol.end_line])


def _kind(said: str, line: str) -> str:
    """The word for a kind; TypeScript's server takes a name for a type for a variable."""
    kind = _KINDS.get(said.lower(), "variable")
    return "type" if kind == "variable" and _ALIAS.match(line) else kind


def _where(name: str, line: int, end: int, text: Sequence[str]) -> tuple[int, int]:
    """Where the name of a definition is: decorators and comments may come before it."""
    for at in range(line, min(end, line + 30, len(text)) + 1):
        if text[at - 1].lstrip().startswith(("@", "#", "//", "/*", "*")) and at < end:
            continue
        if found := columns(name, text[at - 1]):
            return at, found[0]
    return line, 1


def _at(name: str, line: int, nth: int, text: Sequence[str]) -> tuple[int, str]:
    shown = _line(text, line)
    found = columns(name, shown)
    if not found:  # used under another name
        return len(shown) - len(shown.lstrip()) + 1, shown
    return found[min(nth, len(found)) - 1], shown


def _line(text: Sequence[str], line: int) -> str:
    return text[line - 1] if 0 < line <= len(text) else ""


def _plain(name_path: str) -> str:
    return _OVERLOAD.sub("", name_path).strip("/")


def _decoded(text: str, kind: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Unable("its answer cannot be read") from error
