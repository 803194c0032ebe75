"""Commands in the background, and a person who works on the same things meanwhile.

What fits is taken over; what does not is named, and takes nothing else along.
"""

import asyncio
import re
import shutil
import subprocess

import pytest

from steersman.operations.running.command_run import OverView
from steersman.records.message import ToolResult
from tests.host.beside import until_stopped

GIT = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org")


@pytest.fixture
def git(workspace):
    """Git in the workspace, where something is committed."""

    def ask(*words):
        done = subprocess.run([*GIT, *words], cwd=workspace, check=True, capture_output=True)
        return done.stdout.decode()

    ask("add", ".")
    ask("commit", "-qm", "first")
    return ask


def in_shell(*lines):
    """A script of the repository, so that the command's own words say nothing of git."""
    return "; ".join([*lines, "echo did", until_stopped(":")]).replace("git ", " ".join(GIT) + " ")


def once_done(what):
    async def meanwhile(look):
        await look.printed("did")
        await asyncio.to_thread(what)

    return meanwhile


def said(messages):
    told = [message.body.what for message in messages if message.kind == "error"]
    told += [
        message.body.output.get("note", "")
        for message in messages
        if isinstance(message.body, ToolResult) and isinstance(message.body.output, dict)
    ]
    return "\n".join(told)


def test_a_branch_is_not_lost_where_one_packs_refs_and_the_other_deletes_a_packed_one(beside, git):
    git("branch", "b")
    git("pack-refs", "--all")
    git("branch", "topic")
    _, messages = beside(
        in_shell("git pack-refs --all"), once_done(lambda: git("branch", "-D", "b"))
    )
    assert git("for-each-ref", "--format=%(refname:short)").split() == ["main", "topic"]
    assert ".git was changed by others and stays as it is" in said(messages)


def test_a_commit_beside_a_staged_file_would_delete_nothing(beside, git, workspace):
    (workspace / "mine.txt").write_text("mine\n")
    _, messages = beside(
        in_shell("echo c > c.txt", "git add c.txt", "git commit -qm cmd"),
        once_done(lambda: git("add", "mine.txt")),
    )
    assert git("status", "--short", "-uno") == "A  mine.txt\n"
    assert (workspace / "c.txt").read_text() == "c\n"
    found = re.search(r"the command's commit is ([0-9a-f]{40}) \(refs/heads/main\)", said(messages))
    assert found, said(messages)
    assert git("show", f"{found[1]}:c.txt") == "c\n"
    git("fsck", "--strict")


