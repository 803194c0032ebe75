"""`steer resume`, `replay` and `ledger`: a thread goes on, is shown again, and is proven whole."""

import random
import sqlite3
from contextlib import closing

import pytest

from tests.cli.kit import DONE, READ, decoded, until
from tests.world import call

# A segment of a script answers one prompt: the second can only be played by a model that is shown
# the first one's prompt and answer.
FIRST = [{"tool_calls": [READ]}, {"expect": "a - b", "text": "It subtracts."}]
SECOND = [{"tool_calls": [call("workspace_status")]}, {"expect": "main", "text": "On main."}]


@pytest.fixture
def story(steer, script):
    """What a first run said; its script has a second segment for who goes on."""
    return steer.work("run", "--model", script(*FIRST, *SECOND), "what does add do?")


def test_resume_goes_on_with_the_model_and_the_conversation_of_the_thread(steer, story):
    work = steer.work("resume", story.thread, "and which branch?")

    assert work.bodies("user") == [{"text": "and which branch?"}]
    assert [body["text"] for body in work.bodies("assistant") if "text" in body] == ["On main."]
    assert work.bodies("session_start")[0]["model"] == story.bodies("session_start")[0]["model"]
    assert [m["turn"] for m in work.messages if m["kind"] == "turn_start"] == [2]
    assert work.messages[0]["seq"] == story.messages[-1]["seq"] + 1


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["ID", "go", "on"], ""),
        (["ID", "-"], "go on\n"),
        (["go on"], ""),
        (["PREFIX", "go on"], ""),
    ],
    ids=["words", "standard input", "no thread named", "beginning of an id"],
)
def test_what_to_go_on_with_can_be_said_in_many_ways(steer, story, words, stdin):
    names = {"ID": story.thread, "PREFIX": story.thread[:5]}

    work = steer.work("resume", *(names.get(word, word) for word in words), stdin=stdin)

    assert work.thread == story.thread
    assert work.bodies("user") == [{"text": "go on"}]


def test_without_an_id_the_newest_thread_of_the_folder_goes_on(steer, script, story, tmp_path):
    newest = steer.work("run", "--model", script(DONE), "newest here").thread
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    steer.having(folder=elsewhere).work("run", "--model", script(DONE), "newer, elsewhere")
    steer("call", "workspace_status")

    assert steer.work("resume", "go on").thread == newest
    assert steer.work("resume", story.thread, "you go on").thread == story.thread
    assert steer.work("resume", "go on").thread == story.thread


def test_without_a_thread_in_the_folder_there_is_nothing_to_resume(steer, workspace):
    work = steer.work("resume", "go on")

    assert work.code == 2
    assert work.bodies("error") == [
        {
            "what": f"There is no thread for {workspace} yet.",
            "try_this": "`steer` starts one, and `steer run TASK` without a chat.",
        }
    ]


def test_resume_with_nothing_to_say_opens_the_thread_and_says_it_is_ready(steer, story):
    work = steer.work("resume", story.thread)

    assert work.code == 0
    assert work.bodies("session_end")[0]["status"] == "done"


def test_resume_takes_another_model_and_remembers_it(steer, script, story):
    other = script(DONE, DONE, name="other.json")

    steer.work("resume", story.thread, "go on", "--model", other)
    work = steer.work("resume", story.thread, "go on")

    assert work.bodies("session_start")[0]["model"] == other


OWN = ("mode", "model", "approvals")


def how(work):
    """What a session began with, of what a thread keeps."""
    start = work.bodies("session_start")[0]
    return tuple(start[name] for name in OWN)


def test_resume_keeps_the_threads_own_mode_model_and_approvals(steer, script):
    model = script(DONE, DONE, DONE)
    flags = ["--mode", "plan", "--approvals", "never"]
    thread = steer.work("run", "--model", model, *flags, "plan it").thread
    other = script(DONE, name="other.json")
    elsewhere = steer.having(STEERSMAN_MODE="ask", STEERSMAN_MODEL=other)

    assert how(elsewhere.work("resume", thread, "go on")) == ("plan", model, "never")
    assert how(steer.work("resume", thread, "go on")) == ("plan", model, "never")


