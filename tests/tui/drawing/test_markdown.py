"""Markdown as lines, whole and while it grows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from steersman.ports.tui.drawing import DARK, MONO
from steersman.ports.tui.drawing.chunks import chunks
from steersman.ports.tui.drawing.code import PIECE, highlighted, pieces
from steersman.ports.tui.drawing.markdown import Flow, markdown_lines
from tests.views.story.threads import PROSE


def plain(text: str, width: int = 60) -> list[str]:
    return [line.plain for line in markdown_lines(text, width, MONO)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one\ntwo", ["one two"]),
        ("one  \ntwo", ["one", "two"]),
        ("a\n\nb", ["a", "", "b"]),
        ("# T\ntext", ["T", "", "text"]),
        ("### T", ["### T"]),
        ("- a\n- b\n  - c", ["• a", "• b", "  ◦ c"]),
        ("- a\n\n- b", ["• a", "", "• b"]),
        ("3. c\n4. d", ["3. c", "4. d"]),
        ("> said\n> again", ["┃ said again"]),
        ("```py\nx = 1\n```", ["▏ x = 1"]),
        ("```py\nx = 1", ["▏ x = 1"]),
        ("~~~\n```\n~~~", ["▏ ```"]),
        ("    code", ["▏ code"]),
        ("---", ["─" * 40]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["a  b", "─  ─", "1  2"]),
        ("see [it](http://x.y)", ["see it (http://x.y)"]),
        ("<http://x.y>", ["http://x.y"]),
        ("![cat](c.png)", ["[image: cat]"]),
        ("<b>no</b>", ["<b>no</b>"]),
        ("a `b` **c** *d* ~~e~~", ["a b c d e"]),
        ("1. a\n   ```\n   x\n   ```", ["1. a", "", "   ▏ x"]),
        ("", []),
        ("[red]not markup[/red]", ["[red]not markup[/red]"]),
    ],
)
def test_each_element(text: str, lines: list[str]) -> None:
    assert plain(text) == lines


@pytest.mark.parametrize("width", [1, 3, 12, 20])
def test_narrow(width: int) -> None:
    lines = markdown_lines(PROSE, width, DARK)
    assert all(line.cell_len <= max(width, 2) for line in lines)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\nb\n\nc", ["a\nb", "c"]),
        ("- a\n- b\n  c\n\n  d\n- e", ["- a", "- b\n  c\n\n  d", "- e"]),
        ("a\n```\n\nx\n\n```\nb", ["a", "```\n\nx\n\n```\nb"]),
        ("---\n- a", ["---", "- a"]),
        ("text\n---\nmore", ["text\n---\nmore"]),
    ],
)
def test_pieces_that_are_drawn_one_by_one(text: str, found: list[str]) -> None:
    assert [text[one.start : one.end] for one in chunks(text)] == found


PARTS = st.sampled_from(
    ["word", " ", "\n", "\n\n", "- ", "1. ", "```", "```py\n", "# ", "> ", "**", "`", "| a | b |\n",
     "|---|---|\n", "    ", "---", "  ", "~~~", "[x](y)"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(PARTS, max_size=25))
def test_what_streams_in_ends_as_what_is_read_whole(parts: list[str]) -> None:
    flow, text = Flow(30, MONO), ""
    for part in parts:
        text += part
        flow.lines(text)
    assert spoken(flow.lines(text)) == spoken(markdown_lines(text, 30, MONO))


def spoken(lines: list[Text]) -> list[tuple[str, object]]:
    return [(line.plain, line.spans) for line in lines]


def test_what_is_finished_is_drawn_once() -> None:
    flow = Flow(30, MONO)
    before = flow.lines("one\n\ntwo\n\nthree")
    after = flow.lines("one\n\ntwo\n\nthree and four")
    assert [old is new for old, new in zip(before, after, strict=True)] == [
        True,
        True,
        True,
        True,
        False,
    ]


def test_a_text_that_became_another_is_drawn_anew() -> None:
    flow = Flow(30, MONO)
    flow.lines("one\n\ntwo\n\nthree")
    assert [line.plain for line in flow.lines("other\n\ntext")] == ["other", "", "text"]


def test_code_is_coloured_and_safe() -> None:
    (line,) = highlighted(["def f(): return 'x\x1b[0m'  # why"], "python", DARK)
    assert line.plain == "def f(): return 'x\\x1b[0m'  # why"
    assert {span.style for span in line.spans} >= {DARK.keyword, DARK.string, DARK.dim}
    assert highlighted(["no such"], "klingon", DARK)[0].spans == []
    removed, added = highlighted(["-old", "+new"], "diff", DARK)  # the last line, too
    assert [one.spans[0].style for one in (removed, added)] == [DARK.bad, DARK.good]


def test_long_code_is_cut_at_blank_lines() -> None:
    lines = [*["x = 1"] * (PIECE - 5), "", *["y = 2"] * PIECE]
    assert [len(piece) for piece in pieces(lines)] == [PIECE - 4, PIECE]
