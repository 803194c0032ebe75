"""What a command printed has the colours that the command gave it, and hides nothing by them."""

import pytest

from steersman.ports.tui.drawing import DARK, MONO, Look, draw
from steersman.ports.tui.drawing.look import Palette
from steersman.ports.tui.themes import palette
from steersman.records.message import ToolCall, ToolResult
from steersman.views.blocks import Work


def drawn(printed: str, look: Palette = DARK, *, running: bool = False) -> dict[str, str]:
    """The pieces of what a command printed, each with its style in words."""
    block = Work("k", 1, 1, "steersman", ToolCall("workspace_run_command", {"command": "x"}))
    if running:
        block.progress = printed
    else:
        block.result = ToolResult("workspace_run_command", "ok", {"output": printed})
        block.state = "done"
    pieces = {}
    for line in draw(block, 80, Look(look, open=True))[1:]:
        plain = line.plain
        for span in line.spans:
            pieces[plain[span.start : span.end]] = str(span.style)
    return pieces


def plain(printed: str) -> str:
    return "".join(drawn(printed))


@pytest.mark.parametrize("running", [False, True])
def test_the_16_the_256_and_all_other_colours(running):
    text = "\x1b[31mred\x1b[0m \x1b[38;5;208morange\x1b[m \x1b[38;2;200;100;250mmauve\x1b[39m"
    pieces = drawn(text, running=running)
    assert pieces["red"] == "#ff5555"
    assert pieces["orange"] == "color(208)"
    assert pieces["mauve"] == "#c864fa"


def test_letters_are_bold_or_underlined_until_that_ends():
    pieces = drawn("\x1b[1mbold\x1b[22;4munder\x1b[24mneither")
    assert "bold" in pieces["bold"]
    assert "underline" in pieces["under"]
    assert "bold" not in pieces["under"]
    assert "underline" not in pieces["neither"]


def test_colours_may_be_separated_by_colons():
    pieces = drawn("\x1b[38:5:208morange\x1b[0m\x1b[38:2::200:100:250mmauve")
    assert (pieces["orange"], pieces["mauve"]) == ("color(208)", "#c864fa")


def test_a_colour_lasts_over_the_end_of_a_line():
    pieces = drawn("\x1b[32mone\ntwo\x1b[0m\nthree")
    assert pieces["one"] == pieces["two"] != pieces["three"]


def test_a_light_theme_has_dark_colours():
    assert drawn("\x1b[93mpale", palette("light"))["pale"] == "#aa5500"


def test_a_theme_without_colours_has_none():
    assert drawn("\x1b[1;31mred", MONO)["red"] == "bold"


@pytest.mark.parametrize(
    "hidden",
    ["\x1b[30m", "\x1b[8m", "\x1b[31;41m", "\x1b[38;2;20;23;27m", "\x1b[38;5;16m", "\x1b[7;31;41m"],
)
def test_no_colour_hides_what_is_written(hidden):
    assert drawn(f"{hidden}seen")["seen"].replace("reverse ", "") == str(DARK.text)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[2K\x1b[1Gdone\x1b[?25h", "done"),
        ("\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b(B\x1b[mplain\x1b=", "plain"),
        ("\x1b]0;never ended", "\\x1b]0;never ended"),
        ("half\x1b[3", "half\\x1b[3"),
        ("\x1b[31;;;999;38;5mone\x1b[38;2;1mtwo", "onetwo"),
        ("\x1b[" + "1;" * 5000 + "mlong", "long"),
    ],
)
def test_everything_else_is_dropped_or_shown_escaped(printed, shown):
    assert plain(printed) == shown


def test_a_long_line_is_not_broken_inside_a_sequence():
    text = "a" * 3998 + "\x1b[31mred" + "b" * 4000
    assert "1m" not in plain(text)
    assert "\\x1b" not in plain(text)


def test_half_a_colour_takes_nothing_from_the_next():
    assert drawn("\x1b[38;5m\x1b[31mred")["red"] == "#ff5555"
