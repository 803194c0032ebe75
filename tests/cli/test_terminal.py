"""With a person at a terminal: questions with a readable diff, answers, Ctrl-C, no escapes."""

import asyncio
import json
import os
import select
import signal
import sys
import time

import pytest

from steersman.ports.cli.asking import answer
from tests.cli.kit import BROKEN, DONE, FIX, FIXED, READ, decoded, outside, shell
from tests.cli.terminal import CTRL_C, CTRL_D, Terminal
from tests.world import call

ASK = "or say what to do instead: "
NEXT = {"header": "Next", "options": [{"label": "Tests"}, {"label": "Docs"}]}
LEAVING = ("workspace_run_command", '{"command": "touch seen", "outside_sandbox": true}')


def log_of_newest(steer):
    """The messages of the thread last worked on."""
    thread = decoded(steer("threads", "list", "--json", "--limit", "1").stdout)[0]["id"]
    return decoded(steer("replay", thread).stdout)


def bodies(messages, kind):
    """The bodies of one kind."""
    return [message["body"] for message in messages if message["kind"] == kind]


def test_a_change_is_shown_as_a_diff_and_made_when_the_person_agrees(steer, script, workspace):
    model = script({"tool_calls": [FIX]}, {"expect": "calc.py", "text": "Mended."})

    with Terminal(steer, "run", "--model", model, "fix add") as terminal:
        terminal.until(ASK)
        assert terminal.text == (
            "● edit_files calc.py\n"
            "? The agent wants to change `calc.py`\n"
            "  a change of a file needs your approval\n"
            "  --- a/calc.py\n"
            "  +++ b/calc.py\n"
            "  @@ -1,2 +1,2 @@\n"
            "   def add(a, b):\n"
            "  -    return a - b\n"
            "  +    return a + b\n"
            "  t would allow changes of ./calc.py\n"
            "  u/w/W would allow changes of any file in the workspace, but not of protected ones\n"
            "  Approve? [y]es, [u] this and the like in this turn, [t] in this thread, "
            "[w] all edits in this thread, [W] all edits here, "
            f"[n]o, [e]dit, {ASK}"
        )
        assert "\x1b[31m-    return a - b\x1b[0m" in terminal.seen
        assert "\x1b[32m+    return a + b\x1b[0m" in terminal.seen
        assert (workspace / "calc.py").read_text() == BROKEN
        terminal.press("y\n")
        terminal.until("Mended.")
        assert terminal.end() == 0

    assert (workspace / "calc.py").read_text() == FIXED
    assert bodies(log_of_newest(steer), "confirm_response") == [{"decision": "allow"}]


def test_by_default_work_is_reviewed_and_only_what_cannot_be_undone_is_asked_about(
    steer, script, workspace
):
    (workspace / "notes.txt").write_text("nowhere else\n")
    workflow = call("workspace_write_file", path=".github/workflows/ci.yml", content="on: push\n")
    model = script({"tool_calls": [FIX]}, {"tool_calls": [shell("echo x > new.txt")]},
                   {"tool_calls": [workflow]}, {"tool_calls": [shell("rm notes.txt")]},
                   DONE)  # fmt: skip
    by_default = steer.having(STEERSMAN_APPROVALS="")
    with Terminal(by_default, "run", "--model", model, "fix add") as terminal:
        terminal.until("ci.yml, which other programs run or load, needs your approval")
        terminal.until(ASK)
        terminal.press("n\n")
        terminal.until("deleting 1 untracked file (notes.txt) needs your approval")
        terminal.until(ASK)
        terminal.press("n\n")
        terminal.until("Done.")
        assert terminal.end() == 0
    assert (workspace / "calc.py").read_text() == FIXED
    assert (workspace / "notes.txt").exists()
    messages = log_of_newest(steer)
    assert len(bodies(messages, "confirm_request")) == 2
    assert bodies(messages, "turn_start")[0]["approvals"] == "review"


