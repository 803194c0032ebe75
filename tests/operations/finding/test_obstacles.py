"""A pipe in the place of a file of rules keeps nobody waiting, wherever it stands."""

import os
import subprocess

import pytest

from tests.operations.finding.kit import plant

PLACES = [
    ".gitignore",
    "deep/down/.gitignore",
    ".git",
    ".git/info/exclude",
    "deep/.git",
    ".ignore",
    ".rgignore",
    ".steersmanignore",
    "AGENTS.md",
]


def pipe(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("place", PLACES)
def test_a_pipe_named_like_a_file_of_rules_does_not_hold_up_a_search(folder, finder, place):
    plant(folder, {"deep/down/f": "harbour\n", "built/f": "harbour\n", "top": "harbour\n"})
    pipe(folder / place)
    found = finder.text("harbour")
    assert [hit["file"] for hit in found["results"]] == ["built/f", "deep/down/f", "top"]
    assert finder.list()["total_files"] >= 3


@pytest.mark.parametrize("target", ["pipe", "/dev/zero", "/dev/tty", "/dev/full"])
def test_a_link_to_something_that_never_ends_is_no_file_of_rules(folder, tmp_path, finder, target):
    plant(folder, {"sub/f": "harbour\n"})
    pipe(tmp_path / "pipe")
    os.symlink(tmp_path / target, folder / "sub" / ".gitignore")
    assert finder.text("harbour")["total"] == 1


def test_a_pipe_above_the_folder_that_is_searched_does_not_hold_up_a_search(folder, finder):
    plant(folder, {"sub/f": "harbour\n"})
    subprocess.run(["git", "init", "-q", folder], check=True)
    pipe(folder / ".gitignore")
    assert finder.text("harbour", path="sub")["total"] == 1


def test_a_pipe_in_a_worktree_does_not_hold_up_a_search(folder, tmp_path, finder):
    plant(folder, {"f": "harbour\n", ".git": f"gitdir: {tmp_path}/elsewhere\n"})
    pipe(tmp_path / "elsewhere" / "commondir")
    assert finder.text("harbour")["total"] == 1


def test_rules_beside_a_pipe_still_hold(folder, finder):
    plant(folder, {".gitignore": "built\n", "built/f": "harbour\n", "f": "harbour\n"})
    pipe(folder / "deep" / ".gitignore")
    assert [hit["file"] for hit in finder.text("harbour")["results"]] == ["f"]
