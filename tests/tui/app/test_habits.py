"""What people know from shells and from other agents works here the same way."""

import pytest

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.panes.strip import TodoStrip
from tests.cli.kit import DONE, FIX
from tests.tui.app.bridge import at_the_terminal, live
from tests.world import call

LEFT = call(
    "workspace_update_todo",
    items=[
        {"text": "look", "state": "done"},
        {"text": "mend", "state": "doing"},
        {"text": "test", "state": "pending"},
    ],
)
LIST = call("workspace_update_todo", items=[{"text": "look", "state": "done"}])


def test_control_d_quits_with_nothing_written_and_deletes_otherwise(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.write("ab")
            await me.press("home", "ctrl+d")
            assert me.app.query_one(Composer).text == "b"
            assert me.app.is_running
            await me.press("backspace", "delete", "ctrl+d")
            await me.until(lambda: not me.app.is_running)

    live(scene)


def test_control_d_asks_while_a_turn_runs(environ, workspace, script, gate):
    async def scene():
        async with at_the_terminal(environ, workspace, script({"tool_calls": [gate.wait]})) as me:
            await me.say("begin")
            await me.until(gate.processes)
            await me.press("ctrl+d")
            await me.sees("Quit and stop the turn?")
            await me.press("n")
            assert me.app.is_running
            gate.open()

    live(scene)


def test_a_question_mark_shows_the_keys_and_one_writes_on(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.press("?")
            await me.sees("Shift+Tab next mode", "Alt+Enter new line", "F1 shows all keys")
            await me.press("?")
            await me.until(lambda: "Alt+Enter new line" not in me.screen())
            await me.press("?", "w", "h", "y", "?")
            await me.until(lambda: "Alt+Enter new line" not in me.screen())
            assert me.app.query_one(Composer).text == "why?"

    live(scene)


def test_the_chosen_row_of_a_list_has_a_mark(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.press("ctrl+p")
            await me.sees("Do anything", "› /")
            first = [line for line in me.screen().splitlines() if "› /" in line]
            await me.press("down")
            await me.until(lambda: [s for s in me.screen().splitlines() if "› /" in s] != first)
            assert me.screen().count("› /") == len(first) == 1

    live(scene)


def test_a_todo_list_that_is_done_goes_when_the_turn_ends(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script({"tool_calls": [LIST]}, DONE)) as me:
            await me.say("begin")
            await me.turn_ends()
            await me.until(lambda: not me.app.query_one(TodoStrip).display)
            assert me.story.todo == ()

    live(scene)


def test_a_todo_list_with_something_left_is_a_line_when_its_turn_is_over(
    environ, workspace, script, gate
):
    """Also in later turns, until one of them has it as its own."""

    async def scene():
        model = script(
            {"tool_calls": [LEFT, gate.wait]}, DONE, {"tool_calls": [gate.wait]}, DONE,
            {"tool_calls": [LEFT, gate.wait]}, DONE,
        )  # fmt: skip
        async with at_the_terminal(environ, workspace, model) as me:

            def rows():
                return me.app.query_one(TodoStrip).content_size.height

            await me.say("begin")
            await me.until(gate.processes)
            await me.sees("✓ look", "● mend", "○ test")
            gate.open()
            await me.turn_ends()
            await me.until(lambda: rows() == 1)
            await me.sees("● mend", "1 of 3 done")
            await me.say("something else")
            await me.until(gate.processes)
            await me.sees("1 of 3 done")
            assert rows() == 1
            gate.open()
            await me.turn_ends(2)
            await me.say("go on with it")
            await me.until(gate.processes)
            await me.until(lambda: rows() == 3)
            gate.open()
            await me.turn_ends(3)

    live(scene)


def test_only_the_footer_says_what_keys_do(environ, workspace, script):
    """The composer said that Esc stops the turn while the footer said that it puts a card off."""

    async def scene():
        async with at_the_terminal(environ, workspace, script({"tool_calls": [FIX]}, DONE)) as me:
            await me.say("fix it")
            await me.sees("wants to change", "Esc later")
            assert me.screen().count("Esc") == 1
            await me.press("escape")
            await me.sees("Esc stop")
            assert me.screen().count("Esc") == 1

    live(scene)


@pytest.mark.parametrize("size", [(80, 24), (80, 16), (200, 50)])
def test_the_end_of_an_answer_is_seen_above_what_the_turn_changed(environ, workspace, script, size):
    writes = [call("workspace_write_file", path=f"{n}.txt", content="x\n") for n in range(6)]
    answer = {"text": "\n".join(f"- point {n}" for n in range(60))}

    async def scene():
        model = script({"tool_calls": writes}, answer)
        async with at_the_terminal(
            environ, workspace, model, size=size, approvals="review"
        ) as me:  # fmt: skip
            await me.say("go")
            await me.turn_ends()
            await me.sees("6 files changed", "point 59", "✓ done")
            assert ("0.txt +1" in me.screen()) == (size[1] > 32)

    live(scene)


def test_what_one_spent_fits_on_eighty_columns(environ, workspace, script):
    async def scene():
        long = script(DONE, name="a-model-whose-name-is-as-long-as-those-of-some-routers-are.json")
        async with at_the_terminal(environ, workspace, long) as me:
            await me.say("go")
            await me.turn_ends()
            await me.say("/cost")
            await me.sees("Cost of this thread", "requests", "cost")
            (head,) = [line for line in me.screen().splitlines() if "requests" in line]
            assert "model" in head
            assert " cost" in head

    live(scene)


def test_the_messages_to_go_back_to_are_named_by_their_words(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE, DONE)) as me:
            await me.say("the first thing")
            await me.turn_ends()
            await me.say("/rewind")
            await me.sees("Go back to before which message?", "› the first thing", "just now")
            assert "message 1" not in me.screen()

    live(scene)


def test_enter_sends_a_command_whose_argument_is_complete(environ, workspace, script):
    (workspace / "docs" / "api").mkdir(parents=True)

    async def scene():
        async with at_the_terminal(environ, workspace, script()) as me:
            for typed in ("/add-dir docs", "/add-dir docs/", "/approvals never"):
                await me.write(typed)
                await me.press("enter")
                await me.until(lambda: not me.app.query_one(Composer).text)

    live(scene)


@pytest.mark.parametrize(("name", "level"), [("effort", "high"), ("approvals", "never")])
def test_enter_in_the_list_of_a_setting_keeps_what_holds(environ, workspace, script, name, level):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), **{name: level}) as me:
            await me.say(f"/{name}")
            await me.sees(f"› {level} (now)")
            await me.press("enter")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            assert getattr(me.app.seat.settings, name) == level

    live(scene)


def test_the_list_of_themes_begins_with_the_one_in_use(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("/theme light")
            await me.until(lambda: me.app.theme == "light")
            await me.say("/theme")
            await me.sees("› light")
            await me.press("enter")
            await me.until(lambda: len(me.app.screen_stack) == 1)
            assert me.app.theme == "light"

    live(scene)
