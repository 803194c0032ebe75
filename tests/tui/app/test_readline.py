"""Keys that a shell's line has: they do here what they do there."""

from textual import events

from tests.cli.kit import DONE
from tests.tui.app.bridge import at_the_terminal, live
from tests.tui.app.test_keys import written


def test_ctrl_b_moves_in_a_draft_and_detaches_where_nothing_is_written(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.press(*"ac", "ctrl+b", "b")
            assert written(me) == "abc"
            assert me.app.is_running
            await me.press("ctrl+u", "delete", "ctrl+b")
            await me.until(lambda: not me.app.is_running)

    live(scene)


def test_what_was_cut_comes_back_with_ctrl_y(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            for cut, left in (("ctrl+w", "one two "), ("ctrl+u", "")):
                await me.write("one two three")
                await me.press(cut)
                assert written(me) == left
                await me.press("ctrl+y", "!")
                assert written(me) == "one two three!"
                await me.press("ctrl+u")
            await me.write("one two")
            await me.press("home", "ctrl+k", "x", "ctrl+y", "ctrl+y")
            assert written(me) == "xone twoone two"

    live(scene)


def test_alt_d_deletes_the_next_word_and_other_letters_with_alt_type_nothing(
    environ, workspace, script
):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.write("one two")
            for key in ("home", "alt+d", "alt+p", "alt+t"):
                letter = key[-1] if key.startswith("alt+") else None
                me.app.post_message(events.Key(key, letter))
                await me.pilot.pause()
            await me.press("delete", "x")
            assert written(me) == "xtwo"
            await me.press("ctrl+y")
            assert written(me) == "xonetwo"

    live(scene)
