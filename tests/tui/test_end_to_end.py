"""The whole application in a real terminal: typed into, looked at, killed, and come back to."""

import os
import re
import shlex
import signal
import time

import pytest

from steersman.ports.tui.keys import SEEN
from tests.cli.kit import BROKEN, DONE, FIX, FIXED, READ, WRITE, eventually, outside
from tests.cli.terminal import CTRL_D, Terminal
from tests.tui.tmux import NEEDED, Window, bodies, check_whole, said, threads
from tests.world import STEER, call

READY = "Say what to do"  # the composer, empty, with nothing running
WORKING = "Write the next message"  # the composer, empty, while a turn runs
ASKED = "1. Yes, this once (y)"
WAITING = "Enter send the oldest now"  # the footer, while messages wait
STEERED = "waits for the next step"  # below words that steer
QUEUED = "queued for the next turn"
ENOUGH = (110, 60)  # a screen on which the whole conversation of a test fits

pytestmark = NEEDED


def answer(window: Window, key: str, *seen: str) -> None:
    """Answer what is asked. A key counts only when the question has been there for a moment."""
    window.until(ASKED, *seen)
    time.sleep(SEEN)
    window.press(key)


def test_the_answers_of_a_card_are_a_list_on_a_small_terminal(script, workspace, open_window):
    """Arrows and Enter, then a number; nothing is pushed off the screen."""
    fix = {"tool_calls": [FIX]}
    window = open_window(
        "--model", script(fix, {"text": "Not done."}, fix, {"text": "Done."}), size=(80, 24)
    )
    window.until(READY)
    window.say("fix it")
    window.until("› 1. Yes, this once (y)", "+     return a + b", "Esc later")
    time.sleep(SEEN)
    for line in (
        "› 2. Yes, and all edits, in this turn (u)",
        "› 3.",
        "› 4.",
        "› 5.",
        "› 6. No (n)",
    ):
        window.press("Down")
        window.until(line, "Esc later")
    window.press("Enter")
    window.until("Not done.", READY)
    assert (workspace / "calc.py").read_text() == BROKEN
    window.say("do fix it")
    window.until("› 1. Yes, this once (y)")
    time.sleep(SEEN)
    window.press("1")
    window.until("Done.", READY)
    assert (workspace / "calc.py").read_text() == FIXED


def test_from_a_task_to_undo_fork_a_crash_and_back(steer, script, gate, workspace, open_window):
    model = script(
        {"text": "Looking.", "tool_calls": [READ]},
        {"text": "It subtracts.", "tool_calls": [FIX]},
        {"text": "add() now adds."},
        {"text": "This takes a while.", "tool_calls": [gate.wait]},
        {"text": "The tests are kept in mind."},
        {"text": "All is tidy."},
        {"text": "Once more.", "tool_calls": [gate.wait]},
        {"text": "Never said: the process is killed before."},
        {"text": "Here I am again."},
    )
    window = open_window("--model", model, size=ENOUGH)

    # A task, and a diff that is approved.
    window.until(READY)
    window.say("mend add()")
    window.until("-     return a - b", "+     return a + b", ASKED)
    assert (workspace / "calc.py").read_text() == BROKEN
    answer(window, "y")
    window.until("add() now adds.", READY)
    assert (workspace / "calc.py").read_text() == FIXED

    # Steered in the middle of a turn, and something queued for the next.
    window.say("run the slow check")
    window.until("This takes a while.", WORKING)
    gate.waiting()
    window.say("mind the tests")
    window.until("› mind the tests", QUEUED, WAITING)
    window.press("Enter")
    window.until("› mind the tests", STEERED)
    window.say("then tidy up")
    window.until("› then tidy up", QUEUED, WAITING)
    gate.open()
    window.until("The tests are kept in mind.", "› then tidy up", "All is tidy.", READY)

    # Undone, and on in a copy.
    window.say("/undo")
    window.until("Undo 1 change?", "+    return a - b")
    window.press("y")
    window.until("1 change undone")
    assert (workspace / "calc.py").read_text() == BROKEN
    window.say("/fork")
    window.until("continues from")
    copy, first = threads(steer)
    assert copy in window.screen.splitlines()[0]

    # A crash in the middle of a turn: what was running ends too.
    window.say("check once more")
    window.until("Once more.")
    gate.waiting()
    window.kill()
    eventually(lambda: gate.processes() == [])

    # Everything is still there, and it goes on.
    window = open_window("--resume", copy, size=ENOUGH)
    window.until(
        "› mend add()", "add() now adds.", "mind the tests", "All is tidy.", "1 change undone",
        "› check once more", "Once more.", READY,
    )  # fmt: skip
    window.say("are you there?")
    window.until("Here I am again.", READY)

    # Left; how to come back is told.
    window.say("/quit")
    assert window.end() == 0
    # The conversation's end stays in the terminal, below what was there before.
    left = window.screen
    assert left.index("› are you there?") < left.index("Here I am again.")
    assert "Continue with: steer -c" in left
    assert f"steer --resume {copy}" in left
    whole = ["mend add()", "run the slow check", "mind the tests", "then tidy up"]
    assert said(steer, first) == whole
    assert said(steer, copy)[-2:] == ["check once more", "are you there?"]
    for thread in (first, copy):
        check_whole(steer, thread)