def test_what_is_said_with_resume_counts_and_is_kept(steer, script):
    model = script(DONE, DONE, DONE)
    thread = steer.work("run", "--model", model, "--mode", "plan", "plan it").thread
    said = ["--mode", "code", "--approvals", "on-failure"]

    assert how(steer.work("resume", thread, *said, "do it")) == ("code", model, "on-failure")
    assert how(steer.work("resume", thread, "go on")) == ("code", model, "on-failure")


def test_a_chat_goes_on_as_its_thread_was_left_and_a_new_thread_does_not(steer, script):
    model = script(DONE, DONE)
    flags = ["--mode", "plan", "--approvals", "never"]
    thread = steer.work("run", "--model", model, *flags, "plan it").thread

    steer("--plain", "--resume", thread, stdin="go on\n/new\nsomething else\n")
    again = [m["body"] for m in decoded(steer("replay", thread).stdout)]
    newest = decoded(steer("threads", "list", "--json", "--limit", "1").stdout)[0]["id"]
    first = decoded(steer("replay", newest).stdout)[0]["body"]

    assert newest != thread
    assert [tuple(body[name] for name in OWN) for body in again if "trust" in body] == [
        ("plan", model, "never")
    ] * 2
    assert tuple(first[name] for name in OWN) == ("code", model, "on-request")


def test_a_chat_says_otherwise_on_the_command_line(steer, script):
    model = script(DONE, DONE)
    thread = steer.work("run", "--model", model, "--mode", "plan", "plan it").thread

    steer("--plain", "--resume", thread, "--mode", "ask", stdin="go on\n")

    starts = [m["body"] for m in decoded(steer("replay", thread).stdout)]
    assert [body["mode"] for body in starts if "trust" in body] == ["plan", "ask"]


def test_a_model_named_by_a_relative_path_is_found_from_anywhere(steer, workspace, tmp_path):
    (workspace / "model.json").write_text('{"turns": [{"text": "Done."}]}')
    thread = steer.work("run", "--model", "scripted:model.json", "begin").thread

    work = steer.having(folder=tmp_path).work("resume", thread, "go on")

    assert work.code == 0


def test_a_failed_run_can_go_on(steer, script):
    model = script({"tool_calls": [READ]}, {"expect": "a * b", "text": "No."})
    failed = steer.work("run", "--model", model, "begin")

    work = steer.work("resume", failed.thread, "go on", "--model", script(DONE, DONE))

    assert (failed.code, work.code) == (1, 0)


@pytest.mark.parametrize("flags", [["--json"], []], ids=["asked for", "piped"])
def test_replay_prints_the_messages_of_every_session(steer, story, flags):
    second = steer.work("resume", story.thread, "and which branch?")

    replayed = decoded(steer("replay", story.thread, *flags).stdout)

    assert replayed == story.messages + second.messages


def test_replay_can_be_read_by_a_person(steer, story):
    shown = steer("replay", "--plain", story.thread).stdout

    assert shown.splitlines() == [
        "› what does add do?",
        "● read_file calc.py",
        "  └ 2 of 2 lines",
        "It subtracts.",
        f"✓ done · 2 steps · thread {story.thread}",
    ]


def test_ledger_show_has_a_line_for_every_message(steer, story):
    lines = steer("ledger", "show", story.thread).stdout.splitlines()
    found = [(int(seq), kind) for seq, _, kind, *_ in map(str.split, lines)]

    assert found == [(m["seq"], m["kind"]) for m in story.messages]
    assert lines[2].endswith("what does add do?")
    assert decoded(steer("ledger", "show", story.thread, "--json").stdout) == story.messages
    later = steer("ledger", "show", story.thread, "--json", "--after", "5").stdout
    assert decoded(later) == story.messages[5:]


def test_ledger_export_writes_every_message(steer, story, tmp_path):
    file = tmp_path / "log.jsonl"

    printed = steer("ledger", "export", story.thread).stdout
    done = steer("ledger", "export", story.thread, "--output", str(file))

    assert decoded(printed) == story.messages
    assert file.read_text() == printed
    assert (done.returncode, done.stdout) == (0, f"Wrote {file}.\n")


