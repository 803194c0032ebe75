"""Bad input and bad circumstances: a clear error, the right exit code, and nothing lost.

That no traceback is ever shown is checked by the `steer` of these tests, each time it is used.
"""

import os
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from socket import gethostname

import pytest

from steersman.ports.cli import chat, work
from steersman.ports.cli.app import COMMANDS, elsewhere
from tests.cli.kit import (
    BROKEN,
    DONE,
    FIX,
    FIXED,
    READ,
    assert_civil,
    decoded,
    shell,
    threads_in,
    until,
    without_privilege,
)
from tests.world import STEER, call

# The script file


SCRIPTS = {
    "no JSON": (b"turns: none", "is not a valid script."),
    "cut off": (b'{"turns": [{"text": "Do', "is not a valid script."),
    "not UTF-8": (b'{"turns": [{"text": "\xff"}]}', "is not a valid script."),
    "a list": (b"[]", "It must be an object, not a list."),
    "no turns": (b"{}", "`turns` is missing"),
    "turns of a wrong shape": (b'{"turns": {"text": "x"}}', "`turns` must be a list"),
    "a turn of a wrong shape": (b'{"turns": ["x"]}', "`turns[0]` must be an object"),
    "an unknown field": (b'{"turns": [{"txt": "x"}]}', "There is no `turns[0].txt`."),
    "a wrong value": (b'{"turns": [{"chunk": "big"}]}', "`turns[0].chunk` must be"),
    "an empty list of turns": (b'{"turns": []}', "has no turns."),
    "an empty file": (b"", "is not a valid script."),
}


@pytest.mark.parametrize(("content", "told"), SCRIPTS.values(), ids=SCRIPTS)
def test_a_broken_script_is_named_with_what_is_wrong(steer, tmp_path, content, told):
    path = tmp_path / "broken.json"
    path.write_bytes(content)

    done = steer("run", "--model", f"scripted:{path}", "go")

    assert done.returncode == 1
    assert f"The script file {path}" in done.stderr
    assert told in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: None, "No such file or directory"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.touch(mode=0o000), "Permission denied"),
    ],
    ids=["missing", "a folder", "unreadable"],
)
def test_a_script_that_cannot_be_read_is_named_with_the_reason(steer, tmp_path, make, told):
    path = tmp_path / "script.json"
    make(path)

    done = steer.having(before=without_privilege)("run", "--model", f"scripted:{path}", "go")

    assert done.returncode == 1
    assert f"The script file {path} cannot be read.\n  {told}" in done.stderr


@pytest.mark.parametrize(
    "model", ["clever:one", "scripted", "scripted:", "", ":", "scripted:\x1b[2J"]
)
def test_a_model_that_is_not_there_is_a_clear_error(steer, model):
    done = steer("run", "--model", model, "go")

    assert done.returncode in (1, 2)
    assert done.stderr.startswith("Error: ")
    assert "\x1b" not in done.stderr


# The workspace


@pytest.mark.parametrize(
    ("command", "folder", "told"),
    [
        (["run", "go"], "nowhere", "does not exist."),
        (["run", "go"], "calc.py", "is not a folder."),
        (["run", "go"], "calc.py/x", "does not exist."),
        (["call", "workspace_status"], "nowhere", "does not exist."),
        (["tools"], "calc.py", "is not a folder."),
    ],
)
def test_a_workspace_that_is_no_folder_is_named(
    steer, script, home, workspace, command, folder, told
):
    model = ["--model", script(DONE)] if command[0] != "tools" else []

    done = steer(*command, *model, "--workspace", folder)

    assert done.returncode == 2
    assert f"The workspace {workspace / folder} {told}" in done.stderr
    assert threads_in(home) == []


