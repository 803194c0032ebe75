"""What is on the screen: panes, sizes, themes, pickers, help."""

import re

import pytest

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.panes.passing import Passing
from steersman.ports.tui.panes.strip import TodoStrip
from steersman.ports.tui.screens.reading import Reading, markdown
from steersman.ports.tui.themes import COLOURS, NAMES
from steersman.views.blocks import Todo
from tests.cli.kit import DONE, FIX, READ
from tests.tui.app.bridge import at_the_terminal, live
from tests.tui.snapshots import check
from tests.world import call

WORK = (
    {"text": "I look at it first.", "tool_calls": [READ]},
    {"text": "The sign is wrong.", "tool_calls": [FIX]},
    {"text": "`add` adds now:\n\n- the sign is right\n- nothing else changed"},
)

STATES = {"look": "done", "mend": "doing", "test": "pending"}
TODO = call(
    "workspace_update_todo",
    items=[{"text": text, "state": state} for text, state in STATES.items()],
)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_screen_from_the_first_word_to_the_last(environ, workspace, script, size):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK), size=size) as me:
            named = f"{size[0]}x{size[1]}"
            await me.say("fix the bug")
            await me.sees("wants to change")
            check(me.picture(), f"asking-{named}.txt")
            await me.press("y")
            await me.turn_ends()
            await me.sees("nothing else changed", "Enter send", "✓ done")
            check(me.picture(), f"done-{named}.txt")

    live(scene)


def test_the_same_as_a_picture(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), size=(80, 24)) as me:
            await me.say("hello")
            await me.turn_ends()
            await me.sees("Enter send")
            await me.press("f1")
            await me.sees("Keys and commands")
            check(await me.svg(), "help-80x24.svg")
            await me.press("escape", "ctrl+p")
            await me.sees("Do anything", "/approvals")
            await me.write("undo")
            await me.until(lambda: "/approvals" not in me.screen())
            check(await me.svg(), "palette-80x24.svg")

    live(scene)


def test_a_wide_screen_shows_all_panes_from_the_first_start_on(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), size=(200, 50)) as me:
            await me.sees("Nothing has happened yet.", "writes", "branch    main", "0 files")
            first = me.screen().splitlines()[1]
            assert first.index("Nothing has happened") < first.index("thread    new")
            await me.press("f3")
            await me.until(lambda: "Nothing has happened yet." not in me.screen())
            await me.pilot.resize_terminal(120, 30)
            await me.sees("branch    main")
            assert me.app.memory.now.panes == ("status", "diff", "todo")

    live(scene)


def test_panes_are_shown_by_keys_and_remembered(environ, workspace, script):
    async def first():
        async with at_the_terminal(environ, workspace, script(DONE), size=(120, 30)) as me:
            assert "approvals on-request" not in me.screen()
            await me.press("f2")
            await me.sees("approvals on-request", "branch    main")
            await me.say("go")
            await me.turn_ends()
            await me.sees("turn 1 go")
            await me.press("f3")
            await me.until(lambda: "turn 1 go" not in me.screen())

    async def then():
        async with at_the_terminal(environ, workspace, script(DONE), size=(120, 30)) as me:
            await me.sees("approvals on-request")
            assert me.app.memory.now.panes == ("status", "todo")

    live(first)
    live(then)


def test_a_narrow_screen_has_one_column(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK), size=(80, 24)) as me:
            await me.say("fix the bug")
            await me.sees("wants to change")
            await me.press("y")
            await me.turn_ends()
            await me.press("f4")
            await me.sees("changes of turn 1", "2 +     return a + b")
            assert "› fix the bug" not in me.screen()
            await me.press("f3")
            await me.sees("turn 1 fix the bug", "edit_files calc.py")
            await me.press("escape")
            await me.sees("nothing else changed")
            await me.press("f7", "D")
            await me.sees("changes of turn 1")
            await me.press("escape")
            await me.sees("nothing else changed")

    live(scene)


