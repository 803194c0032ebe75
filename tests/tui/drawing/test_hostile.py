"""Whatever a tool or a model says, nothing of it is obeyed by a terminal."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.ports.tui.drawing import DARK, Look, draw
from steersman.ports.tui.drawing.lines import clean
from steersman.records.message import DiffReady, Error, ToolCall, ToolResult
from steersman.views.blocks import Block, Work
from tests.tui.drawing.samples import TOOLS, person, remark, words

NASTY = {
    "a colour": "\x1b[31mred\x1b[0m",
    "a title": "\x1b]0;owned\x07",
    "a link": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "a clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "eight bits": "\x9b31m\x90q\x9c",
    "a bell and a backspace": "rm -rf /\x08\x08\x08ls\x07",
    "a carriage return": "all is well\rrm -rf /",
    "turned around": "\u202egnp.exe\u202c",
    "invisible": "pass\u200bword\u2060\ufeff",
    "half a character": "caf\ud83d",
    "marks upon marks": "Z" + "\u0301\u0335\u034f" * 40,
    "tags": "hi\U000e0041\U000e0042",
}


def obeyed(text: str) -> list[str]:
    """Characters that a terminal would act on, or could not encode."""
    return [
        one for one in text
        if unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp")
        or (unicodedata.category(one) == "Cf" and one != "\u00ad")
    ]  # fmt: skip


def everywhere(text: str) -> list[Block]:
    """A text in every place where a text can be."""
    elements = f"```py\n{text}\n```\n- {text}\n| {text} |\n|---|\n"
    blocks: list[Block] = [person(text), words(text), words(elements), words(text, thought=True)]
    for tool, _, output in TOOLS.values():
        block = Work("k", 1, 1, "steersman", ToolCall(tool, {"path": text, "command": text}))
        block.result = ToolResult(tool, "ok", replaced(output, text))
        block.diffs = [DiffReady(text, f"@@ -1 +1 @@\n-{text}\n+{text}x\n", 1, 1)]
        block.state = "done"
        blocks.append(block)
    failed = Work("k", 1, 1, "steersman", ToolCall(text, {}))
    failed.result, failed.state = ToolResult(text, "error", message=text), "error"
    running = Work("k", 1, 1, "steersman", ToolCall("workspace_run_command", {}))
    running.progress = text
    return [*blocks, failed, running]


def replaced(value: Any, text: str) -> Any:
    """A value of the same shape that says something else."""
    if isinstance(value, dict):
        return {name: replaced(one, text) for name, one in value.items()}
    if isinstance(value, list):
        return [replaced(one, text) for one in value]
    return text if isinstance(value, str) else value


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_nothing_is_obeyed(text: str) -> None:
    for block in everywhere(f"before {text} after"):
        for opened in (False, True):
            lines = draw(block, 60, Look(DARK, opened))
            assert [obeyed(line.plain) for line in lines if obeyed(line.plain)] == []
            "\n".join(line.plain for line in lines).encode()


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60), st.integers(1, 90), st.booleans())
def test_any_text_at_any_width(text: str, width: int, opened: bool) -> None:
    for block in everywhere(text)[:: 1 + width % 3]:
        for line in draw(block, width, Look(DARK, opened)):
            assert line.cell_len <= width
            assert not obeyed(line.plain)


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from(["results", "items", "output", "content",
                                                       "diagnostics", "symbols", "files", "x"]),
                                      inner, max_size=4), max_leaves=12))  # fmt: skip
def test_results_of_any_shape(output: Any) -> None:
    for tool in {tool for tool, _, _ in TOOLS.values()}:
        block = Work("k", 1, 1, "steersman", ToolCall(tool, {"path": 3}))
        block.result, block.state = ToolResult(tool, "ok", output), "done"
        for opened in (False, True):
            assert draw(block, 40, Look(DARK, opened))


def test_a_line_of_ten_megabytes_is_cut() -> None:
    for block in everywhere("x" * 10_000_000)[:3]:
        assert sum(len(line.plain) for line in draw(block, 80, Look(DARK))) < 90_000


def test_an_answer_of_a_million_lines_is_shown_in_part() -> None:
    block = Work("k", 1, 1, "steersman", ToolCall("workspace_run_command", {"command": "yes"}))
    block.result = ToolResult("workspace_run_command", "ok", {"output": "y\n" * 1_000_000})
    block.state = "done"
    assert len(draw(block, 80, Look(DARK))) == 10
    opened = draw(block, 80, Look(DARK, open=True))
    assert len(opened) == 5_002
    assert opened[-1].plain.strip() == "… 995,000 more lines not shown"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb", "a   b"),
        ("日本語 ✓ é", "日本語 ✓ é"),
        ("👨\u200d👩\u200d👧 👍🏽 ❤\ufe0f", "👨👩👧 👍 ❤"),
        ("\x1b[1m", "\\x1b[1m"),
        ("half \ud800", "half \ufffd"),
    ],
)
def test_what_is_shown_instead(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_remarks_with_anything_in_them() -> None:
    for text in NASTY.values():
        for line in draw(remark(Error(text, text, text), "error"), 30, Look(DARK)):
            assert not obeyed(line.plain)