def test_a_folder_that_was_removed_meanwhile_is_a_clear_error(steer, script, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    inside = steer.having(folder=gone, before=lambda: os.rmdir(os.getcwd()))

    work = inside.work("run", "--model", script(DONE), "go")

    assert work.code == 2
    assert "folder" in work.bodies("error")[0]["what"]


def test_a_workspace_whose_name_is_not_unicode_is_used_or_refused_in_words(steer, script):
    folder = os.path.join(os.fsencode(steer.folder), b"caf\xe9")
    os.mkdir(folder)
    inside = steer.having(folder=Path(os.fsdecode(folder)))

    done = inside("run", "--model", script(DONE), "go")

    assert done.returncode in (0, 2)


def test_names_of_files_that_are_not_unicode_do_not_end_the_run(steer, script, workspace):
    with open(os.path.join(os.fsencode(workspace), b"caf\xe9.txt"), "wb") as file:
        file.write(b"coffee\n")
    model = script(
        {"tool_calls": [call("workspace_status"), call("workspace_list_files")]},
        {"expect": "calc.py", "tool_calls": [shell("ls")]},
        DONE,
    )

    work = steer.work("run", "--model", model, "--yes", "look")

    assert [body["status"] for body in work.bodies("tool_result")] == ["ok"] * 3
    assert work.code == 0


IMPOSSIBLE = [
    call("workspace_write_file", path="closed/new.txt", content="x"),
    call("workspace_write_file", path="calc.py/new.txt", content="x"),
    call("workspace_write_file", path="folder", content="x"),
    call("workspace_write_file", path="x" * 300, content="x"),
    call("workspace_write_file", path="pipe", content="x"),
    call("workspace_write_file", path="", content="x"),
    call("workspace_read_file", path="pipe"),
    call("workspace_read_file", path="missing"),
    call("workspace_read_file", path="unreadable"),
    call("workspace_read_file", path="binary"),
    call("workspace_read_file", path="loop"),
    call("workspace_read_file", path="nul\0"),
    call("workspace_read_file", path="folder"),
    call("workspace_read_file", path="calc.py", offset=1000),
    call("workspace_list_files", path="calc.py"),
    call("workspace_list_files", path="missing"),
    call("workspace_run_command", command="true", cwd="missing"),
    call("workspace_run_command", command="true", cwd="calc.py"),
    call("workspace_run_command", command="echo \0"),
]


def test_what_a_tool_cannot_do_goes_back_to_the_model(steer, script, workspace):
    (workspace / "closed").mkdir(mode=0o555)
    (workspace / "folder").mkdir()
    (workspace / "unreadable").touch(mode=0o000)
    (workspace / "binary").write_bytes(b"\0\1\2")
    (workspace / "loop").symlink_to("loop")
    os.mkfifo(workspace / "pipe")
    unprivileged = steer.having(before=without_privilege)
    model = script({"tool_calls": IMPOSSIBLE}, {"tool_calls": [READ]}, {"expect": "a - b", **DONE})

    work = unprivileged.work("run", "--model", model, "--yes", "try")

    *failed, read = work.bodies("tool_result")
    assert [body["status"] for body in failed] == ["error"] * len(IMPOSSIBLE)
    assert [b["message"] for b in failed if "failed: " in b["message"]] == []
    assert (read["status"], work.code) == ("ok", 0)


# The task


@pytest.mark.parametrize("words", [["run"], ["run", ""], ["run", " \n "], ["-e", ""], ["run", "-"]])
def test_without_a_task_nothing_is_done(steer, script, home, words):
    done = steer.having(STEERSMAN_MODEL=script(DONE))(*words)

    assert done.returncode == 2
    assert "There is no task." in done.stderr
    assert 'steer run "fix the bug"' in done.stderr
    assert threads_in(home) == []


ODD = [
    "fix\0this",
    "fix \x1b[31mthis\x07\x9b2J",
    "fix \"this\" 'and' \\that\\",
    "fix\r\nthis\n\n\nand\ttabs",
    "fix \u202ethis",
    "fix 👩‍👩‍👧 this",
    "'; DROP TABLE messages; --",
    "fix " * 50_000,
]


def test_a_task_of_any_characters_is_kept_and_shown_safely(steer, script):
    task = " and ".join(ODD)
    model = script({"text": task})

    work = steer.work("run", "--model", model, "-", stdin=task)
    plain = steer("run", "--model", model, "-", stdin=task)
    listed = steer("threads", "list")

    assert [body["text"] for body in work.bodies("user")] == [task.strip()]
    assert [body["text"] for body in work.bodies("assistant")] == [task]
    assert decoded(steer("replay", work.thread).stdout) == work.messages
    for shown in (plain.stdout, listed.stdout, steer("ledger", "show", work.thread).stdout):
        assert not set(shown) & set("\0\x1b\x07\x9b\r\u202e")


@pytest.mark.parametrize("how", ["argument", "standard input"])
def test_a_task_that_is_not_unicode_is_taken_or_refused_in_words(steer, script, how):
    task = b"caf\xe9"
    words = [task] if how == "argument" else ["-"]

    done = subprocess.run(
        [*STEER, "run", "--json", "--model", script(DONE), *words],
        cwd=steer.folder,
        env=steer.environ,
        input=task,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert_civil(done.stderr.decode())
    assert decoded(done.stdout.decode())[-1]["body"]["exit"] == done.returncode


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"], ids=ascii)
def test_a_model_may_say_half_a_character(steer, script, text):
    model = script({"text": text, "tool_calls": [call("workspace_read_file", path=text)]}, DONE)

    assert steer.work("run", "--model", model, "go").code in (0, 1)


USAGE = [
    (["frobnicate"], "There is no command “frobnicate”."),
    (["resme"], "Did you mean `steer resume`?"),
    (["thread", "list"], "Did you mean `steer threads`?"),
    (["cst", "--json"], "Did you mean `steer cost`?"),
    (["rnu"], "Did you mean `steer run`?"),
    (["exec", "hi"], "Did you mean `steer run`?"),
    (["auth", "login"], "Did you mean `steer login`?"),
    (["auth", "logout"], "Did you mean `steer logout`?"),
    (["history"], "Did you mean `steer threads list`?"),
    (["sessions"], "Did you mean `steer threads list`?"),
    (["session", "list"], "Did you mean `steer threads list`?"),
    (["logs", "--json"], "Did you mean `steer threads list`?"),
    (["usage"], "Did you mean `steer cost`?"),
    (["continue"], "Did you mean `steer -c`?"),
    (["help", "undoo"], "Did you mean `steer undo`?"),
    (["--yolo", "go"], "Here it is `--yes`, not --yolo.\n  It approves everything"),
    (["--dangerously-skip-permissions"], "Here it is `--yes`, not --dangerously-skip-permissions."),
    (["run", "--full-auto", "go"], "Here it is `--yes`, not --full-auto."),
    (["run", "--mode", "fast", "go"], "'fast' is not one of"),
    (["run", "--approvals", "sometimes", "go"], "'sometimes' is not one of"),
    (["run", "--max-steps", "0", "go"], "0 is not in the range"),
    (["run", "--max-steps", "few", "go"], "'few' is not a valid integer"),
    (["run", "--colour", "red", "go"], "No such option"),
    (["threads"], "list"),
    (["threads", "show"], "Missing argument"),
    (["threads", "import", "missing.jsonl"], "No such file or directory"),
    (["fork", "abc", "--at", "first"], "'first' is not a valid integer"),
    (["ledger", "show", "abc", "--after", "x"], "'x' is not a valid integer"),
]


@pytest.mark.parametrize(("arguments", "told"), USAGE, ids=lambda v: str(v))
def test_a_wrong_command_line_is_a_usage_error(steer, arguments, told):
    done = steer(*arguments)

    assert done.returncode == 2
    assert told in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["help"], ["--help"]),
        (["help", "undo"], ["undo", "--help"]),
        (["help", "threads", "list"], ["threads", "list", "--help"]),
    ],
)
def test_help_is_also_a_word(steer, words, same):
    asked, flag = steer(*words), steer(*same)

    assert (asked.returncode, asked.stdout) == (0, flag.stdout)


