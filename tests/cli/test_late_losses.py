"""What was put away is followed over the turns of a thread: stashes, and what was staged."""

import os
from subprocess import CalledProcessError

import pytest

from tests.cli.kit import DONE, shell
from tests.cli.test_losses import NEVER, TEXT, repository, told, worked

__all__ = ["repository"]


def resumed(steer, script, messages, *commands):
    """What each command of another turn of the same thread came to."""
    model = script(*({"tool_calls": [shell(one)]} for one in commands), DONE)
    return told(steer.messages("resume", messages[0]["thread"], "on", "--model", model, *NEVER))


@pytest.mark.parametrize("split", [False, True])
def test_what_only_the_index_had_is_not_deleted_in_a_later_turn(
    steer, script, repository, git, split
):
    """Nobody is asked about what the thread staged itself."""
    for name in ("gone.txt", "other.txt"):
        (repository / name).write_text(f"{TEXT}{name}\n" * 9)
        os.utime(repository / name, (10**9, 10**9))  # or git has it in both parts
        git("add", name)
    staged = [git("rev-parse", f":{name}").strip() for name in ("gone.txt", "other.txt")]
    if split:
        git("update-index", "--split-index")
    (repository / "gone.txt").unlink()
    (repository / "other.txt").write_text("other\n")
    own = "seq 300 > own.txt; git add own.txt; seq 9 > own.txt; git add own.txt"
    first = worked(steer, script, *map(shell, (own, "git reset -q -- gone.txt; git add other.txt")))
    assert told(first) == ["", ""]
    (pruned,) = resumed(steer, script, first, "git gc -q --prune=now")
    assert "deleting 2 objects from git's history permanently needs approval" in pruned
    assert [git("cat-file", "-t", name).strip() for name in staged] == ["blob", "blob"]


@pytest.mark.parametrize(
    ("begin", "remove", "abort"),
    [
        ("rebase", "rm -rf .git/rebase-merge", "git rebase --abort"),
        ("merge", "rm .git/MERGE_AUTOSTASH", "git merge --abort"),
    ],
)
def test_an_autostash_is_a_stash(steer, script, repository, git, begin, remove, abort):
    work = repository / "work.txt"
    work.write_text("".join(f"line {number}\n" for number in range(12)))
    git("add", ".")
    git("commit", "-qm", "lines")
    for branch in ("topic", "main"):
        git("checkout", "-q", *(["-b", branch] if branch == "topic" else [branch]))
        (repository / "calc.py").write_text(f"branch = '{branch}'\n")
        git("commit", "-qam", branch)
    git("checkout", "-q", "topic")
    work.write_text(work.read_text().replace("line 2\n", "hours of work\n"))
    with pytest.raises(CalledProcessError):  # a conflict
        git(begin, "--autostash", "main")
    assert "hours of work" not in work.read_text()
    first = worked(steer, script, shell(remove), shell(abort))
    removed, aborted = told(first)
    assert "deleting autostash, the only way to 2 commits, needs approval" in removed
    assert aborted == ""
    (thrown,) = resumed(steer, script, first, "git checkout -q work.txt")
    assert "deleting autostash, the only way to" in thrown
    assert "hours of work" in work.read_text()


def test_a_stash_is_lost_with_its_line_in_the_log_or_with_its_name(steer, script, repository, git):
    for number in range(2):
        (repository / "calc.py").write_text(f"stashed = {number}\n")
        git("stash")
    lines = ("sed -i 1d .git/logs/refs/stash", "rm .git/refs/stash")
    for result in told(worked(steer, script, *map(shell, lines))):
        assert "deleting stash, the only way to" in result
    assert len(git("stash", "list").splitlines()) == 2


def test_an_annotated_tag_has_a_message_that_is_nowhere_else(steer, script, repository, git):
    git("tag", "-a", "-m", TEXT, "v1")
    git("tag", "light")
    lines = ("git tag -d v1 light", "git tag -f -a -m other v1", "git tag -d light",
             "git tag -am own own; git tag -d own", "git pack-refs --all",
             "git tag v2 v1; git tag -d v1", "git update-ref refs/bisect/x v2; git tag -d v2",
             "git update-ref -d refs/bisect/x")  # fmt: skip
    deleted, moved, *harmless, let_go = told(worked(steer, script, *map(shell, lines)))
    for result in (deleted, moved, let_go):
        assert "deleting tag v1 with its message needs approval" in result
    assert not any(harmless)
    assert TEXT.strip() in git("cat-file", "-p", "refs/bisect/x")
