"""Titles of threads: made by the model, unless somebody gave one."""

from datetime import UTC, datetime

import pytest

from steersman.records.thread import Thread
from steersman.views.titles import automatic, tidy
from tests.host.wires import RecordingStage, reaching
from tests.tui.app.bridge import at_the_terminal, live


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Fix the sign in add()", "Fix the sign in add()"),
        ('"Fix the sign."\n', "Fix the sign"),
        ("# Fix `add`\n\nBecause …", "Fix `add"),
        ("```\nFix it\n```", "Fix it"),
        ("word " * 40, f"{'word ' * 11}word…"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("  \n", ""),
    ],
)
def test_an_answer_becomes_a_title(answer, title):
    assert tidy(answer) == title


@pytest.mark.parametrize(
    ("title", "first", "parent", "expected"),
    [
        ("fix the bug", "fix  the\nbug, please", "", True),
        ("My own", "fix the bug", "", False),
        ("Fixing add", "fix the bug", "Fixing add", True),
        ("", "fix", "", False),
    ],
)
def test_a_title_that_somebody_gave_is_no_automatic_one(title, first, parent, expected):
    now = datetime.now(UTC)
    assert automatic(Thread("t", title, "/w", "run", now, now), first, parent) is expected


def test_threads_and_forks_get_titles(environ, workspace):
    stage = RecordingStage()

    async def scene():
        online = reaching(environ, stage.url)
        async with at_the_terminal(online, workspace, "openai:m-1") as me:
            stage.play({"text": "Hello."}, aside="A greeting")
            await me.say("hello there, who are you?")
            await me.until(lambda: me.app.seat.thread and me.app.seat.thread.title == "A greeting")
            await me.sees("A greeting")
            stage.play({"text": "Hello."}, aside="Another greeting")
            await me.say("/fork")
            await me.until(lambda: me.app.seat.thread and me.app.seat.thread.parent)
            await me.say("once more")
            await me.until(lambda: me.app.seat.thread.title == "Another greeting")

    try:
        live(scene)
    finally:
        stage.close()


def test_a_command_names_a_thread_until_the_first_message(environ, workspace, script):
    async def scene():
        model = script({"text": "Hello."}, {"text": "Yes."})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("!echo hi")
            await me.until(lambda: me.messages("tool_result"))
            assert me.app.seat.host.find(me.app.seat.id).title == "!echo hi"
            await me.say("fix the cart")
            await me.turn_ends()
            assert me.app.seat.host.find(me.app.seat.id).title == "fix the cart"
            await me.say("and more")
            await me.turn_ends(2)
            assert me.app.seat.host.find(me.app.seat.id).title == "fix the cart"

    live(scene)