def test_the_help_says_what_each_trust_means(steer):
    shown = " ".join(steer("chat", "--help").stdout.split())

    assert "restricted: nothing is written or run; sandboxed: commands run in a sandbox" in shown
    assert "untrusted: no sandbox, full access, never for code you do not trust." in shown


@pytest.mark.parametrize("task", ["help me with this", "history of add() please", "log the sum"])
def test_a_task_may_begin_with_a_word_that_means_something_alone(steer, task):
    """Without a terminal the chat says that there is none."""
    assert "There is no terminal to chat in." in steer(*task.split()).stderr


def test_what_other_agents_call_a_command_or_a_flag_is_one_here():
    known = elsewhere()
    flags = {name for one in working_flags() for name in one.opts}
    for meant in (*known["commands"].values(), *known["alone"].values()):
        assert meant.split()[0] in (*COMMANDS, "-c", "--version")
    for meant, does in known["flags"].values():
        assert flags >= {word for word in meant.split() if word.startswith("-")}
        assert does.endswith(".")


def working_flags():
    return [*chat.command.params, *work.run.params]


# Settings


SETTINGS = {
    "syntax": (b"model = ", "It is not TOML; the end of it is missing."),
    "unknown key": (b'modle = "scripted:x"', "There is no setting “modle”. Did you mean “mode”"),
    "wrong value": (b'mode = "fast"', "“fast” is not valid for mode. It must be one of ask, code"),
    "wrong type": (b"model = 3", "“3” is not valid for model. It must be text."),
    "out of range": (b"max_steps = 0", "max_steps. It must be a whole number of at least 1."),
    "not UTF-8": (b'model = "\xff"', ""),
}