def test_a_change_is_denied_with_words_of_guidance(steer, script, workspace, open_window):
    model = script({"tool_calls": [FIX]}, {"expect": "use sum()", "text": "I will use sum()."})
    window = open_window("--model", model)

    window.until(READY)
    window.say("mend add()")
    answer(window, "g")
    window.until("what to do instead", gone="Yes, this once")
    window.write("use sum() instead")
    window.press("Enter")
    window.until("I will use sum().", READY)

    assert (workspace / "calc.py").read_text() == BROKEN
    [response] = bodies(steer, threads(steer)[0], "confirm_response")
    assert (response["decision"], response["guidance"]) == ("deny", "use sum() instead")


def test_several_questions_come_one_after_the_other(script, workspace, open_window):
    model = script({"tool_calls": [FIX, WRITE, outside("touch seen")]}, DONE)
    window = open_window("--model", model)

    window.until(READY)
    window.say("do three things")
    answer(window, "y", "wants to do 2 things", "change `calc.py`", "create `new.txt`")
    answer(window, "n", "wants to create `new.txt`")
    answer(window, "y", "outside the sandbox", "$ touch seen")
    window.until("Done.", READY)

    assert (workspace / "calc.py").read_text() == FIXED
    assert not (workspace / "new.txt").exists()
    assert (workspace / "seen").exists()


def test_escape_stops_the_turn_and_twice_takes_back_what_was_queued(
    steer, script, gate, open_window
):
    model = script({"text": "Waiting.", "tool_calls": [gate.wait]}, DONE, {"text": "Second."})
    window = open_window("--model", model)

    window.until(READY)
    window.say("wait")
    window.until("Waiting.", WORKING)
    gate.waiting()
    window.say("and then rest")
    window.until("› and then rest", QUEUED)
    window.press("Escape", "Escape")
    window.until("stopped", "│ and then rest")  # in the composer
    window.press("C-c")
    window.until(READY)

    assert gate.processes() == []
    [thread] = threads(steer)
    assert [body["ending"] for body in bodies(steer, thread, "turn_end")] == ["cancelled"]
    window.say("go on")
    window.until("Second.", READY)
    check_whole(steer, thread)


