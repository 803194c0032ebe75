"""Scripts for the tasks of `steer bench models`: a model that solves them and one that does not."""

import json
from pathlib import Path
from typing import Any

from tests.world import call

HOURS = '''
def merge(spans):
    """Join spans that overlap or touch; the answer is in order."""
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def total(spans):
    return sum(end - start for start, end in merge(spans))


def show(spans):
    return ", ".join(f"{start}–{end}" for start, end in merge(spans)) or "closed"
'''
BASKET = """
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


class Basket:
    def __init__(self, articles=()):
        self.articles = list(articles)
        self.percent = 0

    def add(self, name, price, count=1):
        self.articles.append((name, price, count))

    def empty(self):
        self.articles.clear()
        self.percent = 0

    def total(self):
        whole = sum((price * count for _, price, count in self.articles), Decimal(0))
        return (whole * (100 - self.percent) / 100).quantize(CENT, rounding=ROUND_HALF_UP)
"""
TABLE = """
def render(rows, *, align="", limit=None):
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    for letter in align:
        if letter not in "lrc":
            raise ValueError(f"no such alignment: {letter}")
    rows = [[_cut(str(cell), limit) for cell in row] for row in rows]
    count = max((len(row) for row in rows), default=0)
    widths = [max(len(row[n]) for row in rows if n < len(row)) for n in range(count)]
    align = align.ljust(count, "l")
    lines = []
    for row in rows:
        cells = [_placed(cell, widths[n], align[n]) for n, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return "\\n".join(lines)


def _cut(cell, limit):
    return cell if limit is None or len(cell) <= limit else cell[: limit - 1] + "…"


def _placed(cell, width, letter):
    if letter == "r":
        return cell.rjust(width)
    if letter == "c":
        left = (width - len(cell)) // 2
        return (" " * left + cell).ljust(width)
    return cell.ljust(width)
"""
READERS = """
def _records(text, what, read):
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            yield read(line)
        except ValueError:
            raise ValueError(f"line {number}: not a {what}: {line}") from None


def read_numbers(text):
    return list(_records(text, "number", float))


def _pair(line):
    name, equals, value = line.partition("=")
    if not equals:
        raise ValueError
    return name.strip(), value.strip()


def read_pairs(text):
    return dict(_records(text, "pair", _pair))


def _point(line):
    x, y = (float(part) for part in line.split(","))
    return x, y


def read_points(text):
    return list(_records(text, "point", _point))
"""
ROMAN = """
import unittest

from roman import from_roman, to_roman

KNOWN = {1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL", 90: "XC", 400: "CD", 944: "CMXLIV",
         1000: "M", 3999: "MMMCMXCIX"}


class Roman(unittest.TestCase):
    def test_known(self):
        for number, text in KNOWN.items():
            self.assertEqual(to_roman(number), text)
            self.assertEqual(from_roman(text), number)
            self.assertEqual(from_roman(text.lower()), number)

    def test_refused(self):
        for number in (0, -1, 4000):
            with self.assertRaises(ValueError):
                to_roman(number)
        for text in ("", "IIII", "VX", "IM", "ABC", "X I"):
            with self.assertRaises(ValueError):
                from_roman(text)
"""
SOLUTIONS = {
    "bugfix-intervals": ("hours.py", HOURS),
    "bugfix-basket": ("shop/basket.py", BASKET),
    "feature-columns": ("table.py", TABLE),
    "refactor-readers": ("readers.py", READERS),
    "tests-roman": ("test_roman.py", ROMAN),
}
ANSWER = "Three tries of 3 s with pauses of 1 s and 2 s between them.\n\n12"


def solver(folder: Path) -> str:
    """A model that does every task; the answer is its name, with a place for the task's."""
    for task, (path, content) in SOLUTIONS.items():
        turns = [
            {"tool_calls": [call("workspace_write_file", path=path, content=content.lstrip())]},
            {"text": "Done.", "usage": {"input": 1000, "output": 10}},
        ]
        _write(folder, task, turns)
    _write(folder, "question-timeout", [{"text": ANSWER}])
    return f"scripted:{folder}/{{task}}.json"


def idler(folder: Path) -> str:
    """A model that says it is done and has done nothing."""
    for task in (*SOLUTIONS, "question-timeout"):
        _write(folder, task, [{"text": "All done, tests pass."}])
    return f"scripted:{folder}/{{task}}.json"


def _write(folder: Path, task: str, turns: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{task}.json").write_text(json.dumps({"turns": turns}))
