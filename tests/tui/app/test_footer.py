"""The footer and the cards say what a key does, and that is what it does: everywhere, Esc and
Ctrl+C are pressed, and what happens is compared with what was said."""

import pytest

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.panes.footer import Keys
from tests.cli.kit import DONE, FIX
from tests.tui.app.bridge import at_the_terminal, live
from tests.world import call

ASK = call(
    "ask_user",
    questions=[
        {"question": "Which?", "header": "Way",
         "options": [{"label": "one"}, {"label": "two"}]},
    ],
)  # fmt: skip
PLAN = {"text": "The plan:\n\n1. look\n2. fix"}


def said(me, key):
    """What the footer says of a key; None where it does not name it."""
    return {hint.key: hint.words for hint in me.app.query_one(Keys).hints}.get(key)


async def outcome(me, key):
    """What a key does, in the footer's words."""
    app = me.app
    before = (app.attention, len(app.screen_stack), app.query_one(Composer).text)
    answered, working = len(me.messages("answer")), app.seat.doing == "working"
    runs = app.steering.running
    await me.press(key)
    await me.pilot.pause()
    if len(me.messages("answer")) > answered:
        return "decline"
    after = (app.attention, len(app.screen_stack), app.query_one(Composer).text)
    if before[0] == "asking" and after[0] == "writing":
        return "later"
    if before[0] == after[0] == "asking":
        return "back"
    if after[0] == "asking":
        return "answer"
    if before[0] != "writing":
        return "write"
    if before[2] and not after[2]:
        return "clear"
    if working or runs:
        await me.until(lambda: app.seat.doing != "working" and not app.steering.running)
        return "stop"
    return "quit" if "again quits" in me.screen() else ""


async def at_a_request(me):
    await me.say("fix it")
    await me.sees("wants to change")


async def in_its_words(me):
    await at_a_request(me)
    await me.press("g")
    await me.sees("what to do instead")


async def writing_at_a_request(me):
    await at_a_request(me)
    await me.press(*"sure")
    await me.until(lambda: me.app.query_one(Composer).text == "sure")


async def at_a_question(me):
    await me.say("ask")
    await me.sees("Which?")


async def in_an_answer(me):
    await at_a_question(me)
    await me.press("x")
    await me.sees("enter answer")


async def at_a_plan(me):
    await me.say("/plan it")
    await me.sees("Carry out this plan?")


async def changing_a_plan(me):
    await at_a_plan(me)
    await me.press(*"smaller")
    await me.sees("smaller", "enter answer")


async def at_a_dialog(me):
    await me.press("ctrl+p")
    await me.sees("Do anything")


async def at_a_command(me):
    await me.say("!sleep 100")
    await me.until(lambda: me.app.steering.running)


async def reading(me):
    await me.say("hello")
    await me.turn_ends()
    await me.press("f7")


async def at_a_review(me):
    await me.say("fix it")
    await me.turn_ends()
    await me.press("f8")
    await me.sees("k keep")


async def with_words(me):
    await me.write("words")


async def with_nothing(me):
    pass


FIXES, ASKS, TALKS = [{"tool_calls": [FIX]}, DONE], [{"tool_calls": [ASK]}, DONE], [DONE]


@pytest.mark.parametrize(
    ("go", "model", "approvals", "esc", "leave"),
    [
        (at_a_request, FIXES, "on-request", "later", None),
        (in_its_words, FIXES, "on-request", "back", None),
        (writing_at_a_request, FIXES, "on-request", "answer", None),
        (at_a_question, ASKS, "review", "decline", None),
        (in_an_answer, ASKS, "review", "back", None),
        (at_a_plan, [PLAN, DONE], "review", "later", None),
        (changing_a_plan, [PLAN, DONE], "review", "back", None),
        (at_a_dialog, TALKS, "review", None, "quit"),
        (at_a_command, TALKS, "review", None, "stop"),
        (reading, TALKS, "review", "write", None),
        (at_a_review, FIXES, "review", "write", None),
        (with_words, TALKS, "review", None, "clear"),
        (with_nothing, TALKS, "review", None, "quit"),
    ],
)
def test_the_footer_says_what_a_key_does(
    go, model, approvals, esc, leave, environ, workspace, script
):
    async def scene():
        how = {"size": (200, 50), "approvals": approvals}
        async with at_the_terminal(environ, workspace, script(*model), **how) as me:
            await go(me)
            await me.until(lambda: said(me, "Esc") == esc and said(me, "^C") == leave)
            if esc:
                assert esc == "write" or f"esc {esc}" in me.screen() or go in (
                    at_a_request, writing_at_a_request
                )  # fmt: skip
                assert await outcome(me, "escape") == esc
            elif go is at_a_dialog:
                assert said(me, "Enter") is None
            else:
                assert await outcome(me, "ctrl+c") == leave

    live(scene)
