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
            await me.sees("… 19,992 earlier lines (F7 Enter)")
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
            await me.sees("… 12 earlier lines (F7 Enter)")

    live(scene)


def test_a_search_finds_words_across_wrapped_lines_and_opens_what_is_folded(
    environ, workspace, script
):
    """Upwards from the end; `n` goes on, `N` goes back."""
    told = "The quick **brown fox** jumps over the lazy dog " * 6
    turn = [*ran("seq -f 'line %g' 30; echo brown fox; seq 20")]
    turn[-1] = {"text": f"{told}and the needle\nin the haystack."}

    async def scene():
        async with at_the_terminal(environ, workspace, script(*turn), size=(60, 24)) as me:
            await me.say("count")
            await me.turn_ends()
            window = me.app.query_one(Transcript).window

            async def found(words):
                await me.until(lambda: window.hit[0] and words in line())

            def line():
                block = me.story.blocks[window.place_of(window.hit[0])]
                lines = window.drawn(block).lines[window.hit[1] :][:2]
                return " ".join(one.plain.strip() for one in lines)

            await me.press("f7", "slash")
            await me.say("Needle in the HAYSTACK")
            await found("needle in the haystack.")
            await me.press("f7", "f7", "slash")
            await me.sees("Search the conversation")
            await me.press(*["backspace"] * 30)
            await me.say("line 7")
            await found("line 7")
            await me.sees("line 7\n", "line 8\n")
            assert "earlier lines" not in me.screen()

            await me.press("slash", *["backspace"] * 10)
            await me.say("lazy dog the quick brown")
            await found("lazy dog The")
            first = window.hit
            await me.press("n")
            await me.until(lambda: window.hit < first)
            await me.press("N")
            await me.until(lambda: window.hit == first)

            await me.press("slash", *["backspace"] * 30)
            await me.say("nowhere")
            await me.sees("“nowhere” is not in this conversation.")

    live(scene)


def test_a_pane_finds_words_across_wrapped_lines(environ, workspace, script):
    long = "seq -s' ' 5000"

    async def scene():
        async with at_the_terminal(environ, workspace, script(*ran(long)), size=(60, 24)) as me:
            await counted(me)
            await me.say("/output seq")
            await me.until(lambda: isinstance(me.app.screen, Printed))
            lines = me.app.screen.query_one(Lines)
            await me.until(lambda: lines.lines)
            end = lines.lines[20].plain.split()[-1]
            await me.press("/")
            await me.say(f"{end} {int(end) + 1}")
            await me.until(lambda: lines.found == 20)

    live(scene)
