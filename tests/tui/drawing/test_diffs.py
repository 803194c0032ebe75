"""Diffs: numbers, marks, and the words that changed."""

import pytest

from steersman.ports.tui.drawing import DARK, Look
from steersman.ports.tui.drawing.diffs import changed_words, rows
from steersman.ports.tui.drawing.work import diff_lines
from tests.views.story.threads import DIFF


def test_rows() -> None:
    assert [(row.kind, row.number, row.text) for row in rows(DIFF)] == [
        (" ", 1, "def add(a, b):"),
        ("-", 2, "    return a - b"),
        ("+", 2, "    return a + b"),
        (" ", 3, ""),
        ("+", 4, ""),
        (" ", 5, "def sub(a, b):"),
    ]


@pytest.mark.parametrize(
    ("text", "other", "found"),
    [
        ("return a - b", "return a + b", ["-"]),
        ("foo(x, y)", "foo(x)", [", y"]),
        ("same", "same", []),
        ("all of it is new", "0123", []),
        ("x" * 301, "x", []),
    ],
)
def test_changed_words(text: str, other: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in changed_words(text, other)] == found


def test_hunks_are_kept_apart_and_long_diffs_folded() -> None:
    diff = "@@ -1 +1 @@\n-a\n+b\n@@ -90,2 +90,20 @@ def f():\n c\n" + "+d\n" * 18
    lines = [line.plain for line in diff_lines(diff, 40, Look(DARK))]
    assert lines[:4] == ["  1 - a", "  1 + b", "  ⋯ def f():", " 90   c"]
    assert lines[-1] == "… 8 more lines (F7 Enter)"
    assert len(diff_lines(diff, 40, Look(DARK, open=True))) == 22


@pytest.mark.parametrize("diff", ["", "nonsense", "@@", "--- a\n+++ b\n", "@@ -x +y @@\n+a"])
def test_what_is_no_diff_is_no_trouble(diff: str) -> None:
    assert diff_lines(diff, 40, Look(DARK)) == []
