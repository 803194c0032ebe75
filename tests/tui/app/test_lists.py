"""Dialogs that ask have the list of the cards: arrows and Enter, numbers, letters."""

import pytest

from tests.cli.kit import BROKEN, DONE, FIX, FIXED, WRITE
from tests.tui.app.bridge import at_the_terminal, live

LATER = FIXED.replace("a + b", "a + b + 0")
CONFLICT = ("› 1. Keep the later changes", "  2. Overwrite them", "  3. Do nothing (n)")
REWIND = (
    "› 1. Conversation and files (y)",
    "  2. Conversation only (c)",
    "  3. Files only (f)",
    "  4. Do nothing (n)",
)


@pytest.mark.parametrize(
    ("keys", "calc", "made"),
    [
        (["enter"], LATER, False),
        (["o"], BROKEN, False),
        (["j", "down", "k", "enter"], BROKEN, False),
        (["9", "3"], LATER, True),
        (["escape"], LATER, True),
    ],
)
def test_an_undo_of_lines_with_later_changes_offers_a_list(
    environ, workspace, script, keys, calc, made
):
    async def scene():
        model = script({"tool_calls": [FIX, WRITE]}, DONE)
        async with at_the_terminal(environ, workspace, model, approvals="never") as me:
            await me.say("fix it")
            await me.turn_ends()
            (workspace / "calc.py").write_text(LATER)
            await me.say("/undo")
            await me.sees("This overwrites later changes in", *CONFLICT)
            await me.press(*keys)
            await me.until(lambda: len(me.app.screen_stack) == 1)
            await me.sees("Nothing was done." if made else "↶")
            assert (workspace / "calc.py").read_text() == calc
            assert (workspace / "new.txt").exists() == made

    live(scene)


@pytest.mark.parametrize(
    ("keys", "calc"), [(["enter"], LATER), (["n"], LATER), (["y"], LATER), (["o"], BROKEN)]
)
def test_an_undo_that_would_only_overwrite_my_changes_has_nothing_marked(
    environ, workspace, script, keys, calc
):
    """There is no rest to undo: Enter keeps what is mine; on a small screen all of it is seen."""

    async def scene():
        model = script({"tool_calls": [FIX]}, DONE)
        small = {"size": (80, 24), "approvals": "never"}
        async with at_the_terminal(environ, workspace, model, **small) as me:
            await me.say("fix it")
            await me.turn_ends()
            (workspace / "calc.py").write_text(LATER)
            await me.say("/undo")
            await me.sees("› 1. Do nothing: keep the later changes (n)", "  2. Overwrite them")
            await me.sees("This overwrites later changes in: calc.py", "return a + b + 0")
            assert "return a - b" in me.screen().partition("What the undo does:")[2]
            await me.press(*keys)
            if keys == ["y"]:
                await me.press("escape")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            await me.sees("Nothing was done." if calc == LATER else "↶")
            assert (workspace / "calc.py").read_text() == calc

    live(scene)


@pytest.mark.parametrize(
    ("keys", "goes_back", "left"),
    [
        (["enter"], True, BROKEN),
        (["2"], True, FIXED),
        (["down", "down", "enter"], False, BROKEN),
        (["f"], False, BROKEN),
        (["4"], False, FIXED),
        (["escape"], False, FIXED),
    ],
)
def test_a_rewind_offers_a_list(environ, workspace, script, keys, goes_back, left):
    async def scene():
        model = script({"tool_calls": [FIX]}, DONE)
        async with at_the_terminal(environ, workspace, model, approvals="never") as me:
            await me.say("fix it")
            await me.turn_ends()
            before = me.app.seat.id
            await me.say("/rewind")
            await me.sees("› fix it")
            await me.press("enter")
            await me.sees("Go back to before “fix it”", *REWIND)
            await me.press(*keys)
            await me.until(lambda: len(me.app.screen_stack) == 1)
            await me.until(lambda: (workspace / "calc.py").read_text() == left)
            if goes_back:
                await me.until(lambda: me.app.seat.id != before)
            else:
                await me.sees("Nothing was done." if left == FIXED else "/redo reverses this.")
                assert me.app.seat.id == before

    live(scene)


def test_what_a_job_printed_has_a_list_too(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("!echo up; sleep 600 &")
            await me.until(lambda: me.messages("tool_result"))
            await me.say("/jobs")
            await me.sees("Background jobs: choose one")
            await me.press("enter")
            await me.sees("› 1. Close (c)", "  2. Stop it (s)")
            await me.press("enter")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            await me.say("/jobs")
            await me.sees("Background jobs: choose one")
            await me.press("enter")
            await me.sees("› 1. Close (c)")
            await me.press("down", "enter")
            await me.sees("Stop ", "› 1. Yes (y)", "  2. No (n)")
            await me.press("1")
            await me.sees("is stopped.")

    live(scene)