def test_a_switched_branch_beside_a_commit_leaves_head_and_index_together(beside, git, workspace):
    git("checkout", "-q", "-b", "other")
    (workspace / "o.txt").write_text("only\n")
    git("add", ".")
    git("commit", "-qm", "o")
    git("checkout", "-q", "main")
    (workspace / "mine.txt").write_text("mine\n")

    def commit():
        git("add", "mine.txt")
        git("commit", "-qm", "person")

    _, messages = beside(in_shell("git checkout -q other"), once_done(commit))
    assert git("symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert git("diff", "--cached", "--name-only") == ""
    assert "what the command did to" in said(messages)


def test_a_repository_of_another_name_is_one_state_too(beside, git):
    git("branch", "b")
    git("clone", "-q", "--bare", ".", "store")
    git("--git-dir=store", "pack-refs", "--all")
    git("--git-dir=store", "branch", "topic", "main")

    async def meanwhile(look):
        await look.printed("did")
        git("--git-dir=store", "branch", "-D", "b")
        await look(4, wait=0)

    _, messages = beside(in_shell("git --git-dir=store pack-refs --all"), meanwhile)
    found = git("--git-dir=store", "for-each-ref", "--format=%(refname:short)").split()
    assert found == ["main", "topic"]
    assert "The repository store was changed by others" in said(messages)


def test_a_commit_while_the_command_s_is_judged_is_seen(beside, git, workspace, monkeypatch):
    git("branch", "b")
    git("pack-refs", "--all")
    git("branch", "topic")
    judge, done = OverView.judge, []

    async def slow(self, found, bench):
        await judge(self, found, bench)
        if not done and any(change.path == ".git/packed-refs" for change in found.changes):
            done.append(git("commit", "-q", "--allow-empty", "-m", "person"))

    monkeypatch.setattr(OverView, "judge", slow)
    _, messages = beside(in_shell("git pack-refs --all"))
    assert done
    assert git("log", "--format=%s", "-1") == "person\n"
    assert git("for-each-ref", "--format=%(refname:short)").split() == ["b", "main", "topic"]
    assert ".git was changed by others" in said(messages)


def test_a_refused_hook_does_not_part_head_from_the_index(beside, git, workspace):
    git("checkout", "-q", "-b", "other")
    (workspace / "o.txt").write_text("only\n")
    git("add", ".")
    git("commit", "-qm", "o")
    git("checkout", "-q", "main")
    beside(in_shell("git checkout -q other", "echo evil > .git/hooks/pre-commit"))
    assert not (workspace / ".git/hooks/pre-commit").exists()
    assert git("diff", "--cached", "--name-only") == ""


def test_a_commit_of_the_command_alone_is_taken_over(beside, git, workspace):
    beside(
        in_shell("echo c > c.txt", "git add c.txt", "git commit -qm cmd"),
        once_done((workspace / "beside.txt").touch),
    )
    assert git("log", "--format=%s", "-1") == "cmd\n"
    assert git("status", "--short", "-uno") == ""


def others_use_it(workspace):
    (workspace / "sub" / "person.txt").write_text("p\n")


def others_delete_it(workspace):
    shutil.rmtree(workspace / "sub")


def others_rename_it(workspace):
    (workspace / "sub").rename(workspace / "elsewhere")


def others_put_a_file_there(workspace):
    shutil.rmtree(workspace / "sub")
    (workspace / "sub").write_text("a file\n")


def others_make_a_folder(workspace):
    (workspace / "x").mkdir()
    (workspace / "x" / "p").write_text("p\n")


CONFLICTS = [
    ("rm -r sub", others_use_it, "sub contains something of others", "sub/person.txt"),
    ("echo log > sub/log", others_delete_it, "sub is no longer a folder", "."),
    ("mkdir sub/deep; echo > sub/deep/log", others_rename_it, "sub/deep/log", "elsewhere/a.txt"),
    ("echo log > sub/log", others_put_a_file_there, "sub is no longer a folder", "sub"),
    (
        "echo mine > x",
        others_make_a_folder,
        "x (contains something of|was changed by) others",
        "x/p",
    ),
]


@pytest.mark.parametrize("late", [False, True], ids=["meanwhile", "while it is judged"])
@pytest.mark.parametrize(
    ("command", "deed", "words", "theirs"), CONFLICTS, ids=[one[1].__name__ for one in CONFLICTS]
)
def test_one_conflict_does_not_lose_the_other_work(
    beside, workspace, git, monkeypatch, command, deed, words, theirs, late
):
    (workspace / "sub").mkdir()
    (workspace / "sub" / "a.txt").write_text("1\n")
    git("add", ".")
    git("commit", "-qm", "sub")
    judge, done = OverView.judge, []

    async def slow(self, found, bench):
        await judge(self, found, bench)
        if not done:
            done.append(deed(workspace))

    async def meanwhile(look):
        (workspace / "begin").touch()
        if not late:
            await once_done(lambda: deed(workspace))(look)

    if late:
        monkeypatch.setattr(OverView, "judge", slow)
    work = f"until [ -e begin ]; do :; done; {command}; echo new > good.txt; echo new > README.md"
    _, messages = beside(in_shell(work), meanwhile)
    assert (workspace / "good.txt").read_text() == "new\n"
    assert (workspace / "README.md").read_text() == "new\n"
    assert (workspace / theirs).exists()
    assert re.search(words, said(messages))


def link_and_target(workspace, word):
    (workspace / "conf").mkdir()
    (workspace / "conf" / "real.txt").write_text(word)
    (workspace / ".env").symlink_to("conf/real.txt")


def target_of_an_old_link(workspace, word):
    (workspace / "late").mkdir()
    (workspace / "late" / "real.txt").write_text(word)


def folder_behind_a_link(workspace, word):
    (workspace / "conf").mkdir()
    (workspace / ".env").symlink_to("conf")
    (workspace / "conf" / "real.txt").write_text(word)


def link_of_a_late_list(workspace, word):
    (workspace / "diary").symlink_to("conf/real.txt")
    (workspace / ".steersmanignore").write_text("diary\n")
    (workspace / "conf").mkdir()
    (workspace / "conf" / "real.txt").write_text(word)


@pytest.mark.parametrize(
    "deed", [link_and_target, target_of_an_old_link, folder_behind_a_link, link_of_a_late_list]
)
def test_where_a_secret_name_leads_is_not_shown_when_it_comes_late(beside, workspace, deed):
    word = "rosebud-" + "in-a-file"
    (workspace / "old.pem").symlink_to("late/real.txt")

    async def make(look):
        deed(workspace, word)

    output, messages = beside(
        f"{until_stopped(':')}; cat */real.txt .e?v 2>/dev/null; ls; echo read", make
    )
    assert "read" in output
    assert word not in output + str(messages)


def test_what_a_later_secret_name_leads_to_is_shown_no_more(beside, workspace):
    (workspace / "conf").mkdir()
    (workspace / "conf" / "real.txt").write_text("plain\n")

    async def make(look):
        (workspace / ".env").symlink_to("conf/real.txt")
        await look.printed("gone")

    beside(f"while [ -e conf/real.txt ]; do :; done; echo gone; {until_stopped(':')}", make)
    assert (workspace / "conf" / "real.txt").read_text() == "plain\n"