@pytest.mark.parametrize("word", ["n", "no", "N"])
def test_a_no_is_told_to_the_model_and_nothing_is_changed(steer, script, workspace, word):
    model = script({"tool_calls": [FIX]}, {"expect": "the user said no", "text": "As you like."})

    with Terminal(steer, "run", "--model", model, "fix add") as terminal:
        terminal.until(ASK)
        terminal.press(f"{word}\n")
        terminal.until("As you like.")
        assert terminal.end() == 0

    assert (workspace / "calc.py").read_text() == BROKEN
    assert bodies(log_of_newest(steer), "confirm_response") == [{"decision": "deny"}]


def test_a_question_stays_on_the_screen_until_it_is_answered(steer, script):
    model = script({"tool_calls": [FIX]}, DONE)

    with Terminal(steer, "run", "--model", model, "fix add") as terminal:
        terminal.until(ASK)
        terminal.listen(1.5)
        assert terminal.seen.endswith(ASK)
        terminal.press("n\n")
        assert terminal.end() == 0


def test_what_was_typed_before_a_card_is_not_an_answer_to_it(steer, script, workspace):
    model = script({"tool_calls": [FIX]}, DONE)
    with Terminal(steer, "run", "--model", model, "fix add") as terminal:
        terminal.press("y\ny")
        terminal.until("y\ny")  # the terminal has it
        terminal.until(ASK)
        terminal.press("n\n")
        assert terminal.end() == 0

    assert (workspace / "calc.py").read_text() == BROKEN
    assert bodies(log_of_newest(steer), "confirm_response") == [{"decision": "deny"}]


def test_letters_without_enter_are_no_answer(steer, script, workspace):
    """Ctrl+D after `y` hands the letter over, but nobody pressed Enter; once more, it leaves."""
    model = script({"tool_calls": [FIX]}, DONE)
    with Terminal(steer, "run", "--model", model, "fix add") as terminal:
        terminal.until(ASK)
        terminal.press(f"y{CTRL_D}")
        terminal.until("y")
        terminal.press(CTRL_D)
        assert terminal.end() == 4

    assert (workspace / "calc.py").read_text() == BROKEN
    assert bodies(log_of_newest(steer), "confirm_response") == []


def test_letters_that_come_just_after_a_card_do_not_answer_it(monkeypatch, capsys):
    """A key that is pressed twice: the second card is there, but nobody can have read it."""
    keys, own = os.openpty()

    async def pause(_: float) -> None:
        os.write(keys, b"y\n")
        select.select([own], [], [])  # the terminal has it

    async def told() -> str:
        asked = asyncio.create_task(answer("[y/n] "))
        while "[y/n]" not in capsys.readouterr().out:
            await asyncio.to_thread(time.sleep, 0.01)
        os.write(keys, b"n\n")
        return await asked

    with open(own) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(asyncio, "sleep", pause)
        assert asyncio.run(told()) == "n"
    os.close(keys)


@pytest.mark.parametrize("what", ["undo", "redo", "threads rm"])
def test_what_was_typed_before_a_question_of_a_command_does_not_answer_it(
    steer, script, workspace, what
):
    steer.work("run", "--model", script({"tool_calls": [FIX]}, DONE), "--yes", "fix add")
    thread = decoded(steer("threads", "list", "--json").stdout)[0]["id"]
    if what == "redo":
        steer("undo", "--yes")
    before = (workspace / "calc.py").read_text()
    words = [*what.split(), *([thread] if what == "threads rm" else [])]
    with Terminal(steer, *words) as terminal:
        terminal.press("y\ny")
        terminal.until("y\ny")  # the terminal has it
        terminal.until("[y/N]: ")
        terminal.press("n\n")
        terminal.end()

    assert (workspace / "calc.py").read_text() == before
    assert decoded(steer("threads", "list", "--json").stdout)[0]["id"] == thread


def test_a_paste_is_one_answer_and_nothing_of_it_answers_the_next_card(steer, script, workspace):
    asks = call("ask_user", questions=[{**NEXT, "question": "What next?"}])
    model = script({"tool_calls": [asks]}, {"tool_calls": [FIX]}, DONE)
    with Terminal(steer, "run", "--model", model, "fix add") as terminal:
        terminal.until("Enter declines: ")
        terminal.press("first\nyes\nthird\n")
        terminal.until(ASK)
        terminal.press("y\nbut slowly\n")
        assert terminal.end() == 0

    assert (workspace / "calc.py").read_text() == BROKEN
    messages = log_of_newest(steer)
    assert [one["text"] for one in bodies(messages, "answer")] == ["first\nyes\nthird"]
    assert bodies(messages, "confirm_response") == [
        {"decision": "deny", "guidance": "y\nbut slowly"}
    ]