@pytest.mark.parametrize(("content", "told"), SETTINGS.values(), ids=SETTINGS)
def test_a_broken_settings_file_is_named_with_its_key(steer, script, environ, content, told):
    path = settings_file(environ)
    path.write_bytes(content)

    work = steer.work("run", "--model", script(DONE), "go")

    assert work.code == 2
    assert str(path) in work.stderr
    assert told in work.stderr
    assert path.read_bytes() == content


def test_a_broken_settings_file_does_not_keep_a_thread_from_being_read(steer, script, environ):
    thread = steer.work("run", "--model", script(DONE), "go").thread
    path = settings_file(environ)
    path.write_text("model = ")

    assert steer("threads", "list").returncode == 0
    assert steer("replay", thread).returncode == 0
    assert str(path) in steer("doctor").stdout


def test_a_broken_settings_file_that_may_name_a_store_is_an_error(steer, environ):
    path = settings_file(environ)
    path.write_text('store = "postgresql://db/steersman"\nmodel = ')

    done = steer("threads", "list")

    assert done.returncode == 2
    assert str(path) in done.stderr


def settings_file(environ):
    """The user's settings, with their folder made."""
    folder = Path(environ["XDG_CONFIG_HOME"]) / "steersman"
    folder.mkdir(parents=True)
    return folder / "config.toml"


@pytest.mark.parametrize(
    ("name", "value"),
    [("MODE", "fast"), ("TRUST", "full"), ("APPROVALS", "maybe"), ("MAX_STEPS", "many")],
)
def test_a_wrong_variable_is_named(steer, script, name, value):
    changed = steer.having(**{f"STEERSMAN_{name}": value})

    work = changed.work("run", "--model", script(DONE), "go")

    assert work.code == 2
    assert f"STEERSMAN_{name}" in work.stderr


def test_settings_come_from_file_then_variable_then_flag(steer, script, environ):
    settings_file(environ).write_text(f'model = "{script(DONE)}"\nmode = "ask"\nmax_steps = 7\n')

    from_file = steer.work("run", "go").bodies("session_start")[0]["mode"]
    variable = steer.having(STEERSMAN_MODE="code")
    from_variable = variable.work("run", "go").bodies("session_start")[0]["mode"]
    from_flag = variable.work("run", "--mode", "ask", "go").bodies("session_start")[0]["mode"]

    assert (from_file, from_variable, from_flag) == ("ask", "code", "ask")


# The data folder


def test_a_data_folder_that_is_a_file_is_a_clear_error(steer, script, home):
    home.write_text("precious\n")

    work = steer.work("run", "--model", script(DONE), "go")

    assert work.code == 1
    assert f"The data folder {home} cannot be used." in work.stderr
    assert "STEERSMAN_HOME" in work.stderr
    assert steer("threads", "list").returncode == 1
    assert steer("doctor").returncode == 1
    assert home.read_text() == "precious\n"


def test_a_database_that_is_none_is_a_clear_error_and_stays_as_it_is(steer, script, home):
    home.mkdir()
    (home / "steersman.db").write_bytes(b"not a database, but mine\n" * 100)

    work = steer.work("run", "--model", script(DONE), "go")

    assert work.code == 1
    assert str(home) in work.stderr
    assert (home / "steersman.db").read_bytes() == b"not a database, but mine\n" * 100


