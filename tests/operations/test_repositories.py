"""What belongs together in a repository, by its name."""

import pytest

from steersman.operations.running.repositories import (
    is_safe,
    is_state,
    repositories,
    repository_of,
)
from steersman.records.change import ABSENT, Change, FileState

FILE = FileState("file", 0o644, "0" * 64)
STATE = [
    "HEAD",
    "index",
    "packed-refs",
    "refs",
    "refs/heads/main",
    "refs/heads/objects/ab",
    "logs/HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "rebase-merge/done",
    "sequencer/todo",
    "BISECT_LOG",
    "reftable/tables.list",
    "shallow",
    "worktrees/w/HEAD",
    "worktrees/w/index",
    "modules/a/b/HEAD",
    "modules/objects/index",
    "objects/pack/multi-pack-index",
    "objects/info/commit-graph",
]
OBJECTS = [
    "objects",
    "objects/0a",
    "objects/0a/bc",
    "objects/pack/pack-1.idx",
    "modules/a/b/objects/0a/bc",
    "lfs/objects/ab/cd/abcd",
    "annex/objects/x/y/z",
]
SETTINGS = [
    "config",
    "config.worktree",
    "hooks/pre-push",
    "info/exclude",
    "description",
    "modules/a/config",
]


@pytest.mark.parametrize("name", STATE)
def test_state_belongs_together(name):
    path = f"sub/.git/{name}"
    assert repository_of(path) == "sub/.git"
    assert is_state(path, "sub/.git")
    assert not is_safe(Change(path, ABSENT, FILE), "sub/.git")


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_may_come_and_never_goes(name):
    assert not is_state(f".git/{name}", ".git")
    assert is_safe(Change(f".git/{name}", ABSENT, FILE), ".git")
    assert not is_safe(Change(f".git/{name}", FILE, ABSENT), ".git")


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_judged_by_itself_and_does_not_go(name):
    assert not is_state(f".git/{name}", ".git")
    assert is_safe(Change(f".git/{name}", FILE, FILE), ".git")
    assert not is_safe(Change(f".git/{name}", FILE, ABSENT), ".git")


def test_a_repository_is_known_by_what_is_in_it():
    paths = {"a/store", "a/store/HEAD", "a/store/objects", "a/store/refs", "b/HEAD", "b/refs"}
    assert repositories(paths) == {"a/store"}
    assert repository_of("a/store/refs/heads/x", {"a/store"}) == "a/store"
    assert repository_of("a/store", {"a/store"}) is None
    assert repositories({"HEAD", "objects", "refs"}) == {""}
    assert repository_of("refs/x", {""}) == ""
    assert repository_of(".git/modules/m/HEAD", {".git/modules/m"}) == ".git"
    assert repository_of("sub/.git") is None
