"""One thread, two terminals and a script, each a process of its own, on either store."""

import json
import os
import signal
import time

import pytest

from steersman.ports.tui.keys import SEEN
from tests.cli.kit import DONE, READ, eventually, outside, shell
from tests.tui.tmux import NEEDED, bodies, check_whole, said, threads

READY = "Say what to do"
WORKING = "Write the next message"
ASKED = "1. Yes, this once (y)"
SIZE = (110, 50)

pytestmark = NEEDED


@pytest.fixture(params=["sqlite", "postgres"])
def steer(request, steer):
    """The command line on one of the stores.

    That a process died is known by its lock; one that lives is never too slow to be believed.
    """
    steer.environ["STEERSMAN_LEASE_SECONDS"] = "600"
    if request.param == "postgres":
        steer.environ["STEERSMAN_STORE"] = request.getfixturevalue("postgres_url")
    return steer


def state(steer, thread):
    """What a thread is doing, as anybody may know."""
    listed = steer("threads", "list", "--json").stdout.splitlines()
    return next(one for one in map(json.loads, listed) if one["id"] == thread)


def test_two_terminals_and_a_script_on_one_thread(steer, script, gate, tmp_path, open_window):
    approved = tmp_path / "approved"
    waits = gate.wait["arguments"]["command"]
    model = script(
        {"text": "Looking.", "tool_calls": [READ]},
        {"text": "May I?", "tool_calls": [outside(f"echo once >> {approved}")]},
        {"text": "Now the long one.", "tool_calls": [shell(f"echo live-words; {waits}")]},
        {"text": "The tests are kept in mind."},
        {"text": "Endless.", "tool_calls": [gate.wait]},
        {"text": "Never said: it is cancelled before."},
        {"text": "Once more.", "tool_calls": [gate.wait]},
        {"text": "Never said: its process is killed before."},
        {"text": "I went on over here."},
        DONE,
    )
    one = open_window("--model", model, size=SIZE)
    one.until(READY)
    one.say("begin")
    one.until("May I?", ASKED)
    [thread] = threads(steer)

    # The second terminal sees what was said, and answers what is asked.
    other = open_window("attach", thread, size=SIZE)
    other.until("› begin", "Looking.", "May I?", ASKED)
    assert not approved.exists()
    time.sleep(SEEN)  # a key counts only when the question has been there for a moment
    other.press("y")
    one.until("Now the long one.", gone=ASKED)
    gate.waiting()
    assert approved.read_text() == "once\n"

    # While the command runs, its words are live in both; the second steers.
    for window in (one, other):
        window.until("live-words", WORKING)
    other.say("mind the tests")
    for window in (one, other):
        window.until("› mind the tests", "queued for the next turn")
    other.press("Enter")
    for window in (one, other):
        window.until("waits for the next step")
    gate.open()
    for window in (one, other):
        window.until("The tests are kept in mind.", READY)

    # The script stops a turn.
    one.say("do the endless thing")
    gate.waiting()
    other.until("› do the endless thing", "Endless.", WORKING)
    assert steer("cancel", thread).returncode == 0
    assert gate.processes() == []
    for window in (one, other):
        window.until(READY, gone=WORKING)

    # The first is killed; the second takes over and goes on.
    one.say("and again")
    gate.waiting()
    other.until("› and again", "Once more.", WORKING)
    owner = state(steer, thread)["process"]["pid"]
    os.kill(owner, signal.SIGKILL)
    one.end()
    eventually(lambda: gate.processes() == [])
    other.until(READY, gone=WORKING)
    other.say("are you there?")
    other.until("I went on over here.", READY)
    assert state(steer, thread)["process"]["pid"] != owner
    other.say("/quit")
    assert other.end() == 0

    assert said(steer, thread) == [
        "begin", "mind the tests", "do the endless thing", "and again", "are you there?"
    ]  # fmt: skip
    endings = [body["ending"] for body in bodies(steer, thread, "turn_end")]
    assert endings == ["done", "cancelled", "interrupted", "done"]
    assert [body["decision"] for body in bodies(steer, thread, "confirm_response")] == ["allow"]
    receipts = [(body["what"], body["outcome"]) for body in bodies(steer, thread, "request")]
    assert receipts == [
        ("confirm", "taken"), ("queue", "taken"), ("hasten", "taken"), ("cancel", "taken"),
    ]  # fmt: skip
    assert approved.read_text() == "once\n"
    check_whole(steer, thread)