@pytest.fixture
def read_only(steer, home):
    """Makes the data folder read-only; the answer is a `steer` that has to respect that."""

    def lock():
        for path in (home, *home.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        return steer.having(before=without_privilege)

    yield lock
    for path in (home, *home.rglob("*")):
        path.chmod(0o755)


READERS = [
    ["threads", "list"],
    ["threads", "show", "THREAD"],
    ["threads", "export", "THREAD"],
    ["replay", "THREAD"],
    ["ledger", "show", "THREAD"],
    ["ledger", "follow", "THREAD"],
    ["ledger", "verify"],
    ["ledger", "export", "THREAD"],
]


def test_a_read_only_data_folder_can_be_read_but_not_worked_in(steer, script, home, read_only):
    thread = steer.work("run", "--model", script(DONE), "before").thread
    commands = [[thread if word == "THREAD" else word for word in words] for words in READERS]
    readable = [steer(*words).stdout.splitlines()[-1] for words in commands]
    locked = read_only()
    before = contents(home)

    read = [locked(*words) for words in commands]
    run = locked.work("run", "--model", script(DONE), "go")
    resumed = locked.work("resume", thread, "go on")
    removed = locked("threads", "rm", "--yes", thread)
    forked = locked("fork", thread)

    failed = [done.args[3:] for done in read if done.returncode]
    assert failed == []
    assert [done.stdout.splitlines()[-1] for done in read] == readable
    for code, errors in [
        (run.code, run.stderr),
        (resumed.code, resumed.stderr),
        (removed.returncode, removed.stderr),
        (forked.returncode, forked.stderr),
    ]:
        assert code == 1
        assert f"The data folder {home} cannot be used." in errors
        assert "Make it writable, or set STEERSMAN_HOME to a folder that is." in errors
    assert locked("doctor").returncode == 1
    assert contents(home) == before


def contents(folder):
    """Every file below a folder."""
    return {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_what_a_killed_run_wrote_can_be_read_in_a_read_only_data_folder(
    steer, script, gate, read_only
):
    model = script({"tool_calls": [gate.wait]}, DONE)
    running = steer.start("run", "--json", "--yes", "--model", model, "go")
    seen = until(running, "policy")
    gate.waiting()
    running.kill()
    running.communicate()

    locked = read_only()
    shown = decoded(locked("ledger", "show", "--json", seen[0]["thread"]).stdout)

    assert shown[: len(seen)] == seen


def test_a_data_folder_that_cannot_be_made_is_a_clear_error(steer, script, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    locked = steer.having(before=without_privilege, STEERSMAN_HOME=str(closed / "data"))

    work = locked.work("run", "--model", script(DONE), "go")

    assert work.code == 1
    assert f"The data folder {closed / 'data'} cannot be used." in work.stderr


def limited(size):
    """A disk on which no file grows beyond a size."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


STEPS = {
    "reads": [READ, READ],
    "commands": [shell("cat calc.py")],
    "edits": [FIX, call("workspace_write_file", path="calc.py", content=BROKEN)],
}


@pytest.mark.parametrize("size", [280_000, 360_000])
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_full_disk_ends_the_run_in_words_and_loses_nothing_before(
    steer, script, workspace, step, size
):
    model = script(*[{"text": "x" * 500, "tool_calls": step}] * 40, DONE)
    arguments = ("run", "--json", "--yes", "--model", model, "fill the disk")

    done = steer.having(before=limited(size))(*arguments)
    printed = decoded(done.stdout)
    written = [message for message in printed if message["seq"]]
    thread = written[0]["thread"]

    assert done.returncode == 1
    assert printed[-1]["kind"] == "session_end"
    assert printed[-1]["body"]["status"] == "failed"
    assert printed[-1]["body"]["exit"] == 1
    assert "There is no room left to write the log." in done.stderr
    assert "Free some disk space and continue with `steer resume`" in done.stderr
    assert [message["kind"] for message in written[:3]] == ["session_start", "turn_start", "user"]
    assert (workspace / "calc.py").read_text() in (BROKEN, FIXED)

    work = steer.work("resume", thread, "go on", "--model", script(DONE, DONE))

    assert work.code == 0
    assert decoded(steer("replay", thread).stdout)[: len(written)] == written
    assert steer("ledger", "verify", thread).returncode == 0


def test_a_full_disk_at_the_start_is_a_clear_error(steer, script):
    work = steer.having(before=limited(10_000)).work("run", "--model", script(DONE), "go")

    assert work.code == 1
    assert "There is no room left to write the log." in work.stderr
    assert steer.work("run", "--model", script(DONE), "go").code == 0


def test_a_full_disk_for_the_workspace_is_told_to_the_model(steer, script, workspace):
    before = "x\n" * 150_000
    (workspace / "long.txt").write_text(before)
    edit = {"search": "x", "replace": "y" * 20, "replace_all": True}
    grow = call("workspace_edit_files", files=[{"path": "long.txt", "edits": [edit]}])
    model = script({"tool_calls": [grow]}, {"text": "It is full."})

    work = steer.having(before=limited(1_000_000)).work("run", "--model", model, "--yes", "grow")

    assert [body["status"] for body in work.bodies("tool_result")] == ["error"]
    assert (workspace / "long.txt").read_text() == before
    assert sorted(os.listdir(workspace)) == [".git", "README.md", "calc.py", "long.txt"]


def test_a_database_of_a_newer_version_is_only_read_and_left_as_it_is(steer, script, home):
    thread = steer.work("run", "--model", script(DONE), "before").thread
    with closing(sqlite3.connect(home / "steersman.db")) as db:
        db.execute("PRAGMA user_version=99")
    before = contents(home)
    beside = {f"steersman.db-{name}" for name in ("shm", "wal")}  # how SQLite reads

    for words, code in (
        (["run", "--model", script(DONE), "go"], 1),
        (["resume", thread, "go on"], 1),
        (["threads", "list"], 0),
        (["ledger", "verify"], 0),
        (["call", "workspace_status"], 1),
    ):
        done = steer(*words)
        told = f"The database {home / 'steersman.db'} was written by a newer Steersman."
        assert done.returncode == code
        assert told in done.stderr
        assert "It has schema 99" in done.stderr
        assert ("Nothing was changed." in done.stderr) is bool(code)
        after = contents(home)
        assert {name: after[name] for name in after.keys() - beside} == before


# Two processes


def test_a_second_process_on_a_thread_is_refused_and_does_not_disturb_the_first(
    steer, script, gate, tmp_path
):
    other = tmp_path / "other"
    other.mkdir()
    model = script({"tool_calls": [gate.wait]}, {"tool_calls": [READ]}, {"expect": "a - b", **DONE})
    first = steer.start("run", "--json", "--yes", "--model", model, "work")
    seen = until(first, "policy")
    thread = seen[0]["thread"]
    gate.waiting()

    second = steer.work("resume", thread, "me too", "--model", script(DONE, name="second.json"))
    moving = steer.work("resume", thread, "me too", "--workspace", str(other))
    removing = steer("threads", "rm", "--yes", thread)
    showing = steer("threads", "show", thread)
    gate.open()
    rest, errors = first.communicate(timeout=60)

    told = f"Thread {thread} is open in another process (pid {first.pid} on {gethostname()})."
    assert (second.code, moving.code, removing.returncode) == (1, 1, 1)
    for output in (second.stderr, moving.stderr, removing.stderr):
        assert told in output
        assert f"steer fork {thread}" in output
    assert showing.returncode == 0
    assert told in showing.stdout
    assert (first.returncode, errors) == (0, "")
    assert decoded(steer("replay", thread).stdout) == seen + decoded(rest)
    assert steer("ledger", "verify", thread).returncode == 0
    (record,) = decoded(steer("threads", "list", "--json").stdout)
    assert record["workspace"] == str(steer.folder)


def test_many_processes_can_work_on_threads_of_their_own(steer, script):
    model = script({"tool_calls": [READ]}, DONE)
    running = [steer.start("run", "--model", model, f"task {n}") for n in range(6)]

    for process in running:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")
    done = steer("ledger", "verify")
    assert (done.returncode, done.stdout.count(": ok, ")) == (0, 6)


# The output


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_that_knows_few_letters_gets_the_others_replaced(steer, script, encoding):
    poor = steer.having(PYTHONIOENCODING=encoding)
    model = script({"text": "Dône ✓ 👍"})

    plain = poor("run", "--model", model, "say it")
    work = poor.work("run", "--model", model, "say it")

    assert plain.returncode == 0
    assert [body["text"] for body in work.bodies("assistant")] == ["Dône ✓ 👍"]


@pytest.mark.parametrize("words", ["--help", "--version", "threads list"])
@pytest.mark.parametrize("closed", [">&-", "<&-", ">&- <&-"])
def test_a_stream_that_is_closed_is_no_error(steer, words, closed):
    line = f"exec {sys.executable} -m steersman {words} {closed}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=steer.folder, env=steer.environ, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
