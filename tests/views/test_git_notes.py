"""What git notes down for itself is a line; files come first; what git obeys is always shown."""

import pytest

from steersman.operations.matching.diffs import unified_diff
from steersman.records.git_names import inner
from steersman.views.git_notes import commits, counted_changes, folded, line
from tests.tui.plain.talk import piped
from tests.world import call

COMMIT = (
    "changed .git/COMMIT_EDITMSG", "changed .git/index", "changed .git/logs/HEAD",
    "created .git/objects/2c", f"created .git/objects/2c/{'1' * 38}",
    f"created .git/objects/3e/{'2' * 38}", "changed .git/refs/heads/main", "changed a.py",
)  # fmt: skip


def test_a_commit_is_a_line_below_the_files():
    assert folded(COMMIT) == ["changed a.py", "git: committed, 2 objects"]
    assert counted_changes(COMMIT) == "1 change · git: committed, 2 objects"
    assert counted_changes(["changed .git/index"]) == "git: 1 file"
    assert counted_changes([]) == ""


@pytest.mark.parametrize(
    "path",
    ["a.py", ".gitignore", ".git", ".git/config", ".git/hooks/pre-commit", ".git/info/attributes",
     ".git/objects/info/alternates", ".git/rebase-merge/git-rebase-todo",
     ".git/modules/x/config", "src/git/objects/x"],
)  # fmt: skip
def test_what_git_obeys_is_never_folded(path):
    assert inner(path) == ""
    assert folded([f"changed {path}"]) == [f"changed {path}"]


def test_what_tools_make_is_a_line():
    made = ["created __pycache__/", "created __pycache__/a.pyc", "created x/__pycache__/b.pyc"]
    assert folded(["changed a.py", *made]) == ["changed a.py", "2 files made by tools"]


def test_commits_are_counted_in_the_log_of_head():
    log = "--- a/.git/logs/HEAD\n+++ b/.git/logs/HEAD\n 0 1 me\tcommit (initial): one\n"
    assert commits(f"{log}+1 2 me\tcommit: two\n+2 3 me\tcommit (amend): three\n") == 2
    assert commits(f"{log}+1 2 me\tcheckout: moving\n") == 0


@pytest.mark.parametrize(
    ("subjects", "told"),
    [
        (["Fix fees"], "1 commit “Fix fees”, 2 objects"),
        (["one", "two", "three", "four", "five"], "5 commits “three”, “four”, “five” and 2 more"),
        (["x" * 60], f"1 commit “{'x' * 49}…”, 2 objects"),
        (["a\x1b[31m\u202eb\n\tgit: 9 commits “c”"],
         "1 commit “a\\x1b[31m\\x202eb git: 9 commits \"c\"”, 2 objects"),
        ([], "7 commits"),
    ],
)  # fmt: skip
def test_commits_are_named_by_their_subjects_which_are_a_strangers_text(subjects, told):
    paths = [f".git/objects/3e/{number:038}" for number in range(3)]
    assert line(paths, 7, subjects) == f"git: {told}"


def test_bytes_that_nobody_wrote_are_no_text():
    made = b"x\x01}\x8eA\x0e\x02!\x10\x04=\xf3"  # as git packs an object, without a zero
    assert unified_diff("o", None, made) == "Binary files /dev/null and b/o differ\n"
    assert "+caf" in unified_diff("o", None, "café\n".encode("latin-1"))


def test_what_a_thread_changed_shows_files_first_and_git_in_a_line(steer, script, workspace):
    who = "-c user.name=me -c user.email=me@example.com"
    commit = f"echo 'y = 2' > new.py && git add . && git {who} commit -qm two"
    model = script({"tool_calls": [call("workspace_run_command", command=commit)]}, {"text": "Ok."})
    found = piped(steer, model, input="go\n/diff\n/undo\n")
    assert "exit 0" in found.stdout, found.stdout
    shown = found.stdout[found.stdout.index("Changes: ") :]
    assert shown.count("git: 1 commit “two”, ") == 2, "what was done, and what undo would undo"
    assert shown.index("+++ b/new.py") < shown.index("git: 1 commit “two”, ")
    assert ".git/" not in shown
