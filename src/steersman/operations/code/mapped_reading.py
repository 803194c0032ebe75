"""Answers of servers nobody wrote for us, read as places in files. Pure.

Servers name the same things differently; here are the names in use. What cannot be understood is
left out rather than guessed.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from steersman.operations.code.backend import Unable
from steersman.operations.code.lsp.kinds import kind_of, severity_of
from steersman.operations.code.lsp.positions import path_of
from steersman.operations.code.records import Diagnostic, Reference, Severity, Symbol
from steersman.operations.code.spots import columns

Lines = Callable[[str], Sequence[str]]
T = TypeVar("T")

DEEPEST = 8
_NAMES = ("name", "symbol", "symbolName", "symbol_name")
_NAME_PATHS = ("name_path", "namePath", "qualified_name", "qualifiedName", "fullName")
_PATHS = (
    "path",
    "file",
    "relative_path",
    "relativePath",
    "file_path",
    "filePath",
    "filename",
    "uri",
)
_LINES = ("line", "start_line", "startLine", "lineNumber", "line_number")
_ENDS = ("end_line", "endLine")
_COLUMNS = ("column", "character", "col", "start_column", "startColumn", "startCharacter")
_TEXTS = ("message", "text", "content", "snippet", "preview")
_WITHIN = ("children", "members")
_AT = re.compile(
    r"^\s*(?:[-*]\s+)?(?P<path>[^\s:][^:\n]*):(?P<line>\d+)(?::(?P<column>\d+))?:?\s?(?P<text>.*)$"
)
_SEVERE = re.compile(r"\b(error|warning|info(?:rmation)?|hint|note)\b", re.I)
_WORDS: Mapping[str, Severity] = {
    "error": "error", "fatal": "error", "warning": "warning", "warn": "warning", "info": "info",
    "information": "info", "note": "info", "hint": "hint", "convention": "hint",
}  # fmt: skip


class AnswerPlace(Struct, frozen=True):
    """What an answer says about one place; lines and columns from 1, 0 when it does not say."""

    path: str
    line: int
    column: int = 0
    end_line: int = 0
    name: str = ""
    name_path: str = ""
    kind: str = ""
    text: str = ""
    severity: Severity = "error"
    code: str = ""
    source: str = ""
    children: tuple["AnswerPlace", ...] = ()


def from_lines(text: str, first: int, root: str, path: str) -> Iterator[AnswerPlace]:
    """Places of lines such as `src/a.py:12:5: text`."""
    for row in text.splitlines():
        if found := _AT.match(row):
            line = int(found["line"]) + 1 - first
            column = int(found["column"]) + 1 - first if found["column"] else 0
            said = _SEVERE.search(found["text"][:40])
            severity = _WORDS.get(said[1].lower(), "error") if said else "error"
            yield AnswerPlace(
                relative(found["path"].strip(), root),
                line,
                column,
                text=found["text"].strip(),
                severity=severity,
            )


def from_json(text: str, first: int, root: str, path: str) -> Iterator[AnswerPlace]:
    """Places of objects in JSON; those that name no file are in the one that was asked about."""
    try:
        found = msgspec.json.decode(text)
        if isinstance(found, dict) and isinstance(found.get("result"), str):
            found = msgspec.json.decode(found["result"])
    except msgspec.DecodeError as error:
        raise Unable("its answer cannot be read") from error
    for one in _objects(found):
        if (place := _place(one, first, root, path)) is not None:
            yield place


def symbol(place: AnswerPlace, lines: Lines) -> Symbol:
    """A place as a definition."""
    return _symbol(place, lines, "")


def reference(place: AnswerPlace, name: str, lines: Lines) -> Iterator[Reference]:
    """A place as a use."""
    text = lines(place.path)
    line = text[place.line - 1] if 0 < place.line <= len(text) else place.text
    column = place.column or next(iter(columns(name, line)), 1)
    yield Reference(place.path, place.line, column, line.strip(), place.name_path)


def diagnostic(place: AnswerPlace) -> Diagnostic:
    """A place as a complaint."""
    return Diagnostic(
        path=place.path,
        line=place.line,
        column=place.column or 1,
        severity=place.severity,
        message=place.text,
        code=place.code,
        source=place.source,
        end_line=place.end_line if place.end_line > place.line else 0,
    )


def relative(path: str, root: str) -> str:
    """A path or URI as our answers name it; what is elsewhere stays absolute."""
    path = path_of(path) if path.startswith("file:") else path
    if not os.path.isabs(path):
        return os.path.normpath(path)
    inside = path == root or path.startswith(root.rstrip("/") + "/")
    return os.path.relpath(path, root) if inside else path


def _symbol(place: AnswerPlace, lines: Lines, above: str) -> Symbol:
    text = lines(place.path)
    line = text[place.line - 1] if 0 < place.line <= len(text) else ""
    name = place.name or place.name_path.rpartition("/")[2]
    path = place.name_path or (f"{above}/{name}" if above else name)
    return Symbol(
        name=name,
        name_path=path,
        kind=place.kind or "variable",
        path=place.path,
        line=place.line,
        end_line=max(place.end_line, place.line),
        column=place.column or next(iter(columns(name, line)), 1) if name else 1,
        signature=line.strip()[:200],
        children=tuple(_symbol(child, lines, path) for child in place.children),
    )


def _objects(found: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Objects that say a line, wherever they are; what they hold is theirs."""
    if depth > DEEPEST:
        return
    if isinstance(found, list):
        for one in found:
            yield from _objects(one, depth + 1)
    elif isinstance(found, dict):
        if _line_of(found) is not None:
            yield found
        else:
            for one in found.values():
                yield from _objects(one, depth + 1)


