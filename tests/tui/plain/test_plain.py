"""The conversation line by line, in a real terminal: answers, steering, commands, bad input."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from steersman.records.message import encode_message
from steersman.store.log import read_messages
from steersman.store.sqlite import SqliteStore
from tests.cli.kit import BROKEN, DONE, FIX, FIXED, eventually, shell
from tests.cli.terminal import CTRL_C, CTRL_D, Terminal
from tests.tui.plain.talk import Talk, piped
from tests.world import call

ASK = "or say what to do instead: "
WRITE = call("workspace_write_file", path="new.txt", content="new\n")


def messages(steer):
    """The log of the thread last worked on."""
    store = SqliteStore(Path(steer.environ["STEERSMAN_HOME"]))
    try:
        thread = store.threads(limit=1)[0]
        return [json.loads(encode_message(m)) for m in read_messages(store, thread.id)]
    finally:
        store.close()


def said(steer):
    """What the model was told by the person."""
    return [m["body"]["text"] for m in messages(steer) if m["kind"] == "user"]


def test_a_conversation(steer, script, workspace):
    model = script({"tool_calls": [FIX]}, {"expect": "calc.py", "text": "Mended."}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("fix add")
        talk.until(ASK)
        assert (workspace / "calc.py").read_text() == BROKEN
        talk.say("y")
        talk.until("Mended.\n✓ done")
        talk.ready()
        talk.done("and now?")
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert (workspace / "calc.py").read_text() == FIXED
    assert said(steer) == ["fix add", "and now?"]
    assert messages(steer)[-1]["body"] == {"status": "done", "exit": 0}
    lines = talk.text.splitlines()
    assert lines[1] == "> fix add"
    assert lines[2] == "● edit_files calc.py"
    assert lines[-1].startswith("Thread ")


def test_a_conversation_with_the_tools_of_a_list(steer, script, workspace):
    model = script({"tool_calls": [call("workspace_read_file", path="calc.py"), WRITE]}, DONE)

    with Talk(steer, model, "--tools", "Read", "--yes") as talk:
        talk.ready()
        talk.done("go")
        talk.press(CTRL_D)
        assert talk.end() == 0

    results = [m["body"]["status"] for m in messages(steer) if m["kind"] == "tool_result"]
    assert sorted(results) == ["malformed", "ok"]
    assert not (workspace / "new.txt").exists()


def test_no_line_is_drawn_over_and_nothing_is_coloured(steer, script):
    model = script({"tool_calls": [shell("echo one; echo two")]}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.done("go")
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert "\x1b" not in talk.seen
    assert "\r" not in talk.seen.replace("\r\n", "\n")


def test_a_line_is_queued_while_a_turn_runs_and_enter_alone_sends_it_now(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, {"text": "Heard."}, {"text": "Then that."})

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("work")
        gate.waiting()
        talk.say("also this")
        talk.until("· queued for the next turn: also this")
        talk.say("")
        talk.until("· it gets that at its next step")
        talk.say("then that")
        talk.until("· queued for the next turn: then that")
        talk.say("/undo")
        talk.until("/undo cannot be used while a turn runs.")
        gate.open()
        talk.until("› also this\nHeard.")
        talk.until("› then that\nThen that.")
        talk.ready()
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert said(steer) == ["work", "also this", "then that"]


def test_ctrl_c_stops_a_command_of_ones_own_first(steer, script, gate):
    with Talk(steer, script(DONE)) as talk:
        talk.ready()
        talk.say(f"!{gate.wait['arguments']['command']}")
        gate.waiting()
        talk.press(CTRL_C)
        talk.until("Stopping the command.")
        talk.ready()
        assert gate.processes() == []
        talk.press(CTRL_C)
        talk.until("Ctrl+C again quits.")
        talk.press(CTRL_C)
        assert talk.end() == 0


def test_ctrl_c_stops_the_turn_and_twice_leaves(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("work")
        gate.waiting()
        talk.press(CTRL_C)
        talk.until("Stopping the turn. Ctrl+C again quits.")
        talk.until("✗ cancelled")
        talk.ready()
        assert gate.processes() == []
        talk.done("/status")
        talk.press(CTRL_C)
        talk.until("Ctrl+C again quits.")
        talk.press(CTRL_C)
        assert talk.end() == 0

    endings = [m["body"]["ending"] for m in messages(steer) if m["kind"] == "turn_end"]
    assert endings == ["cancelled"]


def test_ctrl_c_again_while_the_turn_stops_leaves_a_whole_log(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("work")
        gate.waiting()
        talk.press(CTRL_C)
        talk.until("Stopping the turn.")
        talk.press(CTRL_C)
        assert talk.end() == 0

    kinds = [message["kind"] for message in messages(steer)]
    assert kinds[-2:] == ["turn_end", "session_end"]
    assert gate.processes() == []


def test_ctrl_c_at_a_request_stops_the_turn(steer, script, workspace):
    model = script({"tool_calls": [FIX]}, {"text": "Never said."}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("fix add")
        talk.until(ASK)
        talk.press(CTRL_C)
        talk.until("✗ cancelled")
        talk.ready()
        talk.say("/status")
        talk.until("- now idle")
        talk.ready()
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert (workspace / "calc.py").read_text() == BROKEN


def test_ctrl_d_at_a_request_leaves_and_nothing_is_changed(steer, script, workspace):
    model = script({"tool_calls": [FIX]}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("fix add")
        talk.until(ASK)
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert (workspace / "calc.py").read_text() == BROKEN
    assert messages(steer)[-1]["kind"] == "session_end"


def test_a_kill_ends_it_in_order(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("work")
        gate.waiting()
        os.kill(talk.process.pid, signal.SIGTERM)
        assert talk.end() == 130

    assert messages(steer)[-1]["kind"] == "session_end"
    eventually(lambda: gate.processes() == [])


def ended(steer):
    """How the turn ended, once the process that ran it has left."""
    eventually(lambda: messages(steer)[-1]["kind"] == "session_end")
    return messages(steer)[-2]["body"]["ending"]


def test_a_closed_terminal_leaves_the_turn_running(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("work")
        gate.waiting()
        talk.close()
        assert talk.process.wait(timeout=60) == 0  # the shell goes on
        assert gate.processes()
        gate.open()

    assert ended(steer) == "done"


def test_detach_leaves_the_turn_running(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("work")
        gate.waiting()
        talk.say("/detach")
        talk.until("The turn continues in the background. Come back with: steer attach ")
        assert talk.process.wait(timeout=60) == 0  # the shell goes on
        assert gate.processes()
        gate.open()

    assert ended(steer) == "done"


def test_a_closed_terminal_ends_it_in_order_where_that_is_wanted(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)
    steer.environ["STEERSMAN_ON_HANGUP"] = "cancel"

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("work")
        gate.waiting()
        talk.close()
        talk.process.wait(timeout=60)

    assert messages(steer)[-1]["kind"] == "session_end"
    eventually(lambda: gate.processes() == [])


def test_commands_ask_and_answer_on_lines(steer, script, workspace):
    model = script({"tool_calls": [FIX]}, {"text": "Mended."}, {"text": "Other."})

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("fix add")
        talk.until(ASK)
        talk.say("y")
        talk.ready()
        talk.say("/diff")
        talk.until("Changes: 1 file\n--- a/calc.py")
        talk.ready()
        talk.say("/undo")
        talk.until("Undo 1 change? [y]es, [n]o: ")
        talk.say("maybe")
        talk.until("[n]o: ")
        talk.done("y")
        assert (workspace / "calc.py").read_text() == BROKEN
        talk.say("/undo")
        talk.until("There is nothing to undo.")
        talk.ready()
        talk.done("/fork")
        talk.say("/resume")
        talk.until("or nothing: ")
        talk.say("nothing like it")
        talk.until("No match.")
        talk.until("or nothing: ")
        talk.say("fix")
        talk.until("or nothing: ")
        talk.press(CTRL_C)
        talk.ready()
        talk.say("/resume")
        talk.until("or nothing: ")
        talk.say("1")
        talk.until("› fix add\n")
        talk.until("Mended.")
        talk.ready()
        talk.say("/modle")
        talk.until("Similar: /model")
        talk.ready()
        talk.say("/quit")
        assert talk.end() == 0


def test_review_ends_and_the_mode_is_the_one_before(steer, script):
    model = script({"text": "All well."}, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.done("/review")
        assert talk.text.count("All well.") == 1
        talk.say("/status")
        talk.until("- mode code")
        talk.ready()
        talk.press(CTRL_D)
        assert talk.end() == 0


def test_a_command_of_the_person_goes_through_the_gate(steer, script):
    model = script(DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("!echo it is $((6 * 7))")
        talk.until("it is 42")
        talk.ready()
        talk.press(CTRL_D)
        assert talk.end() == 0

    kinds = [message["kind"] for message in messages(steer)]
    assert kinds.index("policy") < kinds.index("tool_result")


def test_an_editor_is_answered_with_what_to_do(steer, script):
    with Talk(steer, script(DONE)) as talk:
        talk.ready()
        talk.say("!vim calc.py")
        talk.until("`vim calc.py` needs a terminal")
        talk.until("another terminal")
        talk.ready()
        talk.press(CTRL_D)
        assert talk.end() == 0


def test_a_paste_is_one_message_and_a_backslash_goes_on(steer, script):
    model = script(DONE, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.done("one\ntwo\nthree")
        talk.press("four \\\n")
        talk.until("> four ")
        talk.done("five")
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert said(steer) == ["one\ntwo\nthree", "four \nfive"]


def test_a_mention_begins_the_next_line_and_stays_in_context_until_it_is_dropped(steer, script):
    model = script(DONE, DONE, DONE)

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("/mention calc.py")
        talk.until("> @calc.py ")
        talk.done("is wrong")
        talk.done("why?")
        talk.done("/drop calc.py")
        talk.done("and now?")
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert said(steer) == [
        "@calc.py is wrong",
        "why?\n\nFiles in context: @calc.py",
        "and now?\n\nFiles in context: none",
    ]


def test_escape_sequences_and_bytes_are_shown_safely(steer, script, workspace):
    evil = shell(r"printf '\033[2J\033]0;owned\007 \377\376 end\n'")
    model = script({"tool_calls": [evil]}, {"text": "\x1b[31mred"})

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("go")
        talk.until("\\x1b[31mred")
        talk.ready()
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert "\x1b" not in talk.seen


def test_a_thread_is_taken_up_again(steer, script, workspace):
    model = script({"text": "First."}, {"text": "Second."}, {"text": "Third."})
    with Talk(steer, model) as talk:
        talk.ready()
        talk.done("one")
        talk.done("two")
        talk.process.kill()
        talk.process.wait()
    thread = messages(steer)[0]["thread"]

    with Talk(steer, model, "--resume", thread) as talk:
        talk.ready()
        assert "First." not in talk.text
        assert f"earlier messages: steer replay {thread}\n› two\nSecond.\n" in talk.text
        talk.done("three")
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert said(steer) == ["one", "two", "three"]


def test_without_a_model_it_says_so_and_goes_on(steer, workspace):
    with Talk(steer, "") as talk:
        talk.until("Log in with a key")
        talk.until("nothing: ")
        talk.done("")
        talk.say("hello")
        talk.until("No model was chosen.")
        talk.ready()
        talk.press(CTRL_D)
        assert talk.end() == 0


def test_a_folder_that_brings_something_is_asked_about(steer, script, workspace):
    place = workspace / ".steersman/commands"
    place.mkdir(parents=True)
    (place / "ship.md").write_text("Ship $1.")
    model = script({"text": "Shipped."})

    with Talk(steer, model) as talk:
        talk.until("Use it from now on? [y]es, [n]o: ")
        talk.say("y")
        talk.ready()
        talk.say("/ship it")
        talk.until("Shipped.")
        talk.ready()
        talk.press(CTRL_D)
        assert talk.end() == 0

    assert said(steer) == ["Ship it."]


def test_from_a_pipe_each_line_waits_for_the_turn_before(steer, script, workspace):
    model = script({"tool_calls": [shell("sleep 0.2")]}, {"text": "One."}, {"text": "Two."})

    done = piped(steer, model, input="first\n\nsecond\n/status\n")

    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert said(steer) == ["first", "second"]
    assert done.stdout.index("One.") < done.stdout.index("Two.") < done.stdout.index("Status")


def test_from_a_pipe_nobody_can_allow_anything(steer, script, workspace):
    model = script({"tool_calls": [WRITE]}, DONE)

    done = piped(steer, model, input="write\ny\n")

    assert "Traceback" not in done.stderr
    assert not (workspace / "new.txt").exists()


def test_words_without_quotes_are_said_and_a_thread_is_chosen_from_a_list(steer, script):
    model = script(DONE, DONE)
    begun = steer("fix", "the", "bug", "--plain", "--model", model)
    assert begun.returncode == 0, begun.stderr
    again = steer("-r", "--plain", "--model", model, stdin="1\nand more\n")
    assert "Resume a thread\n  1  fix the bug" in again.stdout
    assert said(steer) == ["fix the bug", "and more"]
    last = steer("-c", "--plain", "--model", model, stdin="/status\n")
    assert "fix the bug" in last.stdout


def test_all_of_an_output_is_printed(steer, script):
    count = call("workspace_run_command", command="seq -f 'number %g' 9000")
    model = script({"tool_calls": [count]}, {"text": "Counted."})
    talk = piped(steer, model, input="count\n/output number\n/output nothing of it\n")
    lines = [line.strip() for line in talk.stdout.partition("Counted.")[2].splitlines()]
    assert [one for one in lines if one.startswith("number")] == [
        f"number {at}" for at in range(1, 9001)
    ]
    assert "There is no output with “nothing of it” in this thread." in lines


def test_what_is_too_long_is_not_said(steer, script):
    done = piped(steer, script(DONE), input="x" * 300_000 + "\n")

    assert done.returncode == 2
    assert "That is too long to send: 300,000 characters." in done.stdout


@pytest.mark.parametrize("text", ["", "words\n", "\n\n/help\n/quit\nnever said\n"])
def test_from_a_file(steer, script, tmp_path, text):
    path = tmp_path / "lines"
    path.write_text(text)

    with path.open() as lines:
        done = piped(steer, script(DONE), stdin=lines)

    assert (done.returncode, done.stderr) == (0, "")
    assert "never said" not in done.stdout


@pytest.mark.parametrize("word", ["exit", "quit", ":q"])
def test_a_bare_word_leaves_and_reaches_no_model(steer, script, word):
    done = piped(steer, script(DONE), input=f"help\n{word}\nnever said\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert "/undo" in done.stdout
    assert "No threads" in steer("threads", "list").stdout


def test_what_a_turn_changed_is_printed_with_the_ways_to_undo_it(steer, script, workspace):
    """In plain mode with slash commands, after `steer run` with commands of the shell."""
    old = "".join(f"line {n}\n" for n in range(40))
    new = old.replace("line 2\n", "line two\n").replace("line 30\n", "")
    (workspace / "long.py").write_text(old)
    write = call("workspace_write_file", path="long.py", content=new)
    model = script({"tool_calls": [write]}, DONE)
    with Talk(steer, model, "--approvals", "review") as talk:
        talk.ready()
        talk.say("change it")
        talk.until("1 file changed, +1 −2\n  long.py  +1 −2  2 hunks\n  undo all: /undo\n")
        talk.until("  undo a hunk: /undo long.py:2\n")
        talk.ready()
        talk.say("/undo long.py:2")
        talk.until("Undo 1 change?")
        talk.say("y")
        talk.until("Undone: 1 change.\n/redo reverses this.")
        assert (workspace / "long.py").read_text() == old.replace("line 2\n", "line two\n")
    (workspace / "long.py").write_text(old)
    with Terminal(steer, "run", "--model", model, "--approvals", "review", "change it") as shell:
        shell.until("1 file changed, +1 −2\n")
        shell.until(" --turn 1 --hunk long.py:2\n")
        shell.until(" --turn 1 --list\n")


def test_leaving_asks_before_it_stops_background_jobs(steer, script):
    begun = call("workspace_run_command", command="sleep 600", background=True, wait_timeout=0.1)
    with Talk(steer, script({"tool_calls": [begun]}, DONE), "--approvals", "review") as talk:
        talk.ready()
        talk.say("begin")
        talk.until("Done.")
        talk.ready()
        for key, answer in ((CTRL_D, "n"), (CTRL_C, "n"), (CTRL_D, "y")):
            talk.press(key)
            if key == CTRL_C:
                talk.until("Ctrl+C again quits.")
                talk.press(key)
            talk.until("Leave and stop 1 background job? [y]es, [n]o: ")
            talk.say(answer)
            if answer == "n":
                talk.ready()
        talk.until("Background job p1 (sleep 600) was ended")
        assert talk.end() == 0


def test_a_commit_is_chosen_line_by_line(steer, script, workspace):
    def git(*words):
        done = subprocess.run(["git", *words], cwd=workspace, check=True, capture_output=True)
        return done.stdout.decode()

    git("config", "user.name", "n")
    git("config", "user.email", "e@example.org")
    with Talk(steer, script(DONE)) as talk:
        talk.ready()
        talk.say("/commit -m Begin")
        asked = "[c]ommit, [e]dit, [d]iff, a number to mark or unmark, or nothing to cancel: "
        talk.until(asked)
        talk.say("1")
        talk.until("[x] new README.md")
        talk.until("Commit 1 file?")
        talk.until(asked)
        talk.say("2")
        talk.until("Commit 2 files?")
        talk.until(asked)
        talk.say("1")
        talk.until("[ ] new README.md")
        talk.until(asked)
        talk.say("d")
        talk.until("+def add")
        talk.until(asked)
        talk.say("c")
        talk.until("1 file not committed.")
        talk.press(CTRL_D)
        assert talk.end() == 0
    assert git("log", "--format=%s", "--name-only") == "Begin\n\ncalc.py\n"


@pytest.mark.parametrize(("model", "code"), [("bogus:x", 2), ("scripted:nowhere.json", 1)])
def test_a_model_that_cannot_be_used_is_in_the_exit_code_as_with_run(steer, model, code):
    assert steer("run", "--model", model, "hello").returncode == code
    assert piped(steer, model, input="hello\n").returncode == code


def test_what_the_model_asks_is_answered_by_numbers_or_words(steer, script):
    stores = [{"label": "Postgres", "description": "a server"}, {"label": "SQLite"}]
    one = {"question": "Which store?", "header": "Store", "options": stores}
    asks = {"tool_calls": [call("ask_user", questions=[one, {**one, "multiple": True}, one])]}
    model = script(asks, {"expect": "declined to answer", "text": "Noted."})

    with Talk(steer, model) as talk:
        talk.ready()
        talk.say("set it up")
        talk.until("? Store (1 of 3): Which store?\n  1 Postgres: a server\n  2 SQLite\n")
        talk.until("a number or your own words; Enter declines: ")
        talk.say("2")
        talk.until("numbers such as 1,2 or your own words; Enter declines: ")
        talk.say("2,1")
        talk.until("Enter declines: ")
        talk.say("")
        talk.until("Noted.")
        talk.ready()
        talk.press(CTRL_D)
        assert talk.end() == 0

    given = [m["body"] for m in messages(steer) if m["kind"] == "answer"]
    assert [(one["text"], one.get("by")) for one in given] == [
        ("SQLite", None), ("Postgres, SQLite", None), ("", "declined"),
    ]  # fmt: skip
