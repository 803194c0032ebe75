"""What checkers print, read into diagnostics. Pure. Paths stay as they were printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from steersman.operations.code.records import Diagnostic, Severity

_SEVERITIES: dict[str, Severity] = {
    "error": "error", "fatal": "error", "warning": "warning", "warn": "warning", "note": "info",
    "info": "info", "information": "info", "style": "hint", "hint": "hint", "help": "hint",
}  # fmt: skip
Parser = Callable[[str], list[Diagnostic]]


class Unreadable(Exception):
    """Output that is not what the checker should print."""


def by_lines(pattern: str) -> Parser:
    """A parser for checkers that print a line for each finding."""
    compiled = re.compile(pattern)

    def parse(output: str) -> list[Diagnostic]:
        found = (compiled.fullmatch(line.strip()) for line in output.splitlines())
        return [_of_line(hit.groupdict()) for hit in found if hit is not None]

    return parse


def _of_line(said: dict[str, str | None]) -> Diagnostic:
    return _diagnostic(
        said.get("path"),
        said.get("line"),
        said.get("column"),
        said.get("severity") or "error",
        said.get("message"),
        said.get("code"),
    )


def ruff(output: str) -> list[Diagnostic]:
    """`ruff check --output-format json`"""
    return [
        _diagnostic(
            item.get("filename"),
            _in(item, "location", "row"),
            _in(item, "location", "column"),
            item.get("severity") or "error",
            item.get("message"),
            item.get("code"),
            _in(item, "end_location", "row"),
        )
        for item in _list(_json(output))
    ]


def mypy(output: str) -> list[Diagnostic]:
    """`mypy --output json`: an object in every line, columns from 0."""
    return [
        _diagnostic(
            item.get("file"),
            item.get("line"),
            _number(item.get("column")) + 1,
            item.get("severity"),
            "\n".join(str(text) for text in (item.get("message"), item.get("hint")) if text),
            item.get("code"),
            item.get("end_line"),
        )
        for item in _objects(output)
        if "message" in item
    ]


def pyright(output: str) -> list[Diagnostic]:
    """`pyright --outputjson`, also of basedpyright: lines and columns from 0."""
    return [
        _diagnostic(
            item.get("file"),
            _number(_in(item, "range", "start", "line")) + 1,
            _number(_in(item, "range", "start", "character")) + 1,
            item.get("severity"),
            item.get("message"),
            item.get("rule"),
            _number(_in(item, "range", "end", "line")) + 1,
        )
        for item in _list(_in(_json(output), "generalDiagnostics"))
    ]


def eslint(output: str) -> list[Diagnostic]:
    """`eslint --format json`"""
    return [
        _diagnostic(
            file.get("filePath"),
            item.get("line"),
            item.get("column"),
            "error" if item.get("severity") == 2 else "warning",
            item.get("message"),
            item.get("ruleId"),
            item.get("endLine"),
        )
        for file in _list(_json(output))
        for item in _list(file.get("messages"))
    ]


def shellcheck(output: str) -> list[Diagnostic]:
    """`shellcheck --format json1`"""
    return [
        _diagnostic(
            item.get("file"),
            item.get("line"),
            item.get("column"),
            item.get("level"),
            item.get("message"),
            f"SC{item.get('code')}",
            item.get("endLine"),
        )
        for item in _list(_in(_json(output), "comments"))
    ]


def cargo(output: str) -> list[Diagnostic]:
    """`cargo check --message-format json`: the first primary place of every message."""
    found = []
    for line in _objects(output):
        message = line.get("message")
        if line.get("reason") != "compiler-message" or not isinstance(message, dict):
            continue
        places = [span for span in _list(message.get("spans")) if span.get("is_primary")]
        for span in places[:1]:
            label = span.get("label")
            said = message.get("message")
            found.append(
                _diagnostic(
                    span.get("file_name"),
                    span.get("line_start"),
                    span.get("column_start"),
                    message.get("level"),
                    f"{said}: {label}" if label else said,
                    _in(message, "code", "code"),
                    span.get("line_end"),
                )
            )
    return found


_GO_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+):(?P<column>\d+)")
_GO_ERROR = re.compile(r"(?:vet: )?(?P<path>.+?):(?P<line>\d+):(?P<column>\d+): (?P<message>.+)")


def go(output: str) -> list[Diagnostic]:
    """`go vet -json`: objects of packages, of analyzers, of findings; and lines where code does
    not compile, all among each other."""
    found: list[Diagnostic] = []
    rest: list[str] = []
    for text, is_object in _blocks(output):
        if is_object:
            found += _go_findings(_json(text))
        else:
            rest.append(text)
    lines = (_GO_ERROR.fullmatch(line.strip()) for line in rest)
    return found + [_of_line(hit.groupdict()) for hit in lines if hit is not None]


def _go_findings(packages: Any) -> Iterator[Diagnostic]:
    for analyzers in _values(packages):
        for name, findings in _items(analyzers):
            for item in _list(findings):
                if place := _GO_PLACE.fullmatch(str(item.get("posn"))):
                    path, line, column = place.groups()
                    yield _diagnostic(path, line, column, "warning", item.get("message"), name)


def _blocks(output: str) -> Iterator[tuple[str, bool]]:
    """Lines, but for objects that begin and end at the edge, which come as one."""
    held: list[str] = []
    for line in output.splitlines():
        if held or line == "{":
            held.append(line)
            if line == "}":
                yield "\n".join(held), True
                held = []
        elif line.startswith("{") and line.endswith("}"):
            yield line, True
        else:
            yield line, False


_NODE_PLACE = re.compile(r"(?P<path>.+):(?P<line>\d+)")
_NODE_ERROR = re.compile(r"(?P<code>\w*Error): (?P<message>.+)")


def node(output: str) -> list[Diagnostic]:
    """`node --check`: the place, the line, a mark below it, and what is wrong."""
    lines = output.splitlines()
    place = next((hit for line in lines if (hit := _NODE_PLACE.fullmatch(line))), None)
    error = next((hit for line in lines if (hit := _NODE_ERROR.fullmatch(line))), None)
    if place is None or error is None:
        return []
    mark = next((line for line in lines if line.strip() and not line.strip("^ \t")), "")
    column = len(mark) - len(mark.lstrip()) + 1
    return [
        _diagnostic(place["path"], place["line"], column, "error", error["message"], error["code"])
    ]


PARSERS: dict[str, Parser] = {
    "ruff": ruff, "mypy": mypy, "pyright": pyright, "eslint": eslint, "shellcheck": shellcheck,
    "cargo": cargo, "go": go, "node": node,
}  # fmt: skip


def _diagnostic(
    path: Any,
    line: Any,
    column: Any,
    severity: Any,
    message: Any,
    code: Any,
    end_line: Any = 0,
) -> Diagnostic:
    first = max(1, _number(line))
    last = _number(end_line)
    return Diagnostic(
        path=str(path or ""),
        line=first,
        column=max(1, _number(column)),
        severity=_SEVERITIES.get(str(severity).lower(), "error"),
        message=str(message or "").strip(),
        code=str(code or ""),
        end_line=last if last > first else 0,
    )


def _number(found: Any) -> int:
    if isinstance(found, int):
        return found
    return int(found) if isinstance(found, str) and found.isdigit() and len(found) < 10 else 0


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text) if text.strip() else None
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(str(error)) from error


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The objects of output with one in every line; other lines are passed over."""
    for line in text.splitlines():
        if line.startswith("{"):
            found = _json(line)
            if isinstance(found, dict):
                yield found


def _in(found: Any, *names: str) -> Any:
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _list(found: Any) -> list[dict[str, Any]]:
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _items(found: Any) -> list[tuple[str, Any]]:
    return list(found.items()) if isinstance(found, dict) else []


def _values(found: Any) -> list[Any]:
    return [value for _, value in _items(found)]
