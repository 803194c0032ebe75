"""While a turn runs: steering it, queueing for the next, taking back, stopping."""

import string

import pytest

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.panes.passing import Passing
from steersman.ports.tui.panes.queued import Queued
from tests.cli.kit import DONE
from tests.tui.app.bridge import at_the_terminal, live


def receipts(me):
    """What became of words said while a turn ran."""
    return [(m.body.how, m.body.state) for m in me.messages("steer")]


def said(me):
    """What the model got, in order."""
    return [m.body.text for m in me.messages("user")]


def test_what_is_written_in_a_turn_is_queued_in_order(environ, workspace, script, gate):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE, DONE, {"text": "Next."})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("begin")
            await me.until(gate.processes)
            await me.sees("Enter queue", "Esc stop", "Write the next message")
            await me.say("one")
            await me.say("two")
            await me.sees("2 waiting one · two", "queued for the next turn")
            me.app.steering.saying.append("two")  # whoever sent it does not know yet
            me.app.showing.everything()
            await me.sees("2 waiting one · two")
            me.app.steering.saying.remove("two")
            gate.open()
            await me.turn_ends(3)
            await me.sees("Next.")
            assert said(me) == ["begin", "one", "two"]
            assert me.app.query_one(Queued).display is False

    live(scene)


def test_enter_with_nothing_written_gives_the_oldest_to_the_turn(environ, workspace, script, gate):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE, {"text": "Next."})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("begin")
            await me.until(gate.processes)
            await me.say("use tabs")
            await me.say("then this")
            await me.sees("2 waiting use tabs · then this", "Enter send the oldest now")
            await me.press("enter")
            await me.sees("waits for the next step", "queued for the next turn")
            gate.open()
            await me.turn_ends(2)
            assert [(m.turn, m.body.text, m.body.via) for m in me.messages("user")] == [
                (1, "begin", "prompt"),
                (1, "use tabs", "steer"),
                (2, "then this", "queue"),
            ]

    live(scene)


def test_with_nothing_running_it_begins_a_turn(environ, workspace, script, gate):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("begin")
            await me.until(gate.processes)
            await me.say("later")
            await me.sees("waiting later")
            await me.press("escape")
            await me.turn_ends()
            await me.press("enter")
            await me.turn_ends(2)
            assert said(me) == ["begin", "later"]

    live(scene)


def test_a_queued_message_is_taken_back_and_written_anew(environ, workspace, script, gate):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("begin")
            await me.until(gate.processes)
            for words in ("one", "two", "three"):
                await me.say(words)
            await me.sees("3 waiting one · two · three")
            await me.press("up")
            await me.until(lambda: me.app.query_one(Composer).text == "three")
            await me.sees("2 waiting one · two")
            await me.press("ctrl+u", "f9", "down")
            await me.sees("queued one", "› queued two")
            await me.press("enter")
            await me.until(lambda: me.app.query_one(Composer).text == "two")
            await me.sees("waiting one")
            await me.until(lambda: receipts(me).count(("queue", "withdrawn")) == 2)
            await me.press("f9", "delete")
            await me.until(lambda: receipts(me).count(("queue", "withdrawn")) == 3)
            assert me.app.query_one(Composer).text == "two"

    live(scene)


