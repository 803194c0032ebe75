"""Keys that arrive together, as over a slow line, mean what they mean one by one."""

import pytest
from textual import events
from textual.widgets import Input

from steersman.ports.tui.screens.dialogs import AskLine
from steersman.ports.tui.screens.picker import Picker
from tests.cli.kit import DONE
from tests.tui.app.bridge import at_the_terminal, live
from tests.tui.app.test_keys import written


def field(me):
    """What is written in the field of a dialog."""
    return me.app.screen.query_one(Input).value


@pytest.mark.parametrize("opened", [True, False])
def test_the_search_of_a_list_takes_them_in_order(environ, workspace, script, opened):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            me.burst("ctrl+p", *(() if opened else "mod"))
            await me.until(lambda: isinstance(me.app.screen, Picker))
            if opened:
                me.burst(*"mod")
            me.burst("x", "backspace", *"el!", "left", "delete", "home", "/")
            await me.until(lambda: field(me).startswith("/"))
            assert field(me) == "/model"

    live(scene)


def test_a_line_that_is_asked_for_takes_them_in_order(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            asked = me.app.spawn(me.app.answered(AskLine("Address", "http://127.0.0.1:8080")))
            await me.until(lambda: isinstance(me.app.screen, AskLine))
            me.burst("backspace", "9", "ctrl+a", "x", "delete", "enter", *"and on")
            await me.until(lambda: written(me) == "and on")
            assert asked.result == "xttp://127.0.0.1:8089"

    live(scene)


def test_words_typed_while_reading_are_sent_by_the_enter_behind_them(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE, DONE, DONE)) as me:
            await me.say("three")
            await me.turn_ends()
            await me.press("f7")
            me.sends("four\n")
            await me.turn_ends(2)
            me.burst("f7", *"xix", "backspace", "backspace", *"five"[1:], "enter")
            await me.turn_ends(3)
            said = [one.body.text for one in me.messages("user")]
            assert said == ["three", "four", "xive"]
            assert written(me) == ""

    live(scene)


def test_a_key_of_the_application_comes_after_the_letters_before_it(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            me.burst(*"half", "ctrl+c", *"whole")
            await me.until(lambda: written(me) == "whole")
            assert me.app.is_running

    live(scene)


def test_what_is_pasted_comes_after_the_keys_before_it(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.press("ctrl+p")
            await me.until(lambda: isinstance(me.app.screen, Picker))
            me.burst(*"ab", "backspace")
            me.app.post_message(events.Paste("cd"))
            me.burst("home", "0")
            await me.until(lambda: field(me).startswith("0"))
            assert field(me) == "0acd"

    live(scene)
