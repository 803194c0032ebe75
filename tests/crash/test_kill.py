"""A process that dies without a word: kill -9 at any moment loses nothing that was written.

The moments are chosen by a seeded generator, as lines of output read plus a short spin, so that
they fall between any two steps of the program and not between two ticks of a clock.
"""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from steersman.host import Host
from tests.cli.kit import DONE, READ, StrictSteer, decoded, shell, until
from tests.world import call, kill

BEFORE, AFTER = "before\n" * 4000, "after!\n" * 4000
GROUPS, KILLS = 10, 5  # 50 moments, half of them only with `make soak`


@pytest.fixture(params=["sqlite", "postgres"])
def environ(environ, request):
    """The same on both stores."""
    if request.param == "postgres":
        environ["STEERSMAN_STORE"] = request.getfixturevalue("postgres_url")
    return environ


@pytest.fixture
def settled(environ):
    """Wait until the server has done what a process that was killed meanwhile had asked of it."""
    url = environ.get("STEERSMAN_STORE")

    def backends():
        if url is None:
            return set()
        with psycopg.connect(url, autocommit=True) as db:
            others = "datname = current_database() AND pid <> pg_backend_pid()"
            return set(db.execute(f"SELECT pid FROM pg_stat_activity WHERE {others}"))

    @contextmanager
    def after_a_death():
        before = backends()
        yield
        while backends() - before:
            time.sleep(0.01)

    return after_a_death


@pytest.fixture
def steer(environ, workspace):
    """The command line, in the workspace."""
    return StrictSteer(environ, workspace)


@pytest.fixture
def model(script):
    """Reads side by side, edits, commands, and answers in pieces."""
    write = call("workspace_write_file", path="big.txt", content=AFTER)
    back = {"search": "after!", "replace": "before", "replace_all": True}
    undo = call("workspace_edit_files", files=[{"path": "big.txt", "edits": [back]}])
    return script(
        {"text": "I look first.", "chunk": 3, "tool_calls": [READ, READ, READ]},
        {"text": "I write.", "tool_calls": [write, shell("wc -l big.txt"), READ]},
        {"tool_calls": [shell("echo one; echo two"), undo, READ, READ]},
        {"reasoning": "Hm.", "tool_calls": [write, READ]},
        {"text": "That is all.", "chunk": 2},
    )


def kill_at(steer, model, moments):
    """Run and kill at a random moment."""
    running = steer.start("run", "--json", "--approvals", "never", "--model", model, "work")
    for _ in range(moments.randrange(1, 62)):
        running.stdout.readline()
    for _ in range(moments.randrange(60_000)):
        pass
    kill(running)


def assert_whole(messages):
    """Dense, readable, every call answered once, every session and turn closed."""
    assert [m.seq for m in messages] == list(range(1, len(messages) + 1))
    calls = Counter(m.corr for m in messages if m.kind == "tool_call")
    answers = Counter(m.corr for m in messages if m.kind == "tool_result")
    assert calls == answers
    assert set(calls.values()) <= {1}
    kinds = Counter(m.kind for m in messages)
    assert kinds["session_start"] == kinds["session_end"]
    assert kinds["turn_start"] == kinds["turn_end"]
    assert messages[-1].kind == "session_end"