def test_twenty_columns_and_five_lines_break_nothing(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(*WORK, DONE)) as me:
            await me.pilot.resize_terminal(20, 5)
            await me.say("fix it")
            await me.until(me.story.waiting)
            await me.until(lambda: me.app.attention == "asking")
            await me.sees("The agent")
            await me.press("D")
            await me.pilot.pause()
            await me.press("escape", "y")
            await me.turn_ends()
            for keys in (["f1"], ["ctrl+p"], ["f2"], ["f3"], ["f4"]):
                await me.press(*keys)
                await me.press("escape")
            for size in ((1, 1), (2, 2), (20, 5), (300, 4), (9, 90)):
                await me.pilot.resize_terminal(*size)
                await me.pilot.pause()
            await me.pilot.resize_terminal(80, 24)
            await me.sees("nothing else changed", "✓ done", "Enter send")

    live(scene)


@pytest.mark.parametrize("theme", NAMES)
def test_every_theme_can_be_put_on_and_is_remembered(environ, workspace, script, theme):
    async def first():
        async with at_the_terminal(environ, workspace, script({"text": "`x = 1`"})) as me:
            await me.say("go")
            await me.turn_ends()
            me.app.stage.theme(theme)
            await me.sees("x = 1")

    async def then():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            assert me.app.theme == theme

    live(first)
    live(then)