def test_what_comes_back_is_what_was_typed_and_the_model_knows_the_files(
    environ, workspace, script, gate
):
    async def scene():
        model = script(DONE, {"tool_calls": [gate.wait]}, DONE, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("look at @calc.py")
            await me.turn_ends()
            await me.say("begin")
            await me.until(gate.processes)
            await me.say("/drop calc.py")
            await me.until(lambda: "F5 drops" not in me.screen())
            await me.say("go on")
            await me.sees("waiting go on")
            assert "Files in context" not in me.screen()
            await me.press("up")
            await me.until(lambda: me.app.query_one(Composer).text == "go on")
            await me.until(lambda: receipts(me)[-1] == ("queue", "withdrawn"))
            await me.press("enter")
            await me.until(lambda: receipts(me)[-1] == ("queue", "queued"))
            gate.open()
            await me.turn_ends(3)
            assert said(me)[1:] == [
                "begin\n\nFiles in context: @calc.py",
                "go on\n\nFiles in context: none",
            ]
            await me.say("/rewind")
            await me.sees("Go back to before which message?", "go on")
            assert "Files in context" not in me.screen()
            await me.press("enter")
            await me.until(lambda: me.app.query_one(Composer).text == "go on")

    live(scene)


def test_escape_stops_the_turn_and_twice_takes_the_newest_back(environ, workspace, script, gate):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("begin")
            await me.until(gate.processes)
            await me.say("one")
            await me.say("two")
            await me.sees("2 waiting one · two")
            await me.press("escape")
            await me.turn_ends()
            assert me.messages("turn_end")[0].body.ending == "cancelled"
            assert receipts(me)[-1] == ("queue", "queued")
            assert not gate.processes()
            me.app.acting.stops.forget()
            await me.press("escape", "escape")
            await me.until(lambda: me.app.query_one(Composer).text == "two")
            await me.sees("waiting one")
            await me.press("escape", "escape")
            assert me.app.query_one(Composer).text == "two"
            assert receipts(me).count(("queue", "withdrawn")) == 1

    live(scene)


def test_escape_stops_a_command_of_the_person(environ, workspace, script, gate):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("!" + gate.wait["arguments"]["command"])
            await me.until(gate.processes)
            await me.press("escape")
            await me.until(lambda: not gate.processes())
            await me.until(lambda: me.messages("tool_result"))
            assert me.messages("tool_result")[0].body.status == "cancelled"

    live(scene)


def test_ctrl_c_stops_then_clears_then_quits(environ, workspace, script, gate):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            clock = [0.0]
            me.app.acting.leaves.clock = lambda: clock[0]
            await me.say("begin")
            await me.until(gate.processes)
            await me.write("half a thought")
            await me.press("ctrl+c")
            await me.turn_ends()
            assert me.messages("turn_end")[0].body.ending == "cancelled"
            assert me.app.query_one(Composer).text == "half a thought"
            await me.press("ctrl+c")
            assert me.app.query_one(Composer).text == ""
            await me.press("ctrl+c")
            clock[0] += 5
            await me.press("ctrl+c")
            assert me.app.is_running
            clock[0] += 0.5
            await me.press("ctrl+c")
            await me.until(lambda: not me.app.is_running)

    live(scene)


@pytest.mark.parametrize("between", [("x", "backspace"), ("left",), ("enter",)])
def test_any_key_after_ctrl_c_takes_it_back(environ, workspace, script, between):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            me.app.acting.leaves.clock = lambda: 0.0
            await me.press("ctrl+c")
            await me.sees("again quits")
            await me.press(*between)
            assert "again quits" not in me.screen()
            await me.press("ctrl+c")
            await me.sees("again quits")
            assert me.app.is_running
            await me.press("ctrl+c")
            await me.until(lambda: not me.app.is_running)

    live(scene)


def test_ctrl_c_stops_a_command_of_the_person_and_keeps_what_is_written(
    environ, workspace, script, gate
):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("!" + gate.wait["arguments"]["command"])
            await me.until(gate.processes)
            await me.write("half a thought")
            await me.press("ctrl+c")
            await me.until(lambda: not gate.processes())
            await me.until(lambda: me.messages("tool_result"))
            assert me.messages("tool_result")[0].body.status == "cancelled"
            assert me.app.query_one(Composer).text == "half a thought"
            assert me.app.is_running

    live(scene)


def test_a_command_of_the_person_is_stopped_before_the_turn(environ, workspace, script, gate):
    """The turn runs on, and nothing says that it is being stopped, until that is asked for, too."""

    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("begin")
            await me.until(gate.processes)
            await me.say("!sleep 600")
            await me.sees("○ ! sleep 600")
            me.app.acting.do("stop")
            assert [one.text for one in me.app.query_one(Passing).notices] == ["Stopping …"]
            await me.sees("– ! sleep 600", "○ $")
            await me.until(lambda: not me.app.query_one(Passing).notices)
            assert gate.processes()
            await me.press("ctrl+c")
            await me.turn_ends()
            await me.until(lambda: not gate.processes())
            assert me.app.is_running

    live(scene)


def test_two_words_said_at_once_begin_one_thread(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE, DONE)) as me:
            me.app.steering.say("one")
            me.app.steering.say("two")
            await me.until(lambda: len(me.messages("user")) == 2 if me.app.seat.id else False)
            assert len(me.app.seat.threads()) == 1

    live(scene)


@pytest.mark.parametrize("opens", [["f4"], ["f3"], ["f2"], [*"/diff", "space", *"last", "enter"]])
def test_a_pane_over_the_conversation_closes_before_anything_stops(
    environ, workspace, script, gate, opens
):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model, size=(80, 24)) as me:
            await me.say("begin")
            await me.until(gate.processes)
            await me.press(*opens)
            await me.until(lambda: covered(me))
            if me.app.showing.layout.over:
                await me.sees("Esc close")
            await me.press("escape")
            await me.until(lambda: not covered(me))
            assert me.app.query_one(Composer).text == ""
            assert not me.messages("turn_end")
            await me.sees("Esc stop")
            await me.press("escape")
            await me.turn_ends()

    live(scene)


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("opens", [[], ["f2"], ["f3"], ["f4"]])
def test_every_letter_is_a_word_where_one_writes_whatever_pane_is_open(
    environ, workspace, script, opens, width
):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), size=(width, 24)) as me:
            await me.say("begin")
            await me.turn_ends()
            await me.press(*opens)
            composer = me.app.query_one(Composer)
            me.sends(string.ascii_letters + string.digits)
            await me.until(lambda: composer.text == string.ascii_letters + string.digits)

    live(scene)


@pytest.mark.parametrize(("words", "whose"), [("begin", "$"), ("!sleep 600", "!")])
def test_esc_says_at_once_that_it_stops_what_runs(environ, workspace, script, gate, words, whose):
    """Before the command has ended, however long that takes."""

    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say(words)
            await me.sees(" stop ", f"○ {whose}")
            me.app.acting.do("stop")
            (notice,) = me.app.query_one(Passing).notices
            assert notice.text == "Stopping …"
            await me.sees(f"– {whose}", "stopped")
            await me.until(lambda: not me.app.query_one(Passing).notices)

    live(scene)


def covered(me):
    """Whether something is shown instead of the conversation."""
    return bool(me.app.showing.layout.over) or len(me.app.screen_stack) > 1