def test_completion_a_command_of_ones_own_and_the_palette(script, workspace, open_window):
    (workspace / "deep" / "down").mkdir(parents=True)
    (workspace / "deep" / "down" / "treasure.txt").write_text("gold\n")
    window = open_window("--model", script({"text": "I see it."}))

    window.until(READY)
    window.write("look at @treas")
    window.until("deep/down/treasure.txt")
    window.press("Tab")
    window.until("look at @deep/down/treasure.txt")
    window.press("Enter")
    window.until("› look at @deep/down/treasure.txt", "I see it.", READY)

    window.write("/unde")
    window.press("BSpace")
    window.until("Undo what the last turn did to files.")
    window.press("BSpace", "BSpace", "BSpace", "BSpace")
    window.until(READY)

    window.say("!echo sum $((40+2))")
    window.until("sum 42", "exit 0", READY)

    window.press("C-p")
    window.until("Do anything")
    window.write("theme")
    window.until("/theme", gone="/undo")
    window.press("Escape")
    window.until(READY, gone="Do anything")
    window.press("C-q")
    assert window.end() == 0


def test_threads_are_found_again_by_what_was_said(script, open_window):
    model = script({"text": "That was about birds."})
    for words in ("tell me about birds", "tell me about fish"):
        window = open_window("--model", model)
        window.until(READY)
        window.say(words)
        window.until("That was about birds.", READY)
        window.press("C-q")
        assert window.end() == 0

    window = open_window("--model", model)
    window.until(READY)
    window.say("/resume")
    window.until("tell me about birds", "tell me about fish")
    window.write("birds")
    window.until("tell me about birds", gone="tell me about fish")
    window.press("Enter")
    window.until("› tell me about birds", "That was about birds.")


def ground(window: Window) -> str:
    """The colour behind the first line of the screen."""
    found = re.search(r"48;[0-9;]+", window.coloured)
    return found[0] if found else ""


def test_panes_and_theme_are_as_they_were_left(script, open_window):
    model = script(DONE)
    window = open_window("--model", model, size=(120, 30))
    window.until(READY)
    dark = ground(window)
    window.press("F2")
    window.until("approvals on-request")
    window.say("/theme light")
    light = eventually(lambda: ground(window) != dark and ground(window))
    window.press("C-q")
    assert window.end() == 0

    window = open_window("--model", model, size=(120, 30))
    window.until(READY, "approvals on-request")
    assert ground(window) == light
    window.press("F2")
    window.until(READY, gone="approvals on-request")
    window.press("C-q")
    assert window.end() == 0

    window = open_window("--model", model, size=(120, 30))
    window.until(READY, gone="approvals on-request")


def test_another_window_steers_and_answers_and_goes_on_when_the_first_is_gone(
    steer, script, gate, open_window, workspace
):
    waits = {"text": "Waiting.", "tool_calls": [gate.wait]}
    model = script(waits, {"text": "Now.", "tool_calls": [FIX]}, {"text": "Over."}, DONE)
    working = open_window("--model", model)
    working.until(READY)
    working.say("wait")
    working.until("Waiting.", WORKING)
    gate.waiting()
    [thread] = threads(steer)

    other = open_window("attach", thread)
    other.until("› wait", "Waiting.", "runs in process", WORKING)
    other.say("let me in")
    other.until("› let me in", WAITING)
    other.press("Enter")
    other.until(STEERED)
    gate.open()
    other.until("Now.", ASKED)
    working.until("Now.", ASKED)
    answer(other, "y")
    other.until("Over.")
    working.until("Over.", READY)
    assert (workspace / "calc.py").read_text() == FIXED

    os.kill(working.pid, signal.SIGKILL)
    other.until(READY, gone="runs in process")
    other.say("now me")
    other.until("› now me", "Done.", READY)
    assert said(steer, thread) == ["wait", "let me in", "now me"]
    check_whole(steer, thread)


