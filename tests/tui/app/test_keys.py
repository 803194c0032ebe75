"""Which keys are commands where: letters are text unless one reads on purpose."""

import pytest
from textual.app import App

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.driver import PasteParser
from steersman.ports.tui.keys import TABLE
from steersman.ports.tui.panes.queued import Queued
from steersman.ports.tui.screens.dialogs import WORDS, Confirm, Trust
from steersman.ports.tui.transcript import Transcript
from steersman.ports.tui.wanted import Wanted
from tests.cli.kit import DONE, FIX
from tests.tui.app.bridge import at_the_terminal, live
from tests.tui.snapshots import screen_text
from tests.world import call

LETTERS = "".join(key for one in TABLE if one.where == "reading" for key in one.keys)
PROSE = f"{LETTERS}nNdhlfaxs just do quit and retry"
WORK = ({"tool_calls": [FIX]}, {"text": "Fixed."})


def written(me):
    """What is in the composer."""
    return me.app.query_one(Composer).text


async def worked(me):
    """A turn that changed something is over."""
    await me.say("fix it")
    await me.sees("wants to change")
    await me.press("y")
    await me.turn_ends()
    await me.until(lambda: me.app.attention == "writing")


WAYS = {
    "at once": [],
    "Esc": ["escape"],
    "Esc twice over": ["escape", "i", "backspace", "escape"],
    "a pane opened and closed": ["f4", "f4"],
    "a pane closed by Esc": ["f4", "escape"],
    "a pane left open": ["f4"],
    "another pane over it": ["f3", "f4"],
    "reading left": ["f7", "escape"],
    "a pane opened from reading": ["f7", "f4"],
    "reading left for what is queued": ["f7", "f9", "escape"],
    "help looked at": ["f1", "escape"],
    "Tab out of reading": ["f7", "tab"],
}


@pytest.mark.parametrize("wide", [80, pytest.param(120, marks=pytest.mark.soak)])
def test_prose_is_prose_whatever_was_pressed_before(environ, workspace, script, wide):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK), size=(wide, 24)) as me:
            await worked(me)
            for way, keys in WAYS.items():
                await me.press(*keys, PROSE[0])
                assert (way, written(me)) == (way, PROSE[0])
                me.sends(PROSE[1:])
                await me.until(lambda: len(written(me)) >= len(PROSE) or not me.app.is_running)
                assert (way, written(me)) == (way, PROSE)
                assert me.app.is_running
                assert me.story.turn == 1
                assert len(me.app.screen_stack) == 1
                me.app.query_one(Composer).text = ""

    live(scene)


@pytest.mark.parametrize("wide", [80, 120])
def test_a_click_anywhere_leaves_letters_text(environ, workspace, script, wide):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK), size=(wide, 24)) as me:
            await worked(me)
            await me.press("f4")
            for place in ((5, 3), (wide - 5, 3), (5, 12), (wide - 5, 12), (2, 0), (2, 22), (2, 23)):
                await me.pilot.click(offset=place)
                await me.press(*"jDq")
            assert written(me) == "jDq" * 7
            assert me.app.is_running

    live(scene)


def test_a_terminal_looked_away_from_comes_back_to_writing(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK)) as me:
            await worked(me)
            await me.press("f7")
            me.app.post_message(events_of("AppBlur"))
            await me.pilot.pause()
            me.app.post_message(events_of("AppFocus"))
            await me.until(lambda: me.app.attention == "writing")
            await me.press(*"quit")
            assert written(me) == "quit"

    live(scene)


def events_of(name):
    """An event of the terminal."""
    from textual import events

    return getattr(events, name)()


def test_reading_is_entered_on_purpose_and_seen(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK)) as me:
            await worked(me)
            assert "│› fix it" not in me.screen()
            await me.press("f7")
            await me.sees("│› fix it", "Esc write", "j down", "q quit")
            await me.press("j", "k", "g", "G", "n", "N", "D")
            await me.until(lambda: len(me.app.screen_stack) == 2)
            await me.press("escape")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            assert me.app.query_one(Transcript).has_focus
            await me.press("i")
            assert me.app.attention == "writing"
            assert written(me) == ""
            await me.until(lambda: "│› fix it" not in me.screen())

    live(scene)


