"""Which folder is worked in: the repository a person is in, unless they say otherwise."""

import os
import subprocess

import pytest

from tests.cli.kit import DONE, decoded


@pytest.fixture
def below(workspace):
    """A folder inside the repository."""
    folder = workspace / "src" / "deep"
    folder.mkdir(parents=True)
    return folder


def place(work):
    """Where a session works."""
    return work.bodies("session_start")[0]["workspace"]


def test_in_a_subfolder_the_whole_repository_is_the_workspace(steer, script, workspace, below):
    work = steer.having(folder=below).work("run", "--model", script(DONE), "go")

    assert place(work) == str(workspace)


@pytest.mark.parametrize(
    ("flags", "where"),
    [(["--here"], "src/deep"), (["-w", ".."], "src"), (["--here", "-w", ".."], "src"),
     (["-w", "..", "--here"], "src"), (["-w", "."], "src/deep")],
    ids=" ".join,
)  # fmt: skip
def test_what_the_person_says_wins(steer, script, workspace, below, flags, where):
    work = steer.having(folder=below).work("run", *flags, "--model", script(DONE), "go")

    assert place(work) == str(workspace / where)


def test_a_chat_works_there_too(steer, script, workspace, below):
    there = steer.having(folder=below)
    there("--plain", "--model", script(DONE), stdin="hello\n")
    there("--plain", "--here", "--model", script(DONE), stdin="hello\n")

    made = decoded(steer("threads", "list", "--json").stdout)
    assert [one["workspace"] for one in made] == [str(below), str(workspace)]


def test_threads_of_a_subfolder_made_earlier_are_found(steer, script, workspace, below):
    there = steer.having(folder=below)
    model = script(DONE, DONE, DONE)
    earlier = there.work("run", "--here", "--model", model, "earlier").thread

    again = there.work("resume", "go on")
    assert (again.thread, place(again)) == (earlier, str(below))
    newer = there.work("run", "--model", model, "newer").thread
    assert there.work("resume", "go on").thread == newer
    assert there.work("resume", "--here", "go on").thread == earlier
    assert steer.having(folder=below.parent).work("resume", "go on").thread == newer


def test_a_linked_work_tree_is_a_workspace_of_its_own(steer, script, git, tmp_path):
    git("add", "-A")
    git("commit", "-qm", "first")
    git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    inner = tmp_path / "other" / "inner"
    inner.mkdir()

    work = steer.having(folder=inner).work("run", "--model", script(DONE), "go")

    assert place(work) == str(tmp_path / "other")


def test_a_home_folder_under_git_is_not_the_workspace_of_what_is_in_it(steer, script, environ):
    home = environ["HOME"]
    subprocess.run(["git", "init", "-q", home], check=True)
    project = os.path.join(home, "project")
    os.mkdir(project)

    inside = steer.having(folder=project)

    assert place(inside.work("run", "--model", script(DONE), "go")) == project


def test_a_folder_named_git_without_a_repository_counts_for_nothing(steer, script, tmp_path):
    inner = tmp_path / "plain" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "plain" / ".git").mkdir()

    work = steer.having(folder=inner).work("run", "--model", script(DONE), "go")

    assert place(work) == str(inner)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files to somebody else")
@pytest.mark.parametrize("theirs", [".", ".git"])
def test_a_repository_that_somebody_else_put_around_a_folder_counts_for_nothing(
    steer, script, workspace, below, theirs
):
    os.chown(workspace / theirs, 65534, 65534)

    work = steer.having(folder=below).work("run", "--model", script(DONE), "go")

    assert place(work) == str(below)


def test_the_repository_s_own_folder_is_no_way_to_its_top(steer, script, workspace):
    inner = workspace / ".git" / "info"

    assert decoded(steer.having(folder=inner)("threads", "list", "--json").stdout) == []
    work = steer.having(folder=inner).work("run", "--model", script(DONE), "go")

    assert place(work) == str(inner)