def _place(one: dict[str, Any], first: int, root: str, path: str) -> AnswerPlace | None:
    line = _line_of(one)
    if line is None:
        return None
    spot = _spot_of(one)
    location = one.get("location")
    named = _first(one, _PATHS, str) or (
        _first(location, _PATHS, str) if isinstance(location, dict) else None
    )
    shown = relative(named, root) if named else path
    column = _first(spot, _COLUMNS, int)
    end = _end_of(one)
    base = 1 - first
    children = [
        child
        for key in _WITHIN
        for within in _objects(one.get(key, []))
        if (child := _place(within, first, root, shown)) is not None
    ]
    return AnswerPlace(
        path=shown,
        line=line + base,
        column=column + base if column is not None else 0,
        end_line=end + base if end is not None else 0,
        name=_first(one, _NAMES, str) or "",
        name_path=(_first(one, _NAME_PATHS, str) or "").replace(".", "/").replace("::", "/"),
        kind=_kind(one.get("kind"), shown),
        text=_first(one, _TEXTS, str) or "",
        severity=_severity(one.get("severity")),
        code=str(one.get("code") or ""),
        source=str(one.get("source") or ""),
        children=tuple(children),
    )


def _spot_of(one: dict[str, Any]) -> dict[str, Any]:
    """The object that says line and column: this one, or where a range in it begins."""
    if _first(one, _LINES, int) is not None:
        return one
    location = one.get("location")
    for holder in (one, location if isinstance(location, dict) else {}):
        for key in ("selectionRange", "range"):
            stretch = holder.get(key)
            if isinstance(stretch, dict) and isinstance(stretch.get("start"), dict):
                return dict(stretch["start"])
        if _first(holder, _LINES, int) is not None:
            return dict(holder)
    return {}


def _line_of(one: dict[str, Any]) -> int | None:
    return _first(_spot_of(one), _LINES, int)


def _end_of(one: dict[str, Any]) -> int | None:
    location = one.get("location")
    for holder in (one, location if isinstance(location, dict) else {}):
        if (end := _first(holder, _ENDS, int)) is not None:
            return end
        stretch = holder.get("range")
        if isinstance(stretch, dict) and isinstance(stretch.get("end"), dict):
            return _first(stretch["end"], _LINES, int)
    return None


def _first(one: Mapping[str, Any], names: Sequence[str], kind: type[T]) -> T | None:
    for name in names:
        value = one.get(name)
        if isinstance(value, kind) and not isinstance(value, bool):
            return value
    return None


def _kind(said: Any, path: str) -> str:
    if isinstance(said, int):
        return kind_of(said, path)
    return said.lower() if isinstance(said, str) else ""


def _severity(said: Any) -> Severity:
    if isinstance(said, int):
        return severity_of(said)
    return _WORDS.get(str(said).lower(), "error")