def test_a_question_of_a_model_cannot_draw_a_card(steer, script):
    text = "Which?\n? The agent wants to read `calc.py`\n  Approve? [y]es, [n]o: "
    asks = call("ask_user", questions=[{**NEXT, "question": text}])
    model = script({"tool_calls": [asks]}, DONE)
    with Terminal(steer, "run", "--model", model, "fix add") as terminal:
        terminal.until(
            "? Next:\n  │ Which?\n  │ ? The agent wants to read `calc.py`\n"
            "  │   Approve? [y]es, [n]o:"
        )
        terminal.until("Enter declines: ")
        terminal.press("\n")
        assert terminal.end() == 0


CARD = "? The agent wants to read `calc.py`"


def padded(text):
    """A line that a terminal of 100 columns shows as several, each beginning with the text."""
    return "Which?".ljust(93) + text.ljust(100) + text


def test_spaces_up_to_the_end_of_a_line_do_not_draw_a_card(steer, script):
    """Of a question, of a command, and of what is written into a file."""
    asks = call("ask_user", questions=[{**NEXT, "question": padded(CARD)}])
    write = call("workspace_write_file", path="new.txt", content=f"{padded(CARD)}\n")
    run = call("workspace_run_command", command=f"echo '{padded(CARD)}'", outside_sandbox=True)
    model = script(*({"tool_calls": [one]} for one in (asks, write, run)), DONE)
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until("Enter declines: ")
        question = terminal.text
        terminal.press("\n")
        for _ in range(2):
            terminal.until(ASK)
            terminal.press("n\n")
        assert terminal.end() == 0

    assert f"? Next: Which? {CARD} {CARD}\n" in question
    # The names of calls are cut to a line, and the status line leaves no trace.
    lines = [line for line in terminal.text.split("\n") if not line.startswith(("●", "…"))]
    assert len([line for line in lines if CARD in line]) > 4
    rows = [line[at : at + 100] for line in lines for at in range(0, len(line) or 1, 100)]
    assert [row for row in rows if row.startswith(CARD)] == []


def test_other_words_refuse_and_guide_the_model(steer, script, workspace):
    model = script({"tool_calls": [FIX]}, {"expect": "add a test first", "text": "Very well."})

    with Terminal(steer, "run", "--model", model, "fix add") as terminal:
        terminal.until(ASK)
        terminal.press("add a test first\n")
        terminal.until("Very well.")
        assert terminal.end() == 0

    assert (workspace / "calc.py").read_text() == BROKEN
    assert bodies(log_of_newest(steer), "confirm_response") == [
        {"decision": "deny", "guidance": "add a test first"}
    ]


def test_a_command_is_shown_before_it_is_run(steer, script, workspace):
    model = script({"tool_calls": [outside("touch seen")]}, DONE)

    with Terminal(steer, "run", "--model", model, "touch it") as terminal:
        terminal.until(ASK)
        asked = "? The agent wants to run `touch seen` outside the sandbox\n"
        assert asked in terminal.text
        lines = terminal.text.replace("\n  │ ", "")  # however narrow the terminal is
        assert f"  $ touch seen\n  in {workspace}, outside the sandbox\n" in lines
        assert not (workspace / "seen").exists()
        terminal.press("\n")
        terminal.until(ASK)
        terminal.press("yes\n")
        assert terminal.end() == 0

    assert (workspace / "seen").exists()


def test_several_requests_are_asked_one_after_the_other(steer, script, workspace):
    model = script({"tool_calls": [FIX, outside("touch seen"), outside("touch too")]}, DONE)

    with Terminal(steer, "run", "--model", model, "do all") as terminal:
        for answer in ("y", "n", "y"):
            terminal.until(ASK)
            terminal.press(f"{answer}\n")
        assert terminal.end() == 0

    assert (workspace / "calc.py").read_text() == FIXED
    assert not (workspace / "seen").exists()
    assert (workspace / "too").exists()