def test_the_first_is_killed_while_it_asks_and_the_second_answers(
    steer, script, workspace, open_window
):
    model = script({"text": "Now.", "tool_calls": [FIX]}, {"text": "Over."})
    first = open_window("--model", model)
    first.until(READY)
    first.say("mend add()")
    first.until("Now.", ASKED)
    [thread] = threads(steer)

    second = open_window("attach", thread)
    second.until("Now.", ASKED, "runs in process")
    first.kill()
    second.until(ASKED, gone="runs in process")
    answer(second, "y")
    second.until("Over.", READY)
    assert (workspace / "calc.py").read_text() == FIXED
    check_whole(steer, thread)


def test_detached_turns_go_on_and_one_comes_back(steer, script, gate, open_window, workspace):
    waits = {"text": "Waiting.", "tool_calls": [gate.wait]}
    model = script(waits, {"text": "Now.", "tool_calls": [FIX]}, {"text": "Over."}, DONE)
    window = open_window("--model", model)
    window.until(READY)
    window.say("wait")
    window.until("Waiting.", WORKING)
    gate.waiting()
    window.say("/detach")
    assert window.end() == 0
    [thread] = threads(steer)
    assert gate.processes()

    gate.open()
    window = open_window("attach", thread)
    window.until("Now.", ASKED)
    answer(window, "y")
    window.until("Over.")
    assert (workspace / "calc.py").read_text() == FIXED
    window.say("now me")
    window.until("› now me", "Done.", READY)
    check_whole(steer, thread)


def test_a_message_is_shown_while_its_hook_runs_and_a_detached_one_is_delivered(
    steer, script, gate, open_window, tmp_path
):
    file = tmp_path / "home/.config/steersman/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\n"
        f'type = "command"\ncommand = "{gate.command}"\n'
    )
    window = open_window("--model", script(DONE))
    window.until(READY)
    window.say("another task")
    window.until("sending another task")
    gate.waiting()
    window.press("C-b")
    assert window.end() == 0

    gate.open()
    [thread] = threads(steer)
    window = open_window("attach", thread)
    window.until("› another task", "Done.", READY)
    check_whole(steer, thread)


def test_a_small_terminal_without_colour(script, workspace, open_window):
    model = script({"text": "# Found\n\nIt *subtracts*.", "tool_calls": [FIX]}, {"text": "Mended."})
    window = open_window("--model", model, size=(80, 24), environ={"NO_COLOR": "1"})

    window.until(READY)
    window.say("mend add()")
    screen = window.until("+     return a + b", ASKED)
    assert all(len(line) <= 80 for line in screen.splitlines())
    assert not re.search(r"\x1b\[[0-9;]*(?<![0-9])[349][0-8][;m]", window.coloured)
    answer(window, "y")
    window.until("Mended.", READY)
    assert (workspace / "calc.py").read_text() == FIXED


@pytest.mark.parametrize("plain", ["--plain", "a screen reader"])
def test_line_by_line(steer, script, workspace, plain):
    model = script({"text": "It subtracts.", "tool_calls": [FIX]}, {"text": "Mended."})
    flags = ["--plain"] if plain == "--plain" else []
    if not flags:
        steer.environ["STEERSMAN_SCREEN_READER"] = "1"

    with Terminal(steer, *flags, "--model", model) as terminal:
        terminal.until("> ")
        terminal.press("mend add()\n")
        terminal.until("+    return a + b")
        terminal.until("or say what to do instead: ")
        terminal.press("y\n")
        terminal.until("Mended.")
        terminal.until("> ")
        terminal.press(CTRL_D)
        assert terminal.end() == 0

    assert "\x1b[?1049h" not in terminal.seen  # never the whole screen
    assert (workspace / "calc.py").read_text() == FIXED
    check_whole(steer, threads(steer)[0])


def test_a_task_on_the_command_line_is_said_at_once(script, open_window):
    window = open_window("--model", script({"text": "Hello."}), "--", "say hello")
    window.until("› say hello", "Hello.", READY)
    window.press("C-c", "C-c")
    assert window.end() == 0


