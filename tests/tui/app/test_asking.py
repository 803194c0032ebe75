"""What waits for an answer in the application: one card, its keys, and the way back to it."""

import asyncio

import pytest

from steersman.ports.tui.approvals import Approvals
from steersman.ports.tui.composer import Composer
from steersman.ports.tui.panes.passing import Passing
from steersman.records.errors import SteersmanError
from tests.cli.kit import BROKEN, DONE, FIX, FIXED, WRITE, outside, shell
from tests.tui.app.bridge import at_the_terminal, live
from tests.world import call, run_steer

ASKED = {"approvals": "on-request"}
LINES = "".join(f"line {number}\n" for number in range(1, 31))


def test_one_card_whose_keys_mean_the_same_however_one_comes_to_it(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [FIX, WRITE]}, DONE)
        async with at_the_terminal(environ, workspace, model, **ASKED) as me:
            await me.say("fix it")
            await me.sees("wants to do 2 things", "› change `calc.py`", "  create `new.txt`")
            await me.sees("Yes to all 2 (Y)")
            await me.press("escape")
            await me.sees("wants to change `calc.py` (and 1 more)  F8 answers")
            assert "Yes to all" not in me.screen()
            await me.press("n", "a", "y", "Y")
            assert me.app.query_one(Composer).text == "nayY"
            me.app.query_one(Composer).text = ""
            me.app.tell("A word in passing.")
            await me.press("f7", "a")
            await me.until(lambda: me.app.attention == "asking")
            await me.sees("Yes to all 2 (Y)")
            assert "A word in passing." not in me.screen()  # what was said before is not about it
            me.app.say_for("Said at the card.", 3600)
            await me.sees("Said at the card.")
            me.app.say_for("Said at the card.", 0.01)  # it goes in its time, as anywhere
            await me.until(lambda: "Said at the card." not in me.screen())
            await me.press("escape")
            await me.sees("F8 answers", "A word in passing.")
            await me.press("f8")
            await me.sees("Yes to all 2 (Y)")
            assert not me.messages("confirm_response")
            await me.press("Y")
            assert not me.messages("confirm_response")
            await me.press("enter")
            await me.turn_ends()
            assert [m.body.decision for m in me.messages("confirm_response")] == ["allow"] * 2
            assert (workspace / "calc.py").read_text() == FIXED

    live(scene)


def test_words_at_a_card_are_written_and_answer_nothing(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [FIX]}, DONE)
        async with at_the_terminal(environ, workspace, model, **ASKED) as me:
            await me.say("fix it")
            await me.sees("wants to change")
            await me.press(*"sure")
            await me.until(lambda: me.app.query_one(Composer).text == "sure")
            assert me.app.attention == "writing"
            assert (workspace / "calc.py").read_text() == BROKEN
            assert len(me.story.waiting()) == 1
            await me.press("f8")
            await me.until(lambda: me.app.attention == "asking")
            await me.press("y")
            await me.sees("Enter confirms “y”")  # words are half written
            assert len(me.story.waiting()) == 1
            await me.press("enter")
            await me.turn_ends()

    live(scene)


def test_that_nothing_waits_is_old_news_when_the_next_is_asked(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [FIX]}, DONE)
        async with at_the_terminal(environ, workspace, model, **ASKED) as me:
            await me.say("fix it")
            await me.sees("wants to change")
            await me.until(lambda: me.app.attention == "asking")
            card = me.app.query_one(Approvals)
            card.post_message(Approvals.Emptied())
            await me.pilot.pause()
            assert me.app.attention == "asking"
            await me.press("y")
            await me.turn_ends()

    live(scene)


def test_esc_goes_back_to_the_card_also_when_the_words_were_cleared(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [FIX]}, DONE)
        async with at_the_terminal(environ, workspace, model, **ASKED) as me:
            await me.say("fix it")
            await me.sees("wants to change")
            await me.press(*"sure")
            await me.sees("Esc answer")
            await me.press("ctrl+u")
            await me.until(lambda: me.app.query_one(Composer).text == "")
            await me.sees("Esc answer")
            await me.press("escape")
            await me.until(lambda: me.app.attention == "asking")
            await me.press("y")
            await me.turn_ends()
            assert [one.body.decision for one in me.messages("confirm_response")] == ["allow"]

    live(scene)


@pytest.mark.parametrize(("draft", "clear"), [("a", "backspace"), ("also", "ctrl+u")])
def test_esc_goes_to_a_card_that_came_while_words_were_written_that_are_cleared(
    environ, workspace, script, gate, draft, clear
):
    """Only who has closed the card with Esc stops the turn with the next."""

    async def scene():
        model = script({"tool_calls": [gate.wait]}, {"tool_calls": [FIX]}, DONE)
        async with at_the_terminal(environ, workspace, model, **ASKED) as me:
            await me.say("fix it")
            await me.until(gate.processes)
            await me.press(*draft)
            gate.open()
            await me.sees("F8 answers", "Esc answer")
            await me.press(clear)
            await me.until(lambda: me.app.query_one(Composer).text == "")
            await me.sees("Esc answer")
            await me.press("escape")
            await me.until(lambda: me.app.attention == "asking")
            assert not me.messages("turn_end")
            await me.press("escape")
            await me.sees("F8 answers", "Esc stop")
            await me.press(*"no", "ctrl+u")
            await me.sees("Esc answer")
            await me.press("f8", "y")
            await me.turn_ends()

    live(scene)