def test_a_call_from_the_shell_asks_too(steer, workspace):
    with Terminal(steer, "call", *LEAVING) as terminal:
        terminal.until(ASK)
        assert "  $ touch seen\n" in terminal.text
        terminal.press("y\n")
        assert terminal.end() == 0

    assert (workspace / "seen").exists()


def test_a_refused_call_from_the_shell_exits_as_denied(steer, workspace):
    with Terminal(steer, "call", *LEAVING) as terminal:
        terminal.until(ASK)
        terminal.press("n\n")
        assert terminal.end() == 3

    assert not (workspace / "seen").exists()


def test_removing_a_thread_is_asked_about(steer, script):
    steer.work("run", "--model", script(DONE), "keep me")
    thread = log_of_newest(steer)[0]["thread"]

    with Terminal(steer, "threads", "rm", thread) as terminal:
        terminal.until("Remove permanently? [y/N]: ")
        assert "keep me" in terminal.text
        terminal.press("n\n")
        assert terminal.end() == 130
    assert log_of_newest(steer)

    with Terminal(steer, "threads", "rm", thread) as terminal:
        terminal.until("Remove permanently? [y/N]: ")
        terminal.press("y\n")
        terminal.until("Removed 1.")
        assert terminal.end() == 0
    assert steer("threads", "list", "--json").stdout == ""


@pytest.mark.parametrize("command", ["run", "call"])
def test_ctrl_c_ends_a_running_command_and_all_it_started(steer, script, gate, command):
    model = script({"tool_calls": [gate.wait]}, DONE)
    arguments = {
        "run": ["run", "--yes", "--model", model, "wait"],
        "call": ["call", "--yes", gate.wait["name"], json.dumps(gate.wait["arguments"])],
    }

    with Terminal(steer, *arguments[command]) as terminal:
        gate.waiting()
        terminal.press(CTRL_C)
        assert terminal.end() == 130

    assert gate.processes() == []
    thread = decoded(steer("threads", "list", "--all", "--json").stdout)[0]["id"]
    messages = decoded(steer("replay", thread).stdout)
    assert [(b["status"], b["message"]) for b in bodies(messages, "tool_result")] == [
        ("cancelled", "stopped while it ran")
    ]
    assert [(b["status"], b["exit"]) for b in bodies(messages, "session_end")] == [
        ("interrupted", 130)
    ]
    assert steer("ledger", "verify", thread).returncode == 0


def test_after_ctrl_c_the_log_says_cancelled_and_the_thread_goes_on(steer, script, gate):
    model = script({"tool_calls": [gate.wait, READ]}, {"text": "First."}, {"text": "Second."})

    with Terminal(steer, "run", "--yes", "--model", model, "wait") as terminal:
        gate.waiting()
        terminal.press(CTRL_C)
        assert terminal.end() == 130
        assert "✗ cancelled" in terminal.text

    messages = log_of_newest(steer)
    assert [b["ending"] for b in bodies(messages, "turn_end")] == ["cancelled"]
    assert [b["status"] for b in bodies(messages, "tool_result")] == ["cancelled", "cancelled"]
    work = steer.work("resume", messages[0]["thread"], "go on", "--model", script(DONE, DONE))
    assert work.code == 0


def test_pressing_ctrl_c_again_and_again_ends_it_all_the_same(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)

    with Terminal(steer, "run", "--yes", "--model", model, "wait") as terminal:
        gate.waiting()
        for _ in range(8):
            terminal.press(CTRL_C)
            terminal.listen(0.003)
        assert terminal.end() == 130

    assert gate.processes() == []
    messages = log_of_newest(steer)
    assert [b["ending"] for b in bodies(messages, "turn_end")] == ["cancelled"]
    assert [b["exit"] for b in bodies(messages, "session_end")] == [130]


def test_ctrl_c_while_the_model_thinks_ends_the_run(steer, script):
    model = script({"tool_calls": [READ]}, {"text": "At last.", "delay_ms": 600_000})

    with Terminal(steer, "run", "--model", model, "think") as terminal:
        terminal.until("2 of 2 lines")
        terminal.press(CTRL_C)
        assert terminal.end() == 130

    messages = log_of_newest(steer)
    assert [b["ending"] for b in bodies(messages, "turn_end")] == ["cancelled"]


