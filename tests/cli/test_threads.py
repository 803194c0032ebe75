"""`steer threads` and `steer fork`: what conversations there are, copies of them, their removal."""

import json
from datetime import UTC, datetime

import pytest

from steersman.records.thread import Thread
from steersman.store.sqlite import SqliteStore
from tests.cli.kit import DONE, FIX, READ, decoded, threads_in
from tests.world import call

TIME = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def thread(steer, script):
    """A thread with a reading and a change in it."""
    model = script({"tool_calls": [READ]}, {"tool_calls": [FIX]}, {"text": "Mended."})
    return steer.work("run", "--model", model, "--yes", "fix add").thread


def ids(steer, *flags):
    """The threads as they are listed."""
    return [record["id"] for record in decoded(steer("threads", "list", "--json", *flags).stdout)]


def replayed(steer, thread):
    """Every message of a thread."""
    return decoded(steer("replay", thread).stdout)


def test_with_no_threads_the_list_says_how_to_start_one(steer):
    assert steer("threads", "list").stdout.startswith("No threads yet. `steer run TASK` starts one")
    assert steer("threads", "list", "--json").stdout == ""


def test_the_list_has_the_newest_thread_first_and_leaves_single_calls_out(steer, script, thread):
    later = steer.work("run", "--model", script(DONE), "another thing").thread
    steer("call", "workspace_status")

    assert ids(steer) == [later, thread]
    assert ids(steer, "--limit", "1") == [later]
    assert len(ids(steer, "--all")) == 3
    first, second = steer("threads", "list").stdout.splitlines()
    assert first.split()[0] == later
    assert first.endswith("another thing")
    assert second.split()[0] == thread


def test_the_list_can_be_of_one_folder(steer, script, thread, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "link").symlink_to(other)
    there = steer.having(folder=other).work("run", "--model", script(DONE), "elsewhere").thread

    assert ids(steer, "--workspace", str(other)) == [there]
    assert ids(steer, "--workspace", "../other") == [there]
    assert ids(steer, "--workspace", str(tmp_path / "link")) == [there]
    assert ids(steer, "--workspace", ".") == [thread]


def test_a_record_of_the_list_has_the_facts_of_a_thread(steer, thread, workspace):
    (record,) = decoded(steer("threads", "list", "--json").stdout)
    shown = json.loads(steer("threads", "show", thread, "--json").stdout)

    assert record == shown
    assert record == {
        "id": thread,
        "title": "fix add",
        "workspace": str(workspace),
        "origin": "run",
        "created": record["created"],
        "updated": record["updated"],
        "parent": None,
        "parent_seq": None,
        "messages": len(replayed(steer, thread)),
        "state": "idle",
        "result": "done",
    }


def test_show_tells_the_facts_and_the_conversation(steer, thread, workspace):
    shown = steer("threads", "show", thread).stdout

    assert (
        f"thread     {thread}\ntitle      fix add\nstate      idle, the last turn: done\n" in shown
    )
    assert f"turn: done\nworkspace  {workspace}\n" in shown
    assert "› fix add\n● read_file calc.py\n" in shown
    assert "  +    return a + b\n" in shown
    assert "Mended.\n✓ done" in shown


def test_the_beginning_of_an_id_is_enough(steer, thread):
    for length in (10, 6, 1):
        shown = steer("threads", "show", thread[:length], "--json").stdout
        assert json.loads(shown)["id"] == thread


def test_a_beginning_of_several_ids_is_refused_and_names_them(steer, home):
    store = SqliteStore(home)
    for name in ("abc2222222", "abc3333333", "xyz4444444"):
        store.create_thread(Thread(name, "title", "/somewhere", "run", TIME, TIME))
    store.close()

    done = steer("threads", "show", "abc")

    assert done.returncode == 2
    assert "“abc” matches several thread ids: " in done.stderr
    assert "abc2222222" in done.stderr
    assert "abc3333333" in done.stderr
    assert "xyz4444444" not in done.stderr
    assert steer("threads", "show", "abc2", "--json").returncode == 0


