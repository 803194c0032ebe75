"""Leave and come back: threads in the background, and whoever speaks to them from the shell."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.kit import DONE, READ, StrictSteer, decoded, eventually, outside
from tests.cli.terminal import Terminal
from tests.tui.tmux import gone
from tests.world import call, kill

ASKS = outside("echo asked > asked.txt")
WRITE = call("workspace_write_file", path="new.txt", content="new\n")


@pytest.fixture
def steer(environ, workspace):
    """The command line, in the workspace."""
    return StrictSteer(environ, workspace)


@pytest.fixture
def detach(steer):
    """Start a thread in the background; processes that still run are ended with the test."""
    started = []

    def detached(model, *arguments):
        done = steer("run", "--detach", "--model", model, *arguments, "work")
        assert done.returncode == 0, done.stderr
        (thread,) = done.stdout.splitlines()  # the id, alone
        started.append(thread)
        return thread

    yield detached
    for thread in started:
        if "process" in (record := listed(steer, thread)):
            os.kill(record["process"]["pid"], signal.SIGTERM)
            eventually(lambda thread=thread: "process" not in listed(steer, thread))


def listed(steer, thread):
    """A thread as the list has it."""
    records = decoded(steer("threads", "list", "--json").stdout)
    return next(record for record in records if record["id"] == thread)


def in_state(steer, thread, state):
    """The record of a thread, as soon as it is in a state."""

    def look():
        record = listed(steer, thread)
        return record["state"] == state and record

    return eventually(look)


def log(steer, thread, *kinds):
    """The messages of some kinds."""
    messages = decoded(steer("ledger", "show", "--json", thread).stdout)
    return [m for m in messages if m["kind"] in kinds]


def test_a_thread_works_in_the_background_and_its_process_ends_with_the_work(
    steer, script, workspace, detach
):
    thread = detach(script({"tool_calls": [WRITE]}, DONE), "--approvals", "never")

    assert steer("wait", thread).returncode == 0

    eventually(lambda: "process" not in listed(steer, thread))
    assert listed(steer, thread)["state"] == "idle"
    assert (workspace / "new.txt").read_text() == "new\n"
    assert log(steer, thread, "session_end")[-1]["body"] == {"status": "done", "exit": 0}


def test_what_cannot_begin_is_said_at_once_and_leaves_no_thread(steer, script):
    attached = steer("run", "--model", "scripted:missing.json", "work")
    done = steer("run", "--detach", "--model", "scripted:missing.json", "work")

    assert (done.returncode, done.stdout) == (attached.returncode, "")
    assert done.returncode == 1
    assert "missing.json" in done.stderr
    assert decoded(steer("threads", "list", "--json").stdout) == []


def test_a_request_waits_in_the_list_and_is_answered_from_another_process(
    steer, script, workspace, detach
):
    thread = detach(script({"tool_calls": [ASKS]}, DONE))
    record = in_state(steer, thread, "waiting")

    assert record["waiting_for"]["kind"] == "permission"
    assert record["waiting_for"]["what"] == "run `echo asked > asked.txt` outside the sandbox"
    corr = record["waiting_for"]["corr"]
    assert corr == log(steer, thread, "confirm_request")[0]["corr"]
    timed = steer("wait", "--timeout", "0.1", thread)
    assert (timed.returncode, "It waits for an answer" in timed.stderr) == (4, True)

    beginning = corr[: len("ask_1")]
    assert steer("answer", thread, beginning, "allow").returncode == 0
    again = steer("answer", thread, corr, "deny")

    assert again.returncode == 2
    assert f"No request {corr} is waiting in thread {thread}." in again.stderr
    assert "It was already answered, or never asked." in again.stderr
    assert steer("wait", thread).returncode == 0
    assert (workspace / "asked.txt").read_text() == "asked\n"
    (response,) = log(steer, thread, "confirm_response")
    assert (response["corr"], response["body"]["decision"]) == (corr, "allow")
    receipts = log(steer, thread, "request")
    assert [m["body"]["outcome"] for m in receipts if m["body"]["what"] == "confirm"] == ["taken"]


def test_an_answer_of_the_question_is_suggested_and_a_number_or_a_word_answers(
    steer, script, detach
):
    two = [{"label": "Postgres 18"}, {"label": "SQLite"}]
    asks = [{"question": f"Store {n}?", "header": "Store", "options": two} for n in (1, 2)]
    thread = detach(script({"tool_calls": [call("ask_user", questions=asks)]}, DONE))
    corr = in_state(steer, thread, "waiting")["waiting_for"]["corr"]
    waits = steer.start("wait", thread)
    try:
        assert waits.stderr.readline() == "It asks: Store 1?\n"
        assert waits.stderr.readline() == f"  steer answer {thread} {corr} 'Postgres 18'\n"
        for words in ([corr], []):  # it shows what is asked
            missing = steer("answer", thread, *words)
            assert missing.returncode == 2
            assert missing.stdout == "? Store (1 of 2): Store 1?\n  1 Postgres 18\n  2 SQLite\n"
            assert f"steer answer {thread} {corr} 'Postgres 18'\n" in missing.stderr

        assert steer("answer", thread, corr, "2").returncode == 0
        assert waits.stderr.readline() == "It asks: Store 2?\n"
        assert steer("answer", thread, "decline").returncode == 0
        assert waits.wait(60) == 0
    finally:
        kill(waits)
    assert [m["body"] for m in log(steer, thread, "answer")] == [
        {"text": "SQLite"}, {"text": "", "by": "declined"},
    ]  # fmt: skip


def test_at_a_terminal_an_answer_is_asked_for_after_what_it_is_about(
    steer, script, workspace, detach
):
    thread = detach(script({"tool_calls": [outside("echo asked > asked.txt")]}, DONE))
    in_state(steer, thread, "waiting")
    with Terminal(steer, "answer", thread) as terminal:
        terminal.until("$ echo asked > asked.txt")
        terminal.until("Approve?")
        terminal.until("or say what to do instead: ")
        terminal.press("y\n")
        terminal.until("Allowed: ")
        assert terminal.end() == 0
    assert steer("wait", thread).returncode == 0
    assert (workspace / "asked.txt").read_text() == "asked\n"


def test_work_in_the_background_keeps_its_profile(steer, script, detach):
    model = script({"tool_calls": [outside("git push --force")]}, DONE)
    thread = detach(model, "--profile", "ci", "--allow", "Bash", "--yes")
    assert steer("wait", thread).returncode == 0
    (result,) = log(steer, thread, "tool_result")
    assert result["body"]["status"] == "denied"
    assert "the setting `guard` refuses" in result["body"]["message"]


def test_a_denial_reaches_the_model_with_its_reason(steer, script, workspace, detach):
    model = script({"tool_calls": [ASKS]}, {"expect": "use the test database", "text": "Will do."})
    thread = detach(model)
    in_state(steer, thread, "waiting")

    assert steer("answer", thread, "deny", "use", "the", "test", "database").returncode == 0

    assert steer("wait", thread).returncode == 0
    assert not (workspace / "asked.txt").exists()
    assert log(steer, thread, "assistant")[-1]["body"]["text"] == "Will do."


def test_an_answer_to_nothing_is_refused(steer, script, detach):
    thread = detach(script(DONE))
    steer("wait", thread)

    done = steer("answer", thread, "allow")

    assert done.returncode == 2
    assert f"Thread {thread} asks nothing." in done.stderr


def test_words_reach_the_running_turn_or_the_next(steer, script, gate, detach):
    model = script({"tool_calls": [gate.wait]}, {"text": "First."}, {"text": "Second."})
    thread = detach(model, "--approvals", "never")
    gate.waiting()
    record = in_state(steer, thread, "running")
    assert (record["turn"], record["process"]["pid"] > 1) == (1, True)

    steered = steer("tell", thread, "use tabs").stdout.strip()
    queued = steer("tell", "--queue", thread, "and", "then", "this").stdout.strip()
    gate.open()

    assert steer("wait", thread).returncode == 0
    said = [(m["corr"], m["body"]) for m in log(steer, thread, "user")]
    assert said == [
        (None, {"text": "work"}),
        (steered, {"text": "use tabs", "via": "steer"}),
        (queued, {"text": "and then this", "via": "queue"}),
    ]
    assert [m["body"]["ending"] for m in log(steer, thread, "turn_end")] == ["done", "done"]


def test_words_to_an_idle_thread_begin_a_turn_in_the_background(steer, script, detach):
    thread = detach(script({"text": "First."}, {"text": "Second."}))
    steer("wait", thread)
    eventually(lambda: "process" not in listed(steer, thread))

    assert steer("tell", thread, "go on").returncode == 0

    assert steer("wait", thread).returncode == 0
    assert [m["body"]["text"] for m in log(steer, thread, "assistant")] == ["First.", "Second."]
    assert [m["kind"] for m in log(steer, thread, "session_start")] == ["session_start"] * 2


def test_a_turn_is_stopped_from_another_process(steer, script, gate, detach):
    thread = detach(script({"tool_calls": [gate.wait]}, DONE), "--approvals", "never")
    gate.waiting()
    steer("tell", "--queue", thread, "later")

    assert steer("cancel", thread).returncode == 0

    assert gate.processes() == []
    assert steer("wait", thread).returncode == 130
    assert [m["body"]["ending"] for m in log(steer, thread, "turn_end")] == ["cancelled"]
    eventually(lambda: "process" not in listed(steer, thread))
    assert listed(steer, thread)["state"] == "queued"


def test_stopping_what_does_not_run_is_refused(steer, script, detach):
    thread = detach(script(DONE))
    steer("wait", thread)

    done = steer("cancel", thread)

    assert done.returncode == 2
    assert "No turn is running." in done.stderr


@pytest.mark.parametrize(
    ("turns", "flags", "code"),
    [
        ([DONE], (), 0),
        ([{"expect": "what never comes", "text": "x"}], (), 1),
        ([{"tool_calls": [READ]}] * 3, ("--max-steps", "2"), 5),
    ],
    ids=["done", "failed", "limit"],
)
def test_the_exit_code_of_waiting_is_that_of_the_run(steer, script, detach, turns, flags, code):
    thread = detach(script(*turns), "--approvals", "never", *flags)
    if "--max-steps" in flags:
        in_state(steer, thread, "waiting")
        steer("answer", thread, "stop")

    assert steer("wait", thread).returncode == code


def test_a_turn_that_waits_for_an_answer_survives_its_process(steer, script, workspace, detach):
    model = script({"tool_calls": [ASKS]}, {"text": "Going on."})
    thread = detach(model)
    record = in_state(steer, thread, "waiting")
    os.kill(record["process"]["pid"], signal.SIGKILL)
    eventually(lambda: "process" not in listed(steer, thread))

    still = listed(steer, thread)
    assert (still["state"], still["waiting_for"]) == ("waiting", record["waiting_for"])
    assert steer("answer", thread, "allow").returncode == 0

    assert steer("wait", thread).returncode == 0
    assert (workspace / "asked.txt").read_text() == "asked\n"
    assert len(log(steer, thread, "confirm_request")) == 1
    assert len(log(steer, thread, "turn_start")) == len(log(steer, thread, "turn_end")) == 1
    (result,) = log(steer, thread, "tool_result")
    assert result["body"]["status"] == "ok"
    assert log(steer, thread, "assistant")[-1]["body"]["text"] == "Going on."
    assert steer("ledger", "verify", thread).returncode == 0


def test_a_turn_that_worked_when_its_process_died_is_interrupted(steer, script, gate, detach):
    thread = detach(script({"tool_calls": [gate.wait]}, DONE), "--approvals", "never")
    gate.waiting()
    os.kill(in_state(steer, thread, "running")["process"]["pid"], signal.SIGKILL)

    waited = steer("wait", thread)

    assert waited.returncode == 130
    assert "the process that ran it is gone" in waited.stderr


def test_queued_words_of_a_stopped_thread_are_in_the_list(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, {"text": "First."}, {"text": "Second."})
    running = steer.start("run", "--json", "--yes", "--model", model, "work")
    gate.waiting()
    (record,) = decoded(steer("threads", "list", "--json").stdout)
    steer("tell", "--queue", record["id"], "later")
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)

    assert in_state(steer, record["id"], "queued")

    assert steer.work("resume", record["id"]).code == 0
    assert listed(steer, record["id"])["state"] == "idle"


def test_a_process_that_is_ended_politely_leaves_its_question_waiting(
    steer, script, workspace, detach
):
    thread = detach(script({"tool_calls": [ASKS]}, {"text": "Going on."}))
    record = in_state(steer, thread, "waiting")
    os.kill(record["process"]["pid"], signal.SIGTERM)
    eventually(lambda: "process" not in listed(steer, thread))

    assert listed(steer, thread)["waiting_for"] == record["waiting_for"]
    assert steer("answer", thread, "allow").returncode == 0
    assert steer("wait", thread).stdout == "Going on.\n"
    assert (workspace / "asked.txt").exists()


def test_an_answer_that_failed_for_its_giver_is_not_given_later(steer, script, workspace, detach):
    thread = detach(script({"tool_calls": [ASKS]}, {"text": "Kept."}))
    os.kill(in_state(steer, thread, "waiting")["process"]["pid"], signal.SIGKILL)
    away = workspace.with_name("away")
    workspace.rename(away)
    elsewhere = StrictSteer(steer.environ, away)

    failed = elsewhere("answer", thread, "allow")
    assert failed.returncode == 2
    assert "does not exist" in failed.stderr
    away.rename(workspace)
    assert steer("answer", thread, "deny").returncode == 0

    assert steer("wait", thread).stdout == "Kept.\n"
    assert not (workspace / "asked.txt").exists()
    outcomes = [m["body"]["outcome"] for m in log(steer, thread, "request")]
    assert outcomes == ["taken", "expired", "taken"]


def test_a_process_that_slept_while_another_took_over_ends_by_itself(
    steer, script, workspace, detach
):
    steer.environ["STEERSMAN_LEASE_SECONDS"] = "1"
    thread = detach(script({"tool_calls": [ASKS]}, DONE))
    owner = in_state(steer, thread, "waiting")["process"]["pid"]
    os.kill(owner, signal.SIGSTOP)
    eventually(lambda: "process" not in listed(steer, thread))
    assert steer("answer", thread, "allow").returncode == 0
    assert steer("wait", thread).returncode == 0

    os.kill(owner, signal.SIGCONT)

    gone(owner)
    assert steer("ledger", "verify", thread).returncode == 0


@pytest.mark.parametrize("words", [[""], ["  "]])
def test_no_words_are_no_answer(steer, script, detach, words):
    thread = detach(script({"tool_calls": [ASKS]}, DONE))
    in_state(steer, thread, "waiting")
    said = steer("answer", thread, *words)
    assert (said.returncode, "There is no answer." in said.stderr) == (2, True)
    assert listed(steer, thread)["state"] == "waiting"


def test_words_that_are_no_text_are_refused_with_a_sentence(steer, script):
    thread = steer.work("run", "--model", script(DONE), "go").thread
    for command in (["tell", thread, os.fsdecode(b"caf\xe9")], ["wait", os.fsdecode(b"\xff")]):
        said = steer(*command)
        assert said.returncode == 2
        assert "is not text in UTF-8" in said.stderr


def test_a_request_that_was_spoilt_from_outside_keeps_nobody_from_being_heard(steer, script, home):
    thread = steer.work("run", "--model", script(DONE, DONE), "go").thread
    with sqlite3.connect(home / "steersman.db") as database:
        put = "INSERT INTO requests (id, thread, sender, time, body, outcome) VALUES (?,?,?,?,?,?)"
        for name, outcome in (("req_bogus", "bogus"), (b"\xff", None)):
            database.execute(put, (name, thread, "x", "never", b'{"type":"go_on"}', outcome))
        database.execute("UPDATE threads SET updated = 'never' WHERE id = ?", (thread,))
    database.close()

    assert steer("tell", thread, "hello").returncode == 0
    assert steer("wait", thread).returncode == 0
    assert log(steer, thread, "user")[-1]["body"]["text"] == "hello"
    assert steer("threads", "list").returncode == 0


def test_a_process_whose_starter_is_gone_works_on(steer, script, workspace, detach):
    """It could not say that it had the thread, and took that for a reason to stop the turn."""
    thread = detach(script({"tool_calls": [ASKS]}, {"text": "Going on."}))
    os.kill(in_state(steer, thread, "waiting")["process"]["pid"], signal.SIGKILL)
    eventually(lambda: "process" not in listed(steer, thread))
    reading, writing = os.pipe()
    os.close(reading)
    carrying = subprocess.Popen(
        [sys.executable, "-P", "-m", "steersman", "carry", thread],
        env=steer.environ, cwd=workspace, stdin=subprocess.DEVNULL, stdout=writing,
    )  # fmt: skip
    os.close(writing)
    eventually(lambda: listed(steer, thread).get("process", {}).get("pid") == carrying.pid)

    assert steer("answer", thread, "allow").returncode == 0
    assert steer("wait", thread).stdout == "Going on.\n"
    assert carrying.wait(60) == 0


def test_a_thread_that_is_closed_and_ended_at_once_ends_once(steer, script, detach):
    thread = detach(script({"tool_calls": [ASKS]}, DONE))
    owner = in_state(steer, thread, "waiting")["process"]["pid"]
    code = CLOSE_AND_END.format(thread=thread, owner=owner)
    subprocess.run([sys.executable, "-c", code], env=steer.environ, check=True)
    gone(owner)

    assert len(log(steer, thread, "session_end")) == 1
    said = Path(steer.environ["STEERSMAN_HOME"], "background", f"{thread}.log")
    assert said.read_text() == ""


CLOSE_AND_END = """
import asyncio, os, signal
from pathlib import Path
from steersman.host import Host
from steersman.records.inbox import Close

async def main():
    async with Host.at(Path(os.environ["STEERSMAN_HOME"]), os.environ) as host:
        handle = await host.attach("{thread}")
        await handle.post(Close())
        while (await handle.state()).requests:
            pass
        os.kill({owner}, signal.SIGTERM)

asyncio.run(main())
"""
