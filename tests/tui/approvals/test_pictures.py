"""What a person sees when they are asked, small and large, whatever is in it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from rich.cells import cell_len

from steersman.ports.tui.diff_pane import DiffPane
from steersman.records.action import Execute
from steersman.views.blocks import Asked, Request, Work
from steersman.views.hunks import FileDiff, files_of
from tests.tui.approvals.kit import (
    Stand,
    asked,
    command_request,
    edit_request,
    many_files,
    many_request,
    mcp_request,
    network_request,
    question,
    working,
    written,
)
from tests.tui.snapshots import check, screen_text

SMALL, LARGE, TINY = (80, 24), (200, 50), (20, 5)
Pair = tuple[Request | Asked, Work | None]


def pictures(
    things: Sequence[Pair], keys: Sequence[str], size: tuple[int, int], theme: str = "dark"
) -> tuple[str, str]:
    """The screen as text and as SVG."""

    async def look() -> tuple[str, str]:
        app = Stand(theme=theme)
        async with app.run_test(size=size) as pilot:
            blocks, works = [block for block, _ in things], [work for _, work in things if work]
            app.approvals.show(blocks, works, grab=True)
            await pilot.pause()
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            await pilot.pause()
            return screen_text(app, marks=True), app.export_screenshot()

    return asyncio.run(look())


TWO: list[Pair] = [edit_request(), command_request(corr="ask_2", lane="steersman/reviewer")]
ASK: Pair = (question("Which database?", "sqlite", "postgres", default="sqlite"), None)
SHOWN: list[tuple[str, list[Pair], list[str], tuple[int, int]]] = [
    ("edit-80x24", TWO, [], SMALL),
    ("edit-200x50", TWO, [], LARGE),
    ("edit-20x5", TWO, [], TINY),
    ("command-80x24", TWO, ["tab"], SMALL),
    ("network-80x24", [(network_request(), None)], [], SMALL),
    ("mcp-80x24", [mcp_request()], [], SMALL),
    ("many-80x24", [(many_request(), None)], [], SMALL),
    ("guidance-80x24", TWO, ["g", *"no"], SMALL),
    ("editing-80x24", [mcp_request()], ["e"], SMALL),
    ("question-80x24", [ASK], [], SMALL),
    ("hunks-80x24", TWO, ["D", "space"], SMALL),
    ("hunks-200x50", [many_files()], ["D", "tab", "space"], LARGE),
    ("hunks-20x5", TWO, ["D"], TINY),
]


@pytest.mark.parametrize(("name", "things", "keys", "size"), SHOWN)
def test_a_picture_of_each(
    name: str, things: list[Pair], keys: list[str], size: tuple[int, int]
) -> None:
    text, _ = pictures(things, keys, size)
    check(text, f"{name}.txt")


@pytest.mark.parametrize("theme", ["dark", "light-safe", "no-colour"])
def test_in_colours_and_without(theme: str) -> None:
    _, svg = pictures(TWO, [], SMALL, theme)
    check(svg, f"edit-{theme}.svg")
    _, svg = pictures([many_files()], ["D", "space"], LARGE, theme)
    check(svg, f"hunks-{theme}.svg")


BAD = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202ebidi\x00\x08\u2028"
FACT = {"words": [BAD], "reads": [BAD], "remote": BAD}
EXECUTE = Execute(f"ls {BAD}\nyes | y once\n$ rm", f"/w{BAD}")
HOSTILE: dict[str, Request | Asked] = {
    "escape sequences": asked("t", written("a\x1b[31m.txt", "x\n", f"{BAD}\n")),
    "a command": asked("run\x1b[2J", EXECUTE, reason=BAD, facts=(FACT,)),
    "a question": question(BAD, BAD, f"{BAD}2", default=BAD, lane=f"steersman/{BAD}"),
    "CRLF": asked("t", written("a.txt", "a\r\nb\r\n", "a\nb\r\nc\r\n")),
    "no newline at the end": asked("t", written("a.txt", "a\nb", "a\nb\n")),
    "not text": asked("t", written("a.bin", "\0", "\0\0")),
    "a moved file": asked("t", written("old.txt", "a\n", None), written("new.txt", None, "a\n")),
    "a very long line": asked("t", written("a.txt", "a\n", "b" * 100_000 + "\n")),
    "a broken diff": asked("t", written("a.txt", "", "")),
    "wide letters": asked("t", written("日本.txt", "日本語\n" * 3, "🎉日本語\u0301\u0301\u0301\n")),
}


def hostile(size: tuple[int, int]) -> dict[str, tuple[str, str]]:
    """Each of them, as it is asked and in the whole diff."""

    async def look() -> dict[str, tuple[str, str]]:
        seen = {}
        app = Stand()
        async with app.run_test(size=size) as pilot:
            for what, block in HOSTILE.items():
                app.approvals.show([], [])
                app.approvals.show([block], [], grab=True)
                await pilot.pause()
                asked_text = screen_text(app)
                await pilot.press("D", "s", "G")
                await pilot.pause()
                seen[what] = asked_text, screen_text(app)
                await pilot.press("escape")
                await pilot.pause()
        return seen

    return asyncio.run(look())


@pytest.mark.parametrize("size", [LARGE, TINY])
def test_nothing_of_it_reaches_the_terminal_raw(size: tuple[int, int]) -> None:
    for what, both in hostile(size).items():
        for shown in both:
            assert not [c for c in shown if ord(c) < 32 and c != "\n"], what
            assert not set(shown) & set("\x7f\x9b\u202e\u2028\x00"), what
            assert max(cell_len(line) for line in shown.split("\n")) <= size[0], what


def test_what_is_unusual_about_a_line_is_shown() -> None:
    seen = hostile(SMALL)
    assert "a␍" in seen["CRLF"][0]
    assert "b ⟨no line end⟩" in seen["no newline at the end"][0]
    assert "it is not text" in seen["not text"][0]
    assert "old.txt  +0 -1  deleted" in seen["a moved file"][1]
    assert "new.txt  +1 -0  created" in seen["a moved file"][1]
    assert "> yes | y once" in seen["a command"][0]  # and not a line of its own
    assert "> $ rm" in seen["a command"][0]


class Panes(Stand):
    """The pane with the changes of a thread, and nothing else."""

    def __init__(self, files: list[FileDiff]) -> None:
        super().__init__()
        self._shown = files

    def compose(self) -> Any:
        yield DiffPane(self._shown, title="changes of this thread")


def test_the_changes_of_a_thread_in_a_pane() -> None:
    request, _ = many_files()

    async def look(size: tuple[int, int], *keys: str) -> str:
        app = Panes(files_of(request.request.actions))
        async with app.run_test(size=size) as pilot:
            app.query_one(DiffPane).focus_diff()
            await pilot.pause()
            for key in keys:
                await pilot.press(key)
            await pilot.pause()
            return screen_text(app)

    check(asyncio.run(look(SMALL)), "pane-80x24.txt")
    check(asyncio.run(look(LARGE, "right_curly_bracket")), "pane-200x50.txt")
    assert "2 of 4" not in asyncio.run(look(SMALL, "space", "enter"))


def test_a_diff_of_five_thousand_lines_is_drawn_row_by_row() -> None:
    old = "".join(f"def f{number}(): return {number}\n" for number in range(5000))
    new = old.replace("return", "yield")
    request = asked("workspace_write_file", written("long.py", old, new))
    work = working(request, path="long.py", content=new)
    text, _ = pictures([(request, work)], ["D", "G"], SMALL)
    assert "def f4999(): yield 4999" in text