@pytest.mark.parametrize(
    "command", [["threads", "show"], ["attach"], ["resume"], ["-p", "go", "-r"]]
)
@pytest.mark.parametrize("typed", ["k7mq2xw9pd", "k7n"])
def test_an_id_with_a_slip_names_the_nearest_ones(steer, home, command, typed):
    """Whoever mistypes an id gets the thread that they meant, with its title."""
    store = SqliteStore(home)
    for name, title in (("k7mq2xw9pc", "fix add"), ("zzzzzzzzzz", "other")):
        store.create_thread(Thread(name, title, "/somewhere", "run", TIME, TIME))
    store.close()

    done = steer(*command, typed)

    assert done.returncode == 2
    assert f"There is no thread “{typed}”." in done.stderr
    assert "Did you mean k7mq2xw9pc (fix add)?" in done.stderr
    assert "zzzzzzzzzz" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["threads", "show"],
        ["threads", "rm", "--yes"],
        ["threads", "export"],
        ["fork"],
        ["replay"],
        ["resume"],
        ["ledger", "show"],
        ["ledger", "follow"],
        ["ledger", "verify"],
        ["ledger", "export"],
    ],
    ids=" ".join,
)
def test_a_thread_that_is_not_there_is_a_clear_error(steer, command):
    done = steer(*command, "nothere")

    assert done.returncode == 2
    assert "There is no thread “nothere”." in done.stderr
    assert "`steer threads list` shows them." in done.stderr


def test_no_name_finds_a_thread_it_is_not_the_beginning_of(steer, thread, home):
    for name in ("", "%", "_", thread[1:], f"{thread}x", "../../etc/passwd"):
        done = steer("threads", "rm", "--yes", name)
        assert done.returncode == 2
        assert f"There is no thread “{name}”." in done.stderr
    assert threads_in(home) == [thread]


def test_rm_removes_what_was_named_and_nothing_else(steer, script, thread):
    other = steer.work("run", "--model", script(DONE), "stay").thread

    done = steer("threads", "rm", "--yes", thread)

    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "Removed 1."
    assert ids(steer, "--all") == [other]
    assert steer("ledger", "verify").stdout.startswith(f"{other}: ok")


def test_rm_without_yes_and_without_a_terminal_removes_nothing(steer, thread):
    done = steer("threads", "rm", thread)

    assert done.returncode == 4
    assert thread in done.stdout
    assert "fix add" in done.stdout
    assert "Pass --yes to remove them." in done.stderr
    assert ids(steer) == [thread]


def test_rm_of_several_removes_none_when_one_is_unknown(steer, thread):
    assert steer("threads", "rm", "--yes", thread, "nothere").returncode == 2
    assert ids(steer) == [thread]


def test_an_export_imported_elsewhere_is_the_same_thread(steer, script, thread, tmp_path):
    file = tmp_path / "thread.jsonl"
    assert steer("threads", "export", thread, "-o", str(file)).returncode == 0
    assert steer("threads", "export", thread).stdout == file.read_text()
    elsewhere = steer.having(STEERSMAN_HOME=str(tmp_path / "elsewhere"))

    imported = elsewhere("threads", "import", str(file))

    assert (imported.returncode, imported.stdout) == (0, f"{thread}\n")
    assert replayed(elsewhere, thread) == replayed(steer, thread)
    assert elsewhere("ledger", "verify", thread).returncode == 0
    work = elsewhere.work("resume", thread, "go on", "--model", script(DONE))
    assert work.bodies("turn_end") == [{"ending": "done", "steps": 1}]


@pytest.mark.parametrize(
    "created", ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00", "2026-01-01T00:00:00"]
)
def test_a_thread_of_any_day_of_the_calendar_is_listed_and_shown(steer, thread, tmp_path, created):
    lines = steer("threads", "export", thread).stdout.splitlines()
    changed(0, "created", created)(lines)
    file = tmp_path / "thread.jsonl"
    file.write_text("\n".join(lines) + "\n")
    elsewhere = steer.having(STEERSMAN_HOME=str(tmp_path / "elsewhere"), TZ="Asia/Tokyo")

    assert elsewhere("threads", "import", str(file)).returncode == 0

    assert elsewhere("threads", "list", "--all").returncode == 0
    assert created[:4] in elsewhere("threads", "show", thread).stdout


def test_a_thread_that_is_there_already_is_not_imported_over(steer, thread, tmp_path):
    file = tmp_path / "thread.jsonl"
    steer("threads", "export", thread, "-o", str(file))
    before = replayed(steer, thread)

    done = steer("threads", "import", str(file))

    assert done.returncode == 2
    assert f"Thread {thread} is already here." in done.stderr
    assert replayed(steer, thread) == before


def changed(part, name, value):
    """A change of one field of a line of an export."""

    def change(lines):
        record = json.loads(lines[part])
        holder = record["thread"] if part == 0 else record
        assert holder[name] != value
        holder[name] = value
        lines[part] = json.dumps(record)

    return change


def without_tail(lines):
    """The end is missing, and the header was made to fit."""
    del lines[-2:]
    changed(0, "head", len(lines) - 1)(lines)