@pytest.mark.parametrize("command", [["ledger", "export"], ["threads", "export"]], ids=" ".join)
def test_an_export_that_cannot_be_written_is_a_clear_error(steer, story, tmp_path, command):
    done = steer(*command, story.thread, "--output", str(tmp_path / "no" / "such" / "folder"))

    assert done.returncode in (1, 2)
    assert "No such file or directory" in done.stderr


def test_another_process_can_follow_a_run_while_it_goes_on(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, {"tool_calls": [READ]}, DONE)
    running = steer.start("run", "--json", "--yes", "--model", model, "work")
    before = until(running, "policy")
    gate.waiting()

    following = steer.start("ledger", "follow", "--json", before[0]["thread"])
    seen = until(following, "policy")
    gate.open()
    rest, _ = following.communicate(timeout=60)
    output, _ = running.communicate(timeout=60)

    assert seen == before
    assert seen + decoded(rest) == before + decoded(output)
    assert (following.returncode, running.returncode) == (0, 0)


def test_following_a_thread_that_has_ended_prints_it_and_ends(steer, story):
    followed = steer("ledger", "follow", "--json", story.thread)

    assert decoded(followed.stdout) == story.messages


@pytest.mark.parametrize("past", [0, 5])
def test_following_past_the_end_of_an_ended_thread_ends(steer, story, past):
    after = story.messages[-1]["seq"] + past

    process = steer.start("ledger", "follow", "--json", "--after", str(after), story.thread)
    try:
        output, _ = process.communicate(timeout=15)
    finally:
        process.kill()
        process.communicate()

    assert (process.returncode, output) == (0, "")


def test_verify_without_a_name_proves_every_thread(steer, script, story):
    other = steer.work("run", "--model", script(DONE), "another").thread
    steer("call", "workspace_status")

    done = steer("ledger", "verify")

    assert done.returncode == 0
    assert f"{story.thread}: ok, {len(story.messages)} messages\n" in done.stdout
    assert f"{other}: ok, 7 messages\n" in done.stdout
    assert len(done.stdout.splitlines()) == 3


def accused(steer, thread):
    """The messages that `ledger verify` names, once it has said that the thread is not whole."""
    done = steer("ledger", "verify", thread)
    first, *lines = done.stdout.splitlines()
    assert (done.returncode, first) == (1, f"{thread}: NOT ok")
    return [int(line.split()[1].rstrip(":")) for line in lines]


BY_SQL = {
    "body": "UPDATE messages SET body = replace(body, 'a - b', 'a / b')",
    "one byte of the body": "UPDATE messages SET body = CAST(body || ' ' AS BLOB)",
    "kind": "UPDATE messages SET kind = 'tool_resulu'",
    "path": "UPDATE messages SET path = 'somebody/else'",
    "time": "UPDATE messages SET time = '2020-01-01T00:00:00.000+00:00'",
    "time that is none": "UPDATE messages SET time = 'yesterday'",
    "turn": "UPDATE messages SET turn = turn + 1",
    "corr": "UPDATE messages SET corr = 'call_other'",
    "corr taken away": "UPDATE messages SET corr = NULL",
    "hash": "UPDATE messages SET hash = zeroblob(32)",
    "body that is no JSON": "UPDATE messages SET body = x'ff00'",
    "row deleted": "DELETE FROM messages",
}


def test_verify_names_exactly_the_message_that_was_altered(steer, home, story):
    database = home / "steersman.db"
    whole = database.read_bytes()
    seq = story.kinds().index("tool_result") + 1
    named = {}

    for name, statement in BY_SQL.items():
        database.write_bytes(whole)
        with closing(sqlite3.connect(database)) as db, db:
            assert db.execute(f"{statement} WHERE seq = ?", (seq,)).rowcount == 1
        named[name] = accused(steer, story.thread)

    assert named == {key: [seq] for key in BY_SQL}


