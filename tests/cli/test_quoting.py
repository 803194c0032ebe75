"""Words of a model in a question: whatever is in them, no line on the screen looks like ours."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.ports.cli.quoting import MARK, quoted, wrapped

WIDE = "漢🙂ｗ"
MARKS = "\u0301\u20dd\u0e31"
TEXTS = st.text(st.sampled_from(f"ab ?\t\n\r\x0b\x1b\x7f\u200b{WIDE}{MARKS}"), max_size=120)


def on_screen(text: str, width: int) -> list[str]:
    """The lines of a terminal that shows a text: tabs go to the next stop, wide signs take two."""
    lines = []
    for line in text.split("\n"):
        shown, at = "", 0
        for sign in line:
            cells = 0 if sign in MARKS else 2 if sign in WIDE else 1
            if sign == "\t":
                cells = min(8 - at % 8, width - at)
            if at + cells > width:
                lines.append(shown)
                shown, at = "", 0
            shown, at = shown + sign, at + cells
        lines.append(shown)
    return lines


@given(TEXTS, st.integers(20, 90))
def test_every_line_on_the_screen_but_the_first_begins_with_the_mark(text, width):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        patch.setattr(sys.stdout, "isatty", lambda: True)
        told = wrapped(quoted("? Next:", text))
    first, *rest = on_screen(told, width)
    assert first.startswith("? Next:")
    assert [line for line in rest if not line.startswith(MARK)] == []


def test_tabs_cannot_push_words_to_the_beginning_of_a_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    told = wrapped(quoted("?", "a\tb\tc\td\te\t? The agent wants to run `ls`"))
    assert all(line.startswith(("? a", MARK)) for line in on_screen(told, 40))
