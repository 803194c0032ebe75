"""What is folded in the conversation is opened: with keys, the mouse and a command."""

import pytest

from steersman.ports.tui.screens.printed import Lines, Printed
from steersman.ports.tui.transcript import Transcript
from tests.tui.app.bridge import at_the_terminal, live
from tests.world import call

FEW, MANY = "seq -f 'line %g' 12", "seq -f 'number %g' 20000"


def ran(*commands):
    """A turn that runs commands."""
    calls = [call("workspace_run_command", command=one) for one in commands]
    return {"tool_calls": calls}, {"text": "Counted."}


async def counted(me):
    """The turn is over."""
    await me.say("count")
    await me.turn_ends()
    await me.sees("Counted.")


def row_of(me, words):
    """The line of the screen that has some words."""
    return next(at for at, line in enumerate(me.screen().splitlines()) if words in line)


def test_enter_opens_what_was_folded_last_and_folds_it_again(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*ran(FEW)), size=(80, 40)) as me:
            await counted(me)
            await me.sees("… 4 earlier lines (F7 Enter)")
            await me.press("f7", "enter")
            await me.sees("line 1\n", "line 12\n")
            await me.press("enter")
            await me.sees("… 4 earlier lines (F7 Enter)")

    live(scene)


def test_a_click_on_the_fold_opens_it_and_leaves_letters_text(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*ran(FEW)), size=(80, 40)) as me:
            await counted(me)
            await me.pilot.click(offset=(10, row_of(me, "4 earlier lines")))
            await me.sees("line 1\n", "line 12\n")
            assert me.app.attention == "writing"

    live(scene)


def test_a_long_output_opens_whole_and_is_searched(environ, workspace, script):
    """The log has the beginning and the end of it; the pane has every line."""

    async def scene():
        async with at_the_terminal(environ, workspace, script(*ran(MANY)), size=(80, 24)) as me:
            await counted(me)
            await me.sees("… 19,993 earlier lines (F7 Enter)")
            await me.press("f7", "enter")
            await me.until(lambda: isinstance(me.app.screen, Printed))
            await me.until(lambda: me.app.screen.query_one(Lines).lines)
            shown = [line.plain.strip() for line in me.app.screen.query_one(Lines).lines]
            assert [one for one in shown if one.startswith("number")] == [
                f"number {at}" for at in range(1, 20001)
            ]
            await me.press("/")
            await me.say("NUMBER 9999")
            await me.sees("number 9999", "line 10000 of")
            await me.press("n")
            await me.sees("line 10000 of")  # the only one
            await me.press("G")
            await me.sees("number 20000")
            await me.press("g", "escape")
            await me.until(lambda: me.app.query_one(Transcript).has_focus)

    live(scene)


def test_output_is_chosen_from_a_list_and_by_its_words(environ, workspace, script):
    async def scene():
        async with at_the_terminal(
            environ, workspace, script(*ran(FEW, MANY)), size=(80, 24)
        ) as me:
            await me.say("/output")
            await me.sees("There is no output in this thread.")
            await counted(me)
            await me.say("/output line")
            await me.until(lambda: isinstance(me.app.screen, Printed))
            await me.sees("line 1 ", "line 12 ")
            await me.press("escape")
            await me.say("/output")
            await me.sees("Choose what to read", "number %g", "line %g")
            await me.press("enter")
            await me.until(lambda: isinstance(me.app.screen, Printed))
            await me.sees("number 2 ")

    live(scene)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_lines_of_the_output_are_counted_and_not_those_of_the_screen(
    environ, workspace, script, width
):
    wide = "for n in $(seq 20); do printf '%s ' $n; seq -s' ' 1000; done"

    async def scene():
        async with at_the_terminal(environ, workspace, script(*ran(wide)), size=(width, 24)) as me:
            await counted(me)
            await me.sees("… 13 earlier lines (F7 Enter)")

    live(scene)