@pytest.mark.parametrize(("key", "code"), [(CTRL_C, 130), (CTRL_D, 4)], ids=["ctrl-c", "ctrl-d"])
def test_leaving_a_question_unanswered_ends_the_run(steer, script, workspace, key, code):
    model = script({"tool_calls": [FIX]}, DONE)

    with Terminal(steer, "run", "--model", model, "fix add") as terminal:
        terminal.until(ASK)
        terminal.press(key)
        assert terminal.end(seconds=20) == code

    assert (workspace / "calc.py").read_text() == BROKEN
    messages = log_of_newest(steer)
    assert bodies(messages, "confirm_response") == []
    assert [b["exit"] for b in bodies(messages, "session_end")] == [code]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_a_polite_kill_ends_like_ctrl_c(steer, script, gate, number):
    model = script({"tool_calls": [gate.wait]}, DONE)
    running = steer.start("run", "--json", "--yes", "--model", model, "wait")
    gate.waiting()

    running.send_signal(number)
    output, errors = running.communicate(timeout=60)

    messages = decoded(output)
    assert (running.returncode, errors) == (130, "")
    assert gate.processes() == []
    assert [b["ending"] for b in bodies(messages, "turn_end")] == ["cancelled"]
    assert messages[-1]["body"]["exit"] == 130


def test_a_terminal_that_vanishes_leaves_the_turn_running(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)

    with Terminal(steer, "run", "--yes", "--model", model, "wait") as terminal:
        gate.waiting()
        terminal.close()
        gate.open()
        assert terminal.process.wait(timeout=60) == 0

    messages = log_of_newest(steer)
    assert [b["status"] for b in bodies(messages, "tool_result")] == ["ok"]
    assert [b["ending"] for b in bodies(messages, "turn_end")] == ["done"]
    assert messages[-1]["body"] == {"status": "done", "exit": 0}


def test_a_terminal_that_vanishes_ends_the_run_where_settings_say_so(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)
    steer = steer.having(STEERSMAN_ON_HANGUP="cancel")

    with Terminal(steer, "run", "--yes", "--model", model, "wait") as terminal:
        gate.waiting()
        terminal.close()
        terminal.process.wait(timeout=60)

    assert gate.processes() == []
    messages = log_of_newest(steer)
    assert [b["ending"] for b in bodies(messages, "turn_end")] == ["cancelled"]


def test_resume_without_words_opens_the_application_on_the_thread(steer, script):
    steer.work("run", "--model", script({"text": "It is fixed."}), "fix add")

    for words in (["resume"], ["--continue"]):
        with Terminal(steer, *words) as terminal:
            terminal.until("It is fixed.")
            assert "\x1b[?1049h" in terminal.seen  # full screen
            terminal.press("/quit\r")
            terminal.until("Continue with: steer")
            assert terminal.end() == 0