def test_without_colours_none_is_sent(environ, workspace, script, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    async def scene():
        bare = {**environ, "NO_COLOR": "1"}
        async with at_the_terminal(bare, workspace, script(*WORK)) as me:
            await me.say("fix it")
            await me.sees("wants to change")
            assert coloured(me.app) == set()
            await me.press("f1")
            await me.sees("Keys and commands")
            assert coloured(me.app) == set()

    live(scene)


def coloured(app):
    """The colours on the screen that are not the terminal's own."""
    found = set()
    for strip in app.screen._compositor.render_strips():
        for one in app_filtered(app, strip):
            style = one.style
            for colour in (style.color, style.bgcolor) if style else ():
                if colour is not None and not colour.is_default:
                    found.add((one.text, str(colour)))
    return found


def app_filtered(app, strip):
    """A strip as it is sent."""
    for line_filter in app.get_line_filters():
        strip = strip.apply_filter(line_filter, app.screen.background_colors[1])
    return strip


def test_the_palette_does_what_is_chosen(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.press("ctrl+p")
            await me.sees("Do anything", "/approvals")
            await me.write("/status")
            await me.press("enter")
            await me.until(lambda: type(me.app.screen).__name__ == "Reading")
            await me.press("escape", "ctrl+p")
            await me.write("workspace_read_file")
            await me.sees("workspace_read_file")

    live(scene)


def test_a_todo_list_stands_above_the_composer(environ, workspace, script, gate):
    async def scene():
        model = script({"tool_calls": [TODO, gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("go")
            await me.until(gate.processes)
            await me.sees("✓ look", "● mend", "○ test")
            await me.press("f6")
            await me.until(lambda: not me.app.query_one(TodoStrip).display)
            gate.open()
            await me.turn_ends()

    live(scene)


def test_keys_are_remapped_and_clashes_are_told(environ, workspace, script):
    async def scene():
        folder = workspace.parent / "home" / ".config" / "steersman"
        folder.mkdir(parents=True)
        (folder / "keys.toml").write_text('help = "f12"\nlog = "f1"\nstatus = "ctrl+p"\n')
        async with at_the_terminal(environ, workspace, script(DONE), size=(120, 30)) as me:
            await me.sees("ctrl+p is wanted for")
            await me.press("f12")
            await me.sees("Keys and commands")
            await me.press("escape")
            assert "log" in me.app.memory.now.panes
            await me.press("f1")
            assert "log" not in me.app.memory.now.panes
            await me.sees("F12 help")

    live(scene)


def test_a_failed_command_is_red_with_its_exit_code(environ, workspace, script):
    async def scene():
        failing = {"name": "workspace_run_command", "arguments": {"command": "exit 3"}}
        model = script({"tool_calls": [failing]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("go")
            await me.turn_ends()
            await me.sees("✗ $ exit 3 · exit 3")
            bad = COLOURS["dark"]["error"]
            reds = "".join(text for text, colour in coloured(me.app) if bad in colour)
            assert "✗" in reds
            assert "exit 3" in reds

    live(scene)


def test_what_comes_below_is_marked_when_one_looks_at_what_is_above(environ, workspace, script):
    async def scene():
        long = {"text": "\n\n".join(f"line {number}" for number in range(60))}
        async with at_the_terminal(environ, workspace, script(long, DONE, DONE)) as me:
            await me.say("go")
            await me.turn_ends()
            await me.press("pageup", "pageup")
            assert "new below" not in me.screen()
            await me.say("more")  # whoever speaks sees the answer
            await me.turn_ends(2)
            await me.sees("› more", "Done.")
            assert "new below" not in me.screen()
            await me.press("pageup", "pageup")
            await me.app.seat.say("from elsewhere")
            await me.turn_ends(3)
            await me.sees("↓ new below · PgDn")
            await me.press("pagedown", "pagedown", "pagedown")
            await me.until(lambda: "new below" not in me.screen())

    live(scene)


def test_the_status_says_how_long_a_turn_runs(environ, workspace, script, gate):
    async def scene():
        model = script({"text": "I wait.", "tool_calls": [gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("go")
            await me.until(gate.processes)
            await me.until(lambda: re.search(r"· \d+ s · \d+ tokens", me.screen()))
            gate.open()
            await me.turn_ends()

    live(scene)


MANY = tuple(Todo(f"step {number}", "pending") for number in range(9))
LONG = {
    "name": "workspace_write_file",
    "arguments": {"path": "long.txt", "content": "".join(f"line {n}\n" for n in range(80))},
}


@pytest.mark.parametrize("height", [24, 20, 16, 14, 12, 10, 8])
def test_what_is_asked_the_composer_and_the_status_always_fit(environ, workspace, script, height):
    async def scene():
        model = script({"tool_calls": [LONG]}, DONE)
        async with at_the_terminal(environ, workspace, model, size=(80, height)) as me:
            await me.say("go")
            await me.until(me.story.waiting)
            await me.until(lambda: me.app.attention == "asking")
            me.story.todo = MANY
            me.app.query_one(Composer).text = "\n".join("words" for _ in range(20))
            me.app.showing.everything()
            await me.pilot.pause()
            await me.pilot.pause()
            shown = [me.app.query_one(f"#{name}") for name in ("approvals", "composer")]
            shown += [one for name in ("statusbar", "keys", "todo", "title")
                      if (one := me.app.query_one(f"#{name}")).display]  # fmt: skip
            for one in shown:
                assert one.region.height > 0, one
                assert one.region.bottom <= height, one
            lines = [row for one in shown for row in range(one.region.y, one.region.bottom)]
            assert len(lines) == len(set(lines))
            if height == 24:
                await me.sees("step 0", "0 of 9 done", "1. Yes, this once (y)")
                me.app.query_one(Composer).notify("Said in passing.")
                await me.sees("Said in passing.", "1. Yes, this once (y)")
                assert not me.app.query_one(Passing).notices

    live(scene)


LONG_NOTICE = "It did not work, because of a reason that takes some words to say. " * 8
AROUND = ("transcript", "composer", "statusbar", "keys", "title", "passing")


@pytest.mark.parametrize(
    "size", [(80, 24), (30, 9), (20, 6)], ids=lambda size: f"{size[0]}x{size[1]}"
)
def test_what_is_said_in_passing_covers_nothing_and_ends(environ, workspace, script, size):
    """Not what waits, at any size; not a dialog; and it goes when what it announces has ended."""

    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), size=size) as me:
            await me.say("go")
            await me.turn_ends()
            passing = me.app.query_one(Passing)
            me.app.tell("An older one.")
            me.app.tell(LONG_NOTICE)
            await me.until(lambda: passing.region.height)
            shown = [one for name in AROUND if (one := me.app.query_one(f"#{name}")).display]
            rows = [row for one in shown for row in range(one.region.y, one.region.bottom)]
            assert len(rows) == len(set(rows))
            assert all(one.region.bottom <= size[1] for one in shown)
            assert me.app.query_one(Composer).region.height > 0
            assert "It did not work" in me.screen()
            me.app.push_screen(Reading("A dialog", markdown("Its text.")))
            await me.sees("A dialog", "Its text.")
            me.app.tell("Said meanwhile.")
            await me.pilot.pause()
            await me.sees("A dialog", "Its text.")
            await me.press("escape")
            await me.sees("Said meanwhile.")
            with me.app.stage.working("Trying it …"):
                await me.sees("Trying it")
            await me.until(lambda: "Trying it" not in me.screen())
            assert not list(me.app.screen.query("Toast"))

    live(scene)