def test_a_stopped_command_keeps_its_output_and_quitting_says_how_long(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [shell("echo begun $((40+2)); sleep 600")]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("go")
            await me.sees("begun 42")
            await me.press("escape")
            await me.turn_ends()
            await me.sees("begun 42", "stopped")
            assert me.messages("tool_result")[0].body.output == {"output": "begun 42\n"}
            await me.press("f7", "a")
            await me.sees("When are you asked?")
            await me.press("escape", "escape")
            await me.until(lambda: me.app.attention == "writing")
            await me.press("ctrl+c")
            (notice,) = me.app.query_one(Passing).notices
            assert "again quits" in notice.text
            assert notice.seconds == me.app.acting.leaves.seconds

    live(scene)


def test_a_call_that_was_changed_is_shown_as_it_ran(environ, workspace, script):
    (workspace / "text.txt").write_text(LINES)
    (workspace / "more.txt").write_text("more\n")
    edits = [{"search": "line 4\n", "replace": "four\n"}, {"search": "line 25", "replace": "25"}]
    files = [{"path": "text.txt", "edits": edits}]
    files.append({"path": "more.txt", "edits": [{"search": "more", "replace": "less"}]})
    model = script(
        {"tool_calls": [outside("echo asked")]},
        {"tool_calls": [call("workspace_edit_files", files=files)]},
        DONE,
    )

    async def scene():
        async with at_the_terminal(environ, workspace, model, size=(100, 50), **ASKED) as me:
            await me.say("go")
            await me.sees("echo asked", "e edit")
            await me.press("e", "end", *"-and-changed", "enter")
            await me.sees("$ echo asked-and-changed", "changed before it ran", "e edit")
            await me.press("D", "x", "space", "enter")
            await me.turn_ends()
            await me.sees("● edit text.txt · 1 of 3 hunks accepted · +1 -1")
            assert "edit text.txt, more.txt" not in me.screen()
            assert "$ echo asked\n" not in me.screen()
            return me.app.seat.id

    replayed = run_steer(["replay", "--plain", asyncio.run(scene())], workspace, environ).stdout
    assert "● run_command echo asked-and-changed · changed before it ran\n" in replayed
    assert "● edit_files text.txt, more.txt · 1 of 3 hunks accepted\n" in replayed
    assert "\n  +four\n" in replayed.partition("hunks accepted")[2]
    assert "+less" not in replayed.partition("hunks accepted")[2]


def test_a_plan_is_talked_over_and_carried_out(environ, workspace, script):
    async def scene():
        first = script(DONE, name="first.json")
        async with at_the_terminal(environ, workspace, first, approvals="review") as me:
            await me.say("hello")
            await me.turn_ends()
            plan = f".steersman/plans/{me.app.seat.id}.md"
            write = call("workspace_write_file", path=plan, content="# Plan\n\nFix add.\n")
            planned = ({"tool_calls": [write]}, {"text": "Planned."})
            again = {"text": "The plan:\n\n1. fix add\n2. test it"}
            steps = (*planned, {"text": "Shorter."}, again, {"tool_calls": [FIX]}, DONE)
            await me.app.seat.change(model=script(DONE, *steps))
            await me.say("/plan fix add")
            await me.sees(
                "Carry out this plan?", "› 1. yes (y)", "  2. no (n)", "3. Something else"
            )
            await me.press(*"shorter", "enter")  # what is no key of the card begins words
            await me.until(lambda: len(me.messages("question")) == 2)
            await me.sees("Shorter.", "› 1. yes (y)")
            await me.press("n")
            await me.turn_ends(2)
            await me.sees("Still in plan mode: say what to change, or /code to leave it.")
            assert me.app.seat.settings.mode == "plan"
            await me.say("again")
            await me.until(lambda: len(me.messages("question")) == 3)
            await me.sees("› 1. yes (y)")
            await me.press("enter")
            await me.turn_ends(3)
            assert me.app.seat.settings.mode == "code"
            assert [m.body.text for m in me.messages("answer")] == ["shorter", "no", "yes"]
            assert (workspace / "calc.py").read_text() == FIXED
            await me.sees("Carry out the plan you just gave.")

    live(scene)


def test_a_question_in_plan_mode_offers_no_plan_and_says_how_to_leave_the_mode(
    environ, workspace, script
):
    async def scene():
        model = script({"text": "Which plan do you want?\n1. a sign\n2. a test"})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("/plan fix add")
            await me.turn_ends()
            await me.sees("Still in plan mode: say what to change, or /code to leave it.")
            assert me.messages("question") == []

    live(scene)


def test_letters_that_come_all_at_once_are_lost_nowhere(environ, workspace, script):
    async def scene():
        model = script(ASK, {"expect": "francs, CHF", "text": "Noted."})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("set it up")
            await me.sees("A question: Store (1 of 2)")
            me.sends("francs, CHF\n")
            await me.sees("→ francs, CHF", "A question: Parts (2 of 2)")
            await me.press("1", "enter")
            await me.turn_ends()
            await me.press("f7")
            await me.until(lambda: me.app.attention == "reading")
            me.sends("the link in line")
            await me.until(lambda: me.app.query_one(Composer).text == "the link in line")

    live(scene)


STORES = [{"label": "Postgres", "description": "a server"}, {"label": "SQLite"}]
STORE = {"question": "Which store?", "header": "Store", "options": STORES}
PARTS = {"question": "Which parts?", "header": "Parts", "options": STORES, "multiple": True}
ASK = {"tool_calls": [call("ask_user", questions=[STORE, PARTS])]}


def test_what_the_model_asks_is_chosen_from_the_card(environ, workspace, script):
    async def scene():
        model = script(ASK, {"expect": "Postgres, SQLite", "text": "Noted."})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("set it up")
            await me.sees("A question: Store (1 of 2)", "Which store?", "› 1. Postgres  a server")
            await me.sees("  2. SQLite", "  3. Something else", "esc decline")
            await me.press("2")
            await me.sees("A question: Parts (2 of 2)", "› 1. [ ] Postgres")
            await me.press("1", "2")
            await me.sees("  1. [x] Postgres", "› 2. [x] SQLite")
            await me.press("enter")
            await me.turn_ends()
            await me.sees("→ SQLite", "→ Postgres, SQLite", "Noted.")

    live(scene)


def test_own_words_are_typed_at_once_and_esc_declines_but_the_turn_goes_on(
    environ, workspace, script
):
    async def scene():
        model = script(ASK, {"expect": "declined to answer", "text": "I chose."})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("set it up")
            await me.sees("A question: Store (1 of 2)")
            await me.press(*"just a file", "enter")
            await me.sees("→ just a file", "A question: Parts (2 of 2)")
            await me.press("escape")
            await me.turn_ends()
            await me.sees("→ declined", "I chose.")
            assert me.messages("turn_end")[-1].body.ending == "done"

    live(scene)


def test_what_is_said_in_passing_keeps_the_words_of_others(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            me.app.tell("The message was: accept --mode")
            await me.sees("The message was: accept --mode")

    asyncio.run(scene())


def test_advice_about_a_thread_that_cannot_be_read_is_in_the_words_of_the_chat(
    environ, workspace, script
):
    async def unreadable():
        raise SteersmanError("Nothing is known.", "It has --mode.", "See `steer threads list`.")

    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("hello")
            await me.sees("Done.")
            me.app.seat.look = unreadable
            await me.say("again")
            await me.sees("Nothing is known.", "It has --mode.", "See `/resume`.")

    asyncio.run(scene())


def test_of_several_questions_one_goes_back_and_the_answers_are_kept(environ, workspace, script):
    """Each is shown with its answer, and nothing of the call as the model wrote it."""
    choices = [{"label": "small"}, {"label": "large"}]
    several = {"question": "Which sides?", "header": "Sides", "options": choices, "multiple": True}
    asking = [{"question": "How big?", "header": "Size", "options": choices}, several,
              {"question": "Sure?", "header": "Sure", "options": choices}]  # fmt: skip

    async def scene():
        model = script({"tool_calls": [call("ask_user", questions=asking)]}, DONE)
        async with at_the_terminal(environ, workspace, model, size=(100, 40)) as me:
            await me.say("ask me")
            await me.sees("Size (1 of 3)", "How big?")
            assert "previous question" not in me.screen()
            await me.press("2")
            await me.sees("Sides (2 of 3)", "left previous question")
            await me.press("1", "enter")
            await me.sees("Sure (3 of 3)")
            await me.press("left")
            await me.sees("Sides (2 of 3)", "[x] small", "[ ] large")
            await me.press("shift+tab")
            await me.sees("Size (1 of 3)", "› 2. large (your answer)")
            await me.press("1")
            await me.sees("Sides (2 of 3)", "[x] small")
            await me.press("enter")
            await me.sees("Sure (3 of 3)")
            await me.press(*"yes", "enter")
            await me.turn_ends()
            (result,) = me.messages("tool_result")
            assert [one["answer"] for one in result.body.output["answers"]] == [
                "small", "small", "yes",
            ]  # fmt: skip
            await me.sees("ask 3 questions", "asked: How big? → small", "asked: Sure? → yes")
            assert '"answer"' not in me.screen()

    live(scene)
