"""What a commit and a pull request are made of: git's answers read, commands written."""

import shlex
import subprocess

import pytest

from steersman.views import git_work
from steersman.views.git_work import Changed, Place, Tree


def changed(*pairs, **more):
    return tuple(Changed(how, path, **more) for how, path in pairs)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", Tree()),
        (" M a.py\n?? b c.py\n D d\n", Tree(unstaged=changed(
            ("changed", "a.py"), ("new", "b c.py"), ("deleted", "d")))),
        ("M  a.py\nMM b.py\n?? c\n", Tree(
            changed(("changed", "a.py"), ("changed", "b.py"), staged=True),
            (Changed("changed", "b.py", rest=True), Changed("new", "c")))),
        ("RM old.py -> new.py\nA  x\n", Tree(
            (Changed("renamed", "new.py", "old.py", True), Changed("new", "x", staged=True)),
            (Changed("changed", "new.py", rest=True),))),
        ("UU a.py\nAA b\n M c\n", Tree((), changed(("changed", "c")), ("a.py", "b"))),
        ('?? "sp\\303\\244t\\t\\"x\\".py"\n', Tree(unstaged=changed(("new", 'spät\t"x".py')))),
        ("warning: something\nfatal\n", Tree()),
    ],
    ids=["clean", "unstaged", "staged", "renamed", "conflicts", "odd names", "no status"],
)  # fmt: skip
def test_the_status_is_read(text, tree):
    assert git_work.read_status(text) == tree


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("fix/x\nrefs/remotes/origin/HEAD refs/remotes/origin/trunk\n"
         "refs/remotes/origin/trunk \norigin\n", Place("fix/x", "origin", "trunk")),
        ("x\nrefs/remotes/up/master \nup\n", Place("x", "up", "master")),
        ("x\nrefs/remotes/origin/other \norigin\n", Place("x", "origin", "")),
        ("main\n", Place("main", "", "")),
        ("\norigin\n", Place("", "origin", "")),
        ("", Place("", "", "")),
    ],
    ids=["head", "master", "no base", "no remote", "detached", "nothing"],
)  # fmt: skip
def test_the_place_of_a_branch_is_read(text, place):
    assert git_work.read_place(text) == place


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("Fix add\n", "Fix add"),
        ("```\nFix add\n\nIt subtracted.\n```", "Fix add\n\nIt subtracted."),
        ("```text\nFix `add`  \n```\n", "Fix `add`"),
        ("Use ``` in docs", "Use ``` in docs"),
        ("", ""),
    ],
)
def test_a_message_is_taken_out_of_an_answer(answer, message):
    assert git_work.message_from(answer) == message


def test_a_commit_has_the_named_paths_and_nothing_else(tmp_path):
    def git(command):
        who = "-c user.name=n -c user.email=e@example.org"
        text = command.replace("git ", f"git {who} ")
        return subprocess.run(
            ["bash", "-c", text], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    git("git init -q")
    odd = ["*.py", "a'b $x.py", "-n", 'q"uote']
    for name in (*odd, "other.py", "staged.py"):
        (tmp_path / name).write_text("x")
    git("git add staged.py")
    tree = git_work.read_status(git(git_work.STATUS))
    kept = [one for one in tree.files if one.path in odd]
    git(git_work.commit_command("It's\n\n$(touch evil) `touch evil`", tree, kept))
    assert git("git log -1 --format=%B") == "It's\n\n$(touch evil) `touch evil`\n\n"
    committed = git("git -c core.quotePath=false show --format= --name-only -z").split("\0")
    assert set(committed) - {""} == set(odd)
    tree = git_work.read_status(git(git_work.STATUS))
    assert tree == Tree(changed(("new", "staged.py"), staged=True), changed(("new", "other.py")))
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("status", "marked"),
    [
        (" M a\n D b\n?? new\n?? made\n", ["a", "b", "made"]),
        ("M  a\n M b\n?? made\n", ["a"]),
        ("MM a\n", ["a"]),
        ("R  old -> a\n M b\n?? new\n", ["old → a", "b"]),  # `git mv` says nothing of the rest
        ("D  a\nRM old -> b\n", ["a", "old → b", "b (not staged)"]),
        ("A  a\nR  old -> b\n M c\n", ["a", "old → b"]),
        ("?? new\n", []),
    ],
)
def test_what_is_marked_at_first(status, marked):
    tree = git_work.read_status(status)
    assert [one.name for one in tree.proposed({"made"})] == marked


def test_what_makes_the_status_long_is_named():
    text = "?? .venv/\n?? a.py\n?? web/node_modules/\n M b\n?? few/\n"
    folders = git_work.new_folders(text)
    assert folders == [".venv/", "web/node_modules/", "few/"]
    assert str(git_work.too_much(folders, "1200\n22000\n3\n")) == (
        "There is too much to show.\nNew, and not ignored by git: "
        "web/node_modules/ (22,000 files), .venv/ (1,200 files).\n"
        "Add `web/node_modules/` and `.venv/` to .gitignore."
    )
    assert "!git commit" in str(git_work.too_much(["few/"], "3\n"))


def test_words_of_a_pull_request_stay_words():
    push, ask = git_work.request_commands(Place("fix/x", "origin", "main"), "a; b", "$(c) 'd'")
    assert push == "git push -u origin fix/x"
    assert shlex.split(ask)[-3:] == ["a; b", "--body", "$(c) 'd'"]


def test_a_file_that_git_mv_moved_and_someone_edited_is_one(tmp_path):
    """Its edits are shown and committed with its new name."""

    def run(command):
        return subprocess.run(command, shell=True, cwd=tmp_path, check=True, text=True,
                              capture_output=True).stdout  # fmt: skip

    run("git init -q && git config user.name T && git config user.email t@example.org")
    run("seq 20 > old.py && echo b > b.py && git add . && git commit -qm first")
    run("git mv old.py new.py && echo more >> new.py && echo c >> b.py")
    tree = git_work.read_status(run(git_work.STATUS)).joined()
    assert [one.name for one in tree.files] == ["old.py → new.py", "b.py"]
    kept = tree.files[:1]
    shown = run(git_work.diff_command(tree, kept))
    assert "+more" in shown
    assert "+c" not in shown
    run(git_work.commit_command("moved", tree, kept))
    assert run("git status --short") == " M b.py\n"
    assert "more\n" in run("git show HEAD:new.py")