def test_a_letter_that_is_no_command_is_written(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK)) as me:
            await worked(me)
            for letter in ("x", "H", "é", "7", "!", "space"):
                await me.press("f7", letter, *"ust")
                assert written(me).replace(" ", "space") == f"{letter}ust"
                assert me.app.attention == "writing"
                me.app.query_one(Composer).text = ""

    live(scene)


def test_letters_in_what_is_queued_are_written(environ, workspace, script, gate):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("begin")
            await me.until(gate.processes)
            await me.say("later")
            await me.until(lambda: me.app.query_one(Queued).display)
            await me.press("f9", *"do")
            assert written(me) == "do"
            assert me.app.query_one(Queued).items

    live(scene)


def test_quit_and_retry_ask_first(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK, DONE)) as me:
            await worked(me)
            await me.press("f7", "r")
            await me.sees("Try the last step again?", "fix it")
            await me.press("n")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            assert me.story.turn == 1
            await me.press("q")
            await me.sees("Quit?", "The thread is kept.")
            await me.press("q")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            await me.press("q")
            await me.sees("Quit?")
            await me.press("y")
            await me.until(lambda: not me.app.is_running)

    live(scene)


def test_leaving_asks_while_jobs_run_and_the_next_opening_says_which_ended(
    environ, workspace, script
):
    job = call("workspace_run_command", command="sleep 600", background=True, wait_timeout=0.1)
    model = script({"tool_calls": [job]}, DONE)

    async def scene():
        async with at_the_terminal(environ, workspace, model, approvals="review") as me:
            await me.say("begin")
            await me.turn_ends()
            await me.sees("1 job")
            await me.press("ctrl+q")
            await me.sees("Leave and stop 1 background job?", "p1  sleep 600")
            await me.press("n")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            await me.press("ctrl+q", "ctrl+q")
            await me.until(lambda: not me.app.is_running)
            thread = me.app.seat.id
        async with at_the_terminal(environ, workspace, model, wanted=Wanted(resume=thread)) as me:
            await me.sees("Background job p1 (sleep 600) was ended when the thread was closed.")
            assert "1 job" not in me.screen()

    live(scene)


def test_quitting_asks_while_a_turn_runs(environ, workspace, script):
    model = script({"tool_calls": [call("workspace_run_command", command="sleep 600")]}, DONE)

    async def scene():
        async with at_the_terminal(environ, workspace, model, approvals="review") as me:
            await me.say("begin")
            await me.sees("run_command sleep 600", "Esc stop")
            await me.press("ctrl+q")
            await me.sees("Quit and stop the turn?", "^B leaves without stopping it")
            await me.press("n")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            assert me.app.seat.doing == "working"
            await me.press("ctrl+q", "ctrl+q")
            await me.until(lambda: not me.app.is_running)

    live(scene)


def test_a_letter_typed_as_a_question_comes_up_does_not_answer_it(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK)) as me:
            await worked(me)
            me.app.patience = 3600
            await me.press("f7", "q")
            await me.sees("Quit?")
            await me.press("y")
            assert me.app.is_running
            await me.press("n")
            await me.until(lambda: len(me.app.screen_stack) == 1)

    live(scene)


def test_a_pane_over_the_conversation_scrolls(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK), size=(80, 12)) as me:
            await worked(me)
            await me.press("f3")
            pane = me.app.query_one("#log-pane")
            pane.scroll_home(animate=False)
            await me.press("pagedown")
            assert pane.scroll_y == pane.max_scroll_y

    live(scene)