def test_an_instruction_file_is_changed_in_ones_own_editor(steer, script, workspace, open_window):
    (workspace / "AGENTS.md").write_text("Use just.\n")
    pen = workspace.parent / "pen"
    pen.write_text('#!/bin/sh\necho "Be brief." >> "$1"\n')
    pen.chmod(0o755)
    steer.environ["EDITOR"] = str(pen)
    window = open_window("--model", script({"text": "Hi."}))

    window.until(READY)
    window.say("/memory")
    window.until("Instruction files", "AGENTS.md", "of this project")
    window.press("Enter")
    window.until("Use just.", "in your editor")
    window.press("C-g")
    window.until("Be brief.")
    window.press("C-s")
    window.until("Wrote", READY)
    assert (workspace / "AGENTS.md").read_text() == "Use just.\nBe brief.\n"

    window.say("# never tabs")
    window.until("Add this line to which file?")
    window.press("Enter")
    window.until("Added to", READY)
    assert (workspace / "AGENTS.md").read_text() == "Use just.\nBe brief.\n- never tabs\n"


def test_ctrl_z_suspends_and_fg_brings_the_screen_back(steer, script, open_window, tmp_path):
    model = script({"text": "Hello."}, {"text": "Here I am again."})
    begin = shlex.join(["sh", "-c", shlex.join([*STEER, "--model", model]) + "; true"])
    # Between the shell and the application is a program that started it, as `uv run` is.
    (tmp_path / "rc").write_text(f"PS1='shell> '\nalias begin={shlex.quote(begin)}\n")
    shell = ("bash", "--rcfile", str(tmp_path / "rc"), "-i")
    window = open_window(program=shell)
    window.until("shell>")
    window.say("begin")
    window.until(READY)
    window.say("good day")
    window.until("Hello.", READY)
    window.write("half a thought")
    before = window.screen

    window.press("C-z")

    window.until("Stopped", "shell>", gone="half a thought")
    window.say("echo $((6 * 7))")
    window.until("\n42\n")
    window.say("fg")
    assert window.until("Hello.", "half a thought", gone="shell>") == before
    window.press("Enter")
    window.until("› half a thought", "Here I am again.", READY)
    window.press("C-p")  # also from a list or a question
    window.until("Do anything")
    window.press("C-z")
    window.until("Stopped", "shell>", gone="Do anything")
    window.say("fg")
    window.until("Do anything", "Hello.", gone="shell>")


def test_ctrl_z_where_no_shell_waits_suspends_nothing(script, open_window):
    window = open_window("--model", script(DONE))
    window.until(READY)
    window.write("half a thought")
    window.press("C-z")
    window.until("There is no shell to return to. ^B detaches, ^Q quits.", "half a thought")
    window.press("C-_")
    window.until(READY, gone="half a thought")


def test_a_question_of_the_model_is_there_again_after_a_crash(steer, script, open_window):
    stores = [{"label": "Postgres", "description": "a server"}, {"label": "SQLite"}]
    store = {"question": "Which store?", "header": "Store", "options": stores}
    model = script(
        {"tool_calls": [call("ask_user", questions=[store])]},
        {"expect": "SQLite", "text": "It is SQLite."},
    )
    shown = ("A question: Store", "Which store?", "› 1. Postgres  a server", "  2. SQLite",
             "  3. Something else: type your own answer", "esc decline")  # fmt: skip
    window = open_window("--model", model, size=(80, 24))
    window.until(READY)
    window.say("set it up")
    window.until(*shown)
    window.kill()

    (thread,) = threads(steer)
    window = open_window("--resume", thread, size=(80, 24))
    window.until(*shown)
    time.sleep(SEEN)
    window.press("Down", "Enter")
    window.until("It is SQLite.", READY)
    (asked,), (answered,) = (bodies(steer, thread, kind) for kind in ("question", "answer"))
    assert (asked["header"], answered["text"]) == ("Store", "SQLite")
    check_whole(steer, thread)