@pytest.mark.parametrize("count", [1, 3])
def test_verify_notices_a_tail_that_was_cut_off(steer, home, story, count):
    kept = len(story.messages) - count
    with closing(sqlite3.connect(home / "steersman.db")) as db, db:
        db.execute("DELETE FROM messages WHERE seq > ?", (kept,))

    assert accused(steer, story.thread) == [kept + 1]
    words = "is missing" if count == 1 else f"to {kept + count} are missing"
    assert words in steer("ledger", "verify", story.thread).stdout


def test_verify_notices_messages_from_outside(steer, home, story):
    with closing(sqlite3.connect(home / "steersman.db")) as db, db:
        db.execute(
            "INSERT INTO messages (thread, seq, time, turn, kind, path, corr, body, hash)"
            " SELECT thread, seq + 1, time, turn, kind, path, corr, body, hash"
            " FROM messages ORDER BY seq DESC LIMIT 1"
        )

    assert len(story.messages) + 1 in accused(steer, story.thread)


def test_verify_names_every_altered_message_and_leaves_other_threads_alone(
    steer, script, home, story
):
    other = steer.work("run", "--model", script(DONE), "another").thread
    with closing(sqlite3.connect(home / "steersman.db")) as db, db:
        db.execute(
            "UPDATE messages SET path = 'x' WHERE thread = ? AND seq IN (3, 5, 6)", (story.thread,)
        )

    assert accused(steer, story.thread) == [3, 5, 6]
    assert steer("ledger", "verify", other).returncode == 0
    assert steer("ledger", "verify").returncode == 1


def test_verify_names_the_message_of_a_byte_flipped_in_the_database_file(steer, home, story):
    database = home / "steersman.db"
    whole = database.read_bytes()
    seq = story.kinds().index("tool_call") + 1
    fields = ("time", "kind", "path", "corr", "body", "hash")
    named = {}

    for field in fields:
        data = bytearray(whole)
        data[place_of(database, seq, field)] ^= 1
        database.write_bytes(data)
        named[field] = accused(steer, story.thread)
        database.write_bytes(whole)

    assert named == {key: [seq] for key in fields}


def place_of(database, seq, field):
    """Where in the file the first byte of a column of a message is."""
    with closing(sqlite3.connect(database)) as db:
        columns = "time, kind, path, corr, body, hash"
        row = db.execute(f"SELECT {columns} FROM messages WHERE seq = ?", (seq,)).fetchone()
    time, *texts, body, digest = row
    parts = [*(text.encode() for text in texts), body, digest]
    data = database.read_bytes()
    start = data.index(b"".join(parts))
    if field == "time":
        return data.rindex(time.encode(), 0, start)
    before = ["kind", "path", "corr", "body", "hash"].index(field)
    return start + sum(map(len, parts[:before]))


def test_wherever_a_byte_is_flipped_it_is_noticed_or_it_changed_nothing(steer, home, story):
    database = home / "steersman.db"
    whole = database.read_bytes()
    printed = steer("ledger", "export", story.thread).stdout
    moments = random.Random(4)

    for at in moments.sample(range(100, len(whole)), 10):
        data = bytearray(whole)
        data[at] ^= 1 << moments.randrange(8)
        database.write_bytes(data)
        if steer("ledger", "verify", story.thread).returncode == 0:
            assert steer("ledger", "export", story.thread).stdout == printed, at


def test_a_log_that_cannot_be_read_says_which_message_and_how_to_find_out_more(steer, home, story):
    with closing(sqlite3.connect(home / "steersman.db")) as db, db:
        db.execute("UPDATE messages SET body = x'ff00' WHERE seq = 4")

    done = steer("replay", story.thread)

    assert done.returncode == 1
    assert decoded(done.stdout) == story.messages[:3]
    assert f"Message 4 of thread {story.thread} cannot be read." in done.stderr
    assert f"steer ledger verify {story.thread}" in done.stderr


def test_a_thread_that_is_not_there_is_not_a_new_conversation(steer):
    done = steer("-r", "zzzz", "--plain")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no thread “zzzz”." in done.stderr
