"""Changing one value in a settings file, line by line: comments and everything else stay.

Where a file is written in a way that this does not follow, it is left alone.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

from steersman.records.errors import UsageProblem

_HEADER = re.compile(r"\s*\[")


def with_value(text: str, name: str, value: Any) -> str:
    """The text of a settings file with one value set; raises when only a person can do that."""
    wanted = tomllib.loads(text)
    *tables, key = name.split(".")
    table = wanted
    for each in tables:
        table = table.setdefault(each, {})
    table[key] = list(value) if isinstance(value, tuple) else value
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []
    edited = _edited(lines, tables, key, _written(value))
    if "\r\n" in text:
        edited = edited.replace("\n", "\r\n")
    with suppress(tomllib.TOMLDecodeError):
        if tomllib.loads(edited) == wanted:
            return edited
    raise UsageProblem(
        f"“{name}” cannot be set automatically: the file has an unusual layout.",
        "Nothing was changed.",
        "Edit the file: steer config edit",
    )


def without_value(text: str, name: str) -> str:
    """The text of a settings file without one value; raises when only a person can do that."""
    wanted = tomllib.loads(text)
    *tables, key = name.split(".")
    table = wanted
    for each in tables:
        table = table[each]
    del table[key]
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    begin, end = _section(lines, tables)
    at = _place(lines, begin or 0, end, key) if begin is not None else None
    edited = text
    if at is not None:
        edited = "\n".join([*lines[:at], *lines[_extent(lines, at) :]]) + "\n"
        edited = edited.replace("\n", "\r\n") if "\r\n" in text else edited
    with suppress(tomllib.TOMLDecodeError):
        if tomllib.loads(edited) == wanted:
            return edited
    raise UsageProblem(
        f"“{name}” cannot be removed automatically: the file is written in an unusual way.",
        "Nothing was changed.",
        "Remove it yourself: steer config edit",
    )


def _place(lines: list[str], begin: int, end: int, key: str) -> int | None:
    """The line where a value of a section begins."""
    for at in range(begin, end):
        if re.match(rf"""\s*(?:{key}|"{key}"|'{key}')\s*=""", lines[at]):
            return at
    return None


def _written(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(_written(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False)


def _edited(lines: list[str], tables: list[str], key: str, value: str) -> str:
    begin, end = _section(lines, tables)
    if begin is None:
        gap = [""] if lines and lines[-1].strip() else []
        return "\n".join([*lines, *gap, f"[{'.'.join(tables)}]", f"{key} = {value}"]) + "\n"
    at = _place(lines, begin, end, key)
    if at is not None:
        after = _extent(lines, at)
        changed = f"{lines[at].partition('=')[0].rstrip()} = {value}{_comment(lines[at])}"
        return "\n".join([*lines[:at], changed, *lines[after:]]) + "\n"
    place = begin if tables else _before_tables(lines, end)
    gap = [""] if not tables and place < len(lines) and lines[place].strip() else []
    return "\n".join([*lines[:place], f"{key} = {value}", *gap, *lines[place:]]) + "\n"


def _before_tables(lines: list[str], end: int) -> int:
    """Where a value goes: above the first table, what is said about it, and the gap before that."""
    place = end
    while end < len(lines) and place > 0 and lines[place - 1].lstrip().startswith("#"):
        place -= 1
    while place > 0 and not lines[place - 1].strip():
        place -= 1
    return place


def _section(lines: list[str], tables: list[str]) -> tuple[int | None, int]:
    """The lines of a table, without its header; those before the first header for no table."""
    headers = [*_headers(lines), len(lines)]
    if not tables:
        return 0, headers[0]
    named = r"\s*\.\s*".join(tables)
    for at, following in pairwise(headers):
        if re.match(rf"\s*\[\s*{named}\s*\]", lines[at]):
            return at + 1, following
    return None, 0


def _headers(lines: list[str]) -> Iterator[int]:
    """Lines that begin a table, not those inside a list or a text of several lines."""
    for at, line in enumerate(lines):
        if _HEADER.match(line):
            with suppress(tomllib.TOMLDecodeError):
                tomllib.loads("\n".join(lines[:at]))
                yield at


def _extent(lines: list[str], at: int) -> int:
    """The line after a value that may take several."""
    for after in range(at + 1, len(lines) + 1):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads("\n".join(lines[at:after]))
            return after
    return at + 1


def _comment(line: str) -> str:
    """What is behind a value of one line."""
    for found in re.finditer(r"\s*#", line):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads(line[: found.start()])
            return line[found.start() :]
    return ""