ALTERED = {
    "a body": changed(3, "body", {"text": "delete everything"}),
    "a lane": changed(3, "path", "somebody/else"),
    "a hash": changed(3, "hash", "AAAA"),
    "the last hash": changed(0, "head_hash", "AAAA"),
    "a missing message": lambda lines: lines.pop(4),
    "two messages swapped": lambda lines: lines.insert(4, lines.pop(5)),
    "a missing end": lambda lines: lines.pop(),
    "a missing end that the header hides": without_tail,
    "a missing header": lambda lines: lines.pop(0),
    "no messages": lambda lines: lines.clear(),
    "half a line": lambda lines: lines.append(lines.pop()[:20]),
    "an id that is a path": changed(0, "id", "../../project/calc.py"),
}


def test_an_altered_export_is_refused_and_nothing_is_imported(steer, thread, tmp_path):
    export = steer("threads", "export", thread).stdout.splitlines()
    outcome = {}

    for name, alter in ALTERED.items():
        lines = list(export)
        alter(lines)
        home = tmp_path / name
        elsewhere = steer.having(STEERSMAN_HOME=str(home))
        done = elsewhere("threads", "import", "-", stdin="".join(f"{line}\n" for line in lines))
        outcome[name] = (done.returncode, done.stderr[:7], threads_in(home))

    assert outcome == dict.fromkeys(ALTERED, (2, "Error: ", []))


def test_renaming_the_folder_loses_nothing(steer, script, thread, workspace):
    before = replayed(steer, thread)
    moved = workspace.rename(workspace.with_name("renamed"))
    there = steer.having(folder=moved)

    lost = there.work("resume", thread, "go on", "--model", script(DONE))
    model = script({"text": "Mended."}, {"tool_calls": [READ]}, {"expect": "a + b", **DONE})
    work = there.work("resume", thread, "go on", "--workspace", ".", "--model", model)

    assert lost.code == 2
    assert lost.bodies("error")[0]["what"] == f"The workspace {workspace} does not exist."
    assert work.code == 0
    assert replayed(there, thread) == before + work.messages
    assert ids(there, "--workspace", str(moved)) == [thread]
    assert there.work("resume", thread, "again").code == 0


def test_a_folder_that_does_not_exist_is_not_remembered(steer, script, thread, workspace):
    assert steer.work("resume", thread, "go on", "--workspace", "nowhere").code == 2
    (record,) = decoded(steer("threads", "list", "--json").stdout)
    assert record["workspace"] == str(workspace)


def test_a_fork_shares_history_and_both_go_on_by_themselves(steer, script, thread):
    history = replayed(steer, thread)
    copy = steer("fork", thread).stdout.strip()
    facts = json.loads(steer("threads", "show", copy, "--json").stdout)

    steer.work("resume", thread, "to the left", "--model", script(DONE))
    steer.work("resume", copy, "to the right", "--model", script(DONE))

    assert (facts["parent"], facts["parent_seq"]) == (thread, len(history))
    assert facts["origin"] == "fork"
    for name, said in ((thread, "to the left"), (copy, "to the right")):
        messages = replayed(steer, name)
        shared = [{**message, "thread": name} for message in history]
        assert messages[: len(history)] == shared
        assert [m["body"] for m in messages if m["kind"] == "user"][1:] == [{"text": said}]
        assert steer("ledger", "verify", name).returncode == 0


def test_a_fork_can_begin_at_any_message(steer, script, thread):
    history = replayed(steer, thread)
    (first_call,) = [m["seq"] for m in history if m["kind"] == "tool_call"][:1]

    copy = json.loads(steer("fork", thread, "--at", str(first_call), "--json").stdout)["id"]
    model = script({"tool_calls": [call("workspace_status")]}, DONE)
    work = steer.work("resume", copy, "another way", "--model", model)

    assert work.bodies("tool_result")[0] == {
        "tool": "workspace_read_file",
        "status": "interrupted",
        "message": "interrupted: it had not begun",
    }
    assert work.code == 0
    assert replayed(steer, copy)[:first_call] == [
        {**message, "thread": copy} for message in history[:first_call]
    ]
    assert replayed(steer, thread) == history
    assert steer("ledger", "verify").returncode == 0


@pytest.mark.parametrize("at", ["0", "-1", "9999"])
def test_a_fork_needs_a_message_that_is_there(steer, thread, at):
    done = steer("fork", thread, "--at", at)

    assert done.returncode == 2
    assert f"has no message {at}." in done.stderr
    assert ids(steer) == [thread]
