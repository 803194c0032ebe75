"""Names in lines: where they are, and which place a question means. Columns begin at 1."""

import re

from steersman.operations.code.backend import Spot
from steersman.operations.code.shapes import Sight
from steersman.operations.tool import Bench
from steersman.records.counting import counted
from steersman.records.errors import ToolProblem

_WORD = re.compile(r"\w")


def columns(name: str, line: str) -> list[int]:
    """The columns where a name is in a line as a whole word."""
    left = r"(?<!\w)" if _WORD.match(name[:1]) else ""
    right = r"(?!\w)" if _WORD.match(name[-1:]) else ""
    return [found.start() + 1 for found in re.finditer(left + re.escape(name) + right, line)]


def word_at(line: str, column: int) -> str:
    """The word that is at a column; empty when there is none."""
    for found in re.finditer(r"[\w$]+", line):
        if found.start() < column <= found.end() + 1:
            return found[0]
    return ""


def spot_of(path: str, line: int, column: int, name: str, bench: Bench) -> Spot:
    """A place in a file (real path), by its column or by the name that is in the line."""
    shown = bench.workspace.shown(path)
    lines = Sight(bench.workspace).lines(shown)
    if line > len(lines):
        raise ToolProblem(
            f"{shown} has no line {line}.",
            f"It has {counted(len(lines), 'line')}.",
            "Lines begin at 1. Read the file again.",
        )
    text = lines[line - 1]
    if not column:
        last = re.split(r"[/.#]|::", name)[-1]
        return Spot(path, line, _column_of(last, text, line, shown), last)
    if column > len(text) + 1:
        raise ToolProblem(
            f"Line {line} of {shown} has no column {column}.", f"It reads: {text.strip()[:200]}"
        )
    return Spot(path, line, column, name or word_at(text, column))


def _column_of(name: str, text: str, line: int, shown: str) -> int:
    if not name:
        raise ToolProblem(
            f"Which name in line {line} of {shown} do you mean?", try_this="Pass name or column."
        )
    places = columns(name, text)
    if not places:
        raise ToolProblem(
            f"{name} is not in line {line} of {shown}.",
            f"The line reads: {text.strip()[:200]}",
            "Lines begin at 1. Read the file again, or pass another name.",
        )
    return places[0]