def test_the_goodbye_names_a_command_that_works_where_you_are(steer, script, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    model = script({"text": "It is fixed."})
    with Terminal(steer, "-w", str(other), "--model", model) as terminal:
        terminal.until("Enter send")
        terminal.press("hello\r")
        terminal.until("It is fixed.")
        terminal.press("/quit\r")
        terminal.until("Continue with: steer")
        assert terminal.end() == 0
        assert "Continue with: steer --resume " in terminal.seen
        assert "steer -c" not in terminal.seen


NASTY = "\x1b[2J\x1b]0;title\x07\x1b[31mred\x9b31m\x08\x7f\r overwritten \u202e"
ALLOWED = {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[2K"} | {f"\x1b[{n}m" for n in range(30, 38)}


def escapes(text):
    """Every escape sequence, as far as it goes, that a terminal would obey."""
    found = set()
    for part in text.split("\x1b")[1:]:
        end = next((i for i, letter in enumerate(part) if letter.isalpha() or i > 8), 0)
        found.add("\x1b" + part[: end + 1])
    return found


def test_nothing_a_command_a_file_or_the_model_says_moves_the_cursor(steer, script, workspace):
    (workspace / "nasty.txt").write_text(NASTY)
    print_it = "cat nasty.txt; sleep 1.2"
    write = call("workspace_write_file", path="more.txt", content=f"{NASTY}\n")
    model = script(
        {
            "text": f"I say {NASTY}",
            "chunk": 3,
            "tool_calls": [
                shell(print_it),
                outside(print_it),
                shell(f"{print_it} # {NASTY}"),
                write,
                call("workspace_read_file", path=f"missing {NASTY}"),
                call(f"tool {NASTY}"),
            ],
        },
        {"text": f"Done {NASTY}"},
    )

    with Terminal(steer, "run", "--model", model, f"be nasty {NASTY}") as terminal:
        terminal.until(ASK)
        terminal.press("y\n")
        terminal.until(ASK)
        terminal.press("y\n")
        assert terminal.end() == 0
        seen = terminal.seen

    thread = log_of_newest(steer)[0]["thread"]
    for words in (
        ["threads", "list"],
        ["threads", "show", thread],
        ["ledger", "show", thread],
        ["replay", thread],
        ["call", "workspace_read_file", '{"path": "nasty.txt"}'],
        ["fork", thread],
        ["threads", "rm", "--yes", thread],
    ):
        with Terminal(steer, *words) as terminal:
            assert terminal.end() == 0
            seen += terminal.seen
    assert "\\x1b[2J" in seen
    assert escapes(seen) <= ALLOWED
    assert not set(seen) & set("\x07\x08\x7f\x9b\u202e")
    assert "\r overwritten" not in seen


def test_resume_shows_the_last_words_safely(steer, script):
    model = script({"text": f"Done {NASTY}"}, DONE)
    steer.work("run", "--model", model, f"be nasty {NASTY}")

    with Terminal(steer, "--plain", "--continue") as terminal:
        terminal.until("\n> ")
        terminal.press("/quit\n")
        assert terminal.end() == 0

    assert escapes(terminal.seen) <= ALLOWED
    assert not set(terminal.seen) & set("\x07\x08\x7f\x9b\u202e")


@pytest.mark.parametrize(
    "words",
    [
        ["call", "workspace_read_file", f'{{"path": "missing {NASTY}"}}'],
        ["call", "workspace_fly", f'["{NASTY}'],
        ["call", f"tool {NASTY}"],
        ["run", "--model", f"clever:{NASTY}", "go"],
        ["run", "--model", f"scripted:{NASTY}", "go"],
        ["run", "--workspace", f"nowhere {NASTY}", "go"],
        ["threads", "show", NASTY],
        ["resume", NASTY.replace(" ", "")],
    ],
    ids=[
        "a file",
        "arguments",
        "a tool",
        "a model",
        "a script",
        "a workspace",
        "a thread",
        "a thread to resume",
    ],
)
def test_no_error_message_repeats_an_escape_sequence(steer, words):
    with Terminal(steer, *words) as terminal:
        assert terminal.end() in (1, 2)

    assert escapes(terminal.seen) <= ALLOWED
    assert not set(terminal.seen) & set("\x07\x08\x7f\x9b\u202e")


def test_long_work_shows_a_status_line_that_leaves_no_trace(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)

    with Terminal(steer, "run", "--yes", "--model", model, "wait") as terminal:
        terminal.until("… run_command ")
        gate.open()
        assert terminal.end() == 0

    last_line = terminal.seen.rstrip().rsplit("\n", 1)[-1]
    assert last_line.startswith("\x1b[32m✓ ")


def test_a_limit_of_steps_is_asked_about(steer, script):
    model = script(*[{"tool_calls": [READ]}] * 4, DONE)

    with Terminal(steer, "run", "--model", model, "--max-steps", "2", "read") as terminal:
        terminal.until("This turn has taken 2 steps. Go on?")
        terminal.until("[stop]: ")
        terminal.press("go\n")
        terminal.until("This turn has taken 4 steps. Go on?")
        terminal.until("[stop]: ")
        terminal.press("\n")
        assert terminal.end() == 5

    answers = bodies(log_of_newest(steer), "answer")
    assert answers == [{"text": "go on"}, {"text": "stop"}]