def test_shift_tab_switches_to_the_next_mode(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            assert me.app.seat.settings.mode == "code"
            await me.write("half a thought")
            await me.press("shift+tab")
            await me.until(lambda: me.app.seat.settings.mode == "plan")
            await me.sees("Mode plan: research and write a plan")
            await me.press("shift+tab", "shift+tab", "shift+tab")
            await me.until(lambda: me.app.seat.settings.mode == "spec")
            await me.sees("Mode spec:")
            assert "Mode plan:" not in me.screen()
            assert written(me) == "half a thought"
            assert me.app.attention == "writing"
            await me.press("enter")
            await me.turn_ends()
            await me.press("shift+tab")
            await me.sees("· mode code", " code · scripted")

    live(scene)


@pytest.mark.parametrize(
    ("sent", "key"),
    [("\x1b\r", "alt+enter"), ("\x1b\n", "alt+enter"), ("\n", "ctrl+j"), ("\r", "enter"),
     ("\x1b[13;2u", "shift+enter"), ("\x1b[27;2;13~", "shift+enter"),
     ("\x1b[13;3u", "alt+enter"), ("\x1b[27;3;13~", "alt+enter"), ("\x1b[Z", "shift+tab")],
)  # fmt: skip
def test_enter_as_terminals_send_it(sent, key):
    assert [event.key for event in PasteParser().feed(sent)] == [key]


def test_what_makes_a_new_line_sends_nothing(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            for key in ("alt+enter", "ctrl+j", "shift+enter"):
                await me.press("a", key)
            await me.press("b", "backslash", "enter", "c")
            assert written(me) == "a\na\na\nb\nc"
            assert me.app.seat.id == ""

    live(scene)


def test_escape_twice_goes_back_to_a_message(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE, DONE)) as me:
            await me.press("escape", "escape", "escape")
            assert len(me.app.screen_stack) == 1
            await me.say("first thing")
            await me.turn_ends()
            await me.press("x", "escape", "escape")
            assert len(me.app.screen_stack) == 1
            await me.press("backspace", "escape", "escape")
            await me.sees("Go back to before which message?", "first thing")
            before = me.app.seat.id
            await me.press("enter")
            await me.until(lambda: written(me) == "first thing")
            assert me.app.seat.id != before

    live(scene)


def test_ctrl_r_searches_what_was_said_before(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE, DONE)) as me:
            for number, words in enumerate(("find the leak", "write the docs"), 1):
                await me.say(words)
                await me.turn_ends(number)
            await me.press("ctrl+r", *"leak", "enter")
            assert written(me) == "find the leak"

    live(scene)


def test_the_keys_of_claude_code_for_the_transcript_and_the_editor(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), size=(80, 40)) as me:
            await me.say("begin")
            await me.turn_ends()
            await me.press("ctrl+o")
            assert me.app.attention == "reading"
            assert me.app.is_running
            await me.press("ctrl+o")
            assert me.app.attention == "writing"
            await me.press("f1")
            await me.sees("^G", "Write in your own editor.")
            await me.press("end")
            helped = "\n".join(one.keys[-1] for one in me.app.keymap_.keys if one.name == "read")
            assert helped == "ctrl+o"

    live(scene)


def test_prose_at_a_dialog_answers_nothing():
    """“why is this” has a y in it."""
    now = [0.0]

    async def scene():
        app = App()
        async with app.run_test() as pilot:
            said = []
            app.push_screen(Confirm("Redo 2 changes?", clock=lambda: now[0]), said.append)
            await pilot.press(*"why")
            assert said == []
            now[0] += WORDS
            await pilot.press("y")
            assert said == [True]

    live(scene)


def test_a_dialog_has_the_same_list_of_answers():
    """Enter counts when the question has been seen; on trust it decides nothing by itself."""
    now = [0.0]

    def confirm():
        return Confirm("Redo 2 changes?", clock=lambda: now[0], seen=1)

    def trust():
        return Trust("/w comes with this.", [("AGENTS.md", "instructions")])

    stories = [
        (confirm, ["enter"], True), (confirm, ["1"], True), (confirm, ["2"], False),
        (confirm, ["down", "enter"], False), (confirm, ["j", "k", "enter"], True),
        (trust, ["enter"], None), (trust, ["up", "enter"], False), (trust, ["1"], True),
        (trust, ["k", "k", "k", "enter"], True), (trust, ["3"], None),
    ]  # fmt: skip

    async def scene():
        app = App()
        async with app.run_test(size=(80, 24)) as pilot:
            for make, keys, answer in stories:
                said = []
                app.push_screen(make(), said.append)
                await pilot.pause()
                if make is confirm:
                    await pilot.press("enter", "1")
                    assert said == []
                    assert "› 1. Yes (y)" in screen_text(app)
                else:
                    assert "› 3. Decide later (Esc)" in screen_text(app)
                now[0] += 2
                await pilot.press(*keys)
                assert said == [answer]

    live(scene)