@pytest.mark.parametrize(
    "group",
    [*range(GROUPS // 2)]
    + [pytest.param(group, marks=pytest.mark.soak) for group in range(GROUPS // 2, GROUPS)],
)
def test_a_run_killed_at_any_moment_opens_verifies_and_goes_on(
    steer, script, model, workspace, environ, settled, group
):
    moments = random.Random(1000 + group)
    one_turn = script({"text": "I go on."}, name="one.json")
    file = workspace / "big.txt"
    host = Host.at(Path(environ["STEERSMAN_HOME"]), environ)

    for _ in range(KILLS):
        file.write_text(BEFORE)
        with settled():
            kill_at(steer, model, moments)
        assert file.read_text() in (BEFORE, AFTER)
        thread = host.threads(limit=1)[0]
        left = list(host.messages(thread.id))

        work = steer.work("resume", thread.id, "go on", "--model", one_turn)

        assert work.code == 0
        assert work.bodies("user") == [{"text": "go on"}]
        messages = list(host.messages(thread.id))
        assert messages[: len(left)] == left
        assert_whole(messages)
        assert_interrupted_are_named(left, messages)
    done = steer("ledger", "verify")
    assert (done.returncode, done.stdout.count(": ok, ")) == (0, KILLS)


def assert_interrupted_are_named(left, messages):
    """What was open when the process died is closed with words that say so, and only that."""
    closed = {m.corr for m in left if m.kind == "tool_result"}
    open_calls = {m.corr for m in left if m.kind == "tool_call"} - closed
    begun = {
        m.corr for m in left if m.kind == "policy" and m.body.verdict.decision == "allow"
    } & open_calls
    named = {
        m.corr: m.body.message
        for m in messages
        if m.kind == "tool_result" and m.body.status == "interrupted"
    }
    assert set(named) == open_calls
    for corr, words in named.items():
        unknown = corr in begun
        expected = "interrupted: outcome unknown" if unknown else "interrupted: it had not begun"
        assert words == expected
    if not any(m.kind == "session_end" for m in left):
        first_end = next(m for m in messages if m.kind == "session_end")
        assert (first_end.body.status, first_end.body.exit) == ("interrupted", None)


def test_a_run_killed_before_its_first_word_leaves_nothing_in_the_way(steer, model):
    moments = random.Random(7)
    for _ in range(6):
        running = steer.start("run", "--json", "--approvals", "never", "--model", model, "work")
        for _ in range(moments.randrange(4_000_000)):
            pass
        kill(running)

    assert steer.work("run", "--approvals", "never", "--model", model, "work").code == 0
    assert steer("ledger", "verify").returncode == 0
    for thread in decoded(steer("threads", "list", "--json").stdout):
        assert steer("replay", thread["id"]).returncode == 0


def test_a_command_that_ran_when_the_process_died_has_an_unknown_outcome(steer, script, gate):
    model = script({"tool_calls": [gate.wait, READ]}, DONE)
    running = steer.start("run", "--json", "--yes", "--model", model, "work")
    seen = until(running, "policy")
    gate.waiting()
    kill(running)

    shown = steer("replay", seen[0]["thread"])
    messages = decoded(shown.stdout)

    assert [m["body"] for m in messages if m["kind"] == "tool_result"] == [
        {
            "tool": "workspace_read_file",
            "status": "interrupted",
            "message": "interrupted: it had not begun",
        },
        {
            "tool": "workspace_run_command",
            "status": "interrupted",
            "message": "interrupted: outcome unknown",
        },
    ]
    assert messages[-2]["body"] == {"ending": "interrupted", "steps": 1}
    assert messages[-1]["body"] == {
        "status": "interrupted",
        "reason": "the process ended unexpectedly",
    }


def test_following_a_thread_whose_process_died_ends(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, DONE)
    running = steer.start("run", "--json", "--yes", "--model", model, "work")
    thread = until(running, "policy")[0]["thread"]
    gate.waiting()
    kill(running)

    following = steer.start("ledger", "follow", "--json", thread)
    try:
        output, _ = following.communicate(timeout=15)
    finally:
        following.kill()
        following.communicate()

    assert decoded(output)[-1]["kind"] == "session_end"


def test_a_call_from_the_shell_that_was_killed_is_closed_when_it_is_looked_at(steer, gate):
    wait = gate.wait
    running = steer.start("call", "--yes", wait["name"], json.dumps(wait["arguments"]))
    gate.waiting()
    kill(running)

    (thread,) = decoded(steer("threads", "list", "--all", "--json").stdout)
    messages = decoded(steer("replay", thread["id"]).stdout)

    assert [m["body"]["message"] for m in messages if m["kind"] == "tool_result"] == [
        "interrupted: outcome unknown"
    ]
    assert [m["kind"] for m in messages].count("session_end") == 1
    assert steer("ledger", "verify").returncode == 0
    assert steer("call", "workspace_status").returncode == 0


def test_a_fork_of_a_thread_that_was_killed_goes_on_too(steer, script, gate):
    running = steer.start(
        "run", "--json", "--yes", "--model", script({"tool_calls": [gate.wait]}, DONE), "work"
    )
    thread = until(running, "policy")[0]["thread"]
    gate.waiting()
    kill(running)

    copy = steer("fork", thread).stdout.strip()
    work = steer.work("resume", copy, "go on", "--model", script(DONE, DONE))

    assert work.code == 0
    assert steer("ledger", "verify").returncode == 0


def test_killed_again_while_it_recovers_it_still_recovers(steer, script, gate, model):
    running = steer.start(
        "run", "--json", "--yes", "--model", script({"tool_calls": [gate.wait]}, DONE), "work"
    )
    thread = until(running, "policy")[0]["thread"]
    gate.waiting()
    kill(running)
    moments = random.Random(11)

    for _ in range(6):
        again = steer.start("resume", "--json", thread, "go on", "--model", script(DONE, DONE))
        for _ in range(moments.randrange(6)):
            again.stdout.readline()
        for _ in range(moments.randrange(400_000)):
            pass
        kill(again)

    assert steer.work("resume", thread, "go on", "--model", script(DONE, DONE)).code == 0
    messages = decoded(steer("replay", thread).stdout)
    assert [m["body"]["status"] for m in messages if m["kind"] == "tool_result"] == ["interrupted"]
    kinds = Counter(m["kind"] for m in messages)
    assert kinds["session_start"] == kinds["session_end"]
    assert kinds["turn_start"] == kinds["turn_end"]
    assert steer("ledger", "verify", thread).returncode == 0


TALKING = """
import asyncio, os, sys
from pathlib import Path
from steersman.host import Host
from steersman.records.settings import Settings

async def main(model):
    settings = Settings(model=model, approvals="never")
    async with Host.at(Path(os.environ["STEERSMAN_HOME"]), os.environ) as host:
        thread = await host.start(os.getcwd(), "talk", settings)
        await thread.send("wait")
        while not list(host.messages(thread.id, kinds={"policy"})):
            await asyncio.sleep(0.01)
        await thread.steer("steered")
        await thread.queue("queued")
        taken_back = await thread.queue("taken back")
        await thread.withdraw(taken_back)
        print(thread.id, flush=True)
        await thread.wait()

asyncio.run(main(sys.argv[1]))
"""


def test_what_was_said_to_a_turn_that_died_is_delivered_when_the_thread_goes_on(
    steer, script, gate
):
    model = script({"tool_calls": [gate.wait]}, {"text": "Waited."}, DONE, {"text": "Then this."})
    talking = subprocess.Popen(
        [sys.executable, "-c", TALKING, model],
        cwd=steer.folder,
        env=steer.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    thread = talking.stdout.readline().strip()
    kill(talking)

    work = steer.work("resume", thread)

    assert work.code == 0
    assert work.bodies("user") == [
        {"text": "steered", "via": "queue"},
        {"text": "queued", "via": "queue"},
    ]
    messages = decoded(steer("replay", thread).stdout)
    states = {}
    for message in messages:
        if message["kind"] == "steer":
            states.setdefault(message["corr"], []).append(message["body"]["state"])
    assert list(states.values()) == [
        ["waiting", "queued", "delivered"],
        ["queued", "delivered"],
        ["queued", "withdrawn"],
    ]
