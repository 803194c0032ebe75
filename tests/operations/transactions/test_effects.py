"""What a command's changes amount to: what is lost, and what only looks so."""

import subprocess
import zlib
from pathlib import Path

import pytest

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.running import stored
from steersman.operations.running.effects import actions_for
from steersman.operations.running.git_needs import needed
from steersman.operations.running.losses import loss_of
from steersman.operations.running.repository import homes
from steersman.records.action import ChangeMany, Delete, Write
from steersman.records.change import ABSENT, Change, FileState


def git(folder, *words):
    identity = (
        "-c",
        "user.name=n",
        "-c",
        "user.email=e@example.org",
        "-c",
        "init.defaultBranch=main",
    )
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    """Committed: a, b. Then b is changed, c staged, d untracked."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init")
    for name in "ab":
        (root / name).write_text(f"{name}: committed\n")
    git(root, "add", ".")
    git(root, "commit", "-m", "first")
    (root / "b").write_text("b: hours of work\n")
    (root / "c").write_text("c: staged\n")
    git(root, "add", "c")
    (root / "d").write_text("d: untracked\n")
    return root


@pytest.fixture
def journal(repository, tmp_path):
    return Journal(str(repository), Objects(tmp_path / "objects"))


def file(journal, text):
    digest, size = journal.objects.put_bytes(text.encode())
    return FileState("file", 0o644, digest, size)


def change(journal, name, after):
    """A change of a file as it is now; None deletes it."""
    before = Path(journal.root, name).read_text()
    return Change(
        name, file(journal, before), file(journal, after) if after is not None else ABSENT
    )


def lost(loss):
    return [c.path for c in loss.deleted], [c.path for c in loss.discarded]


@pytest.mark.parametrize(
    ("name", "after", "expected"),
    [
        ("a", None, ([], [])),  # git has it
        ("b", None, (["b"], [])),  # the work in it is nowhere else
        ("c", None, ([], [])),  # staged: git has it
        ("d", None, (["d"], [])),
        ("a", "a: new\n", ([], [])),
        ("b", "b: more work\n", ([], [])),  # edited, not thrown away
        ("b", "b: committed\n", ([], ["b"])),  # git checkout .
        ("d", "d: more\n", ([], [])),
    ],
)
def test_what_git_has_is_not_lost_and_work_that_is_taken_back_is(journal, name, after, expected):
    assert lost(loss_of(journal, [change(journal, name, after)])) == expected


def test_whatever_the_command_is_called_and_whatever_else_it_changes(journal):
    """As at a milestone of a command in the background, where git's own files come later."""
    thrown = loss_of(journal, [change(journal, "b", "b: committed\n")], "sh step.sh")
    assert lost(thrown) == ([], ["b"])
    assert lost(loss_of(journal, [change(journal, "b", "b: committed\n")], "")) == ([], [])


def test_an_ordinary_edit_does_not_start_git(journal, tmp_path, monkeypatch):
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n: > {tmp_path}/started\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    assert not loss_of(journal, [change(journal, "b", "b: more work\n")])
    assert not (tmp_path / "started").exists()
    assert lost(loss_of(journal, [change(journal, "b", "b: committed\n")])) == ([], ["b"])
    assert (tmp_path / "started").exists()


def test_a_stash_keeps_the_work_so_nothing_is_lost(journal, repository):
    taken = change(journal, "b", "b: committed\n")
    blob = subprocess.run(
        ["git", "hash-object", "b"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout.strip()
    content = (repository / "b").read_bytes()
    kept = journal.objects.put_bytes(zlib.compress(b"blob %d\0" % len(content) + content))
    place = f".git/objects/{blob[:2]}/{blob[2:]}"
    made = Change(place, ABSENT, FileState("file", 0o444, *kept))
    assert lost(loss_of(journal, [taken, made])) == ([], [])
    named = Change(place, ABSENT, FileState("file", 0o444, *journal.objects.put_bytes(b"nothing")))
    assert lost(loss_of(journal, [taken, named])) == ([], ["b"])


def test_without_a_repository_every_deleted_file_is_lost(tmp_path):
    root = tmp_path / "plain"
    root.mkdir()
    (root / "x").write_text("x")
    plain = Journal(str(root), Objects(tmp_path / "o"))
    assert lost(loss_of(plain, [change(plain, "x", None)])) == (["x"], [])


def test_what_tools_make_again_is_not_missed(journal, repository):
    (repository / "node_modules").mkdir()
    (repository / "node_modules/x.js").write_text("x")
    assert lost(loss_of(journal, [change(journal, "node_modules/x.js", None)])) == ([], [])


def test_few_changes_are_named_one_by_one_and_a_loss_is_summed_up(journal):
    changes = [change(journal, "b", "b: committed\n"), change(journal, "d", None)]
    written, deleted, summed = actions_for(journal, changes)
    assert isinstance(written, Write)
    assert isinstance(deleted, Delete)
    assert summed == ChangeMany(
        journal.root, created=0, changed=1, deleted=1, lost=1, lost_bytes=13, discarded=1,
        examples=("b", "d"), named=True, origin="command",
        turn_removed=1, turn_lost=1, turn_bytes=13, precious=1, touched=2,
    )  # fmt: skip


def test_among_very_many_changes_the_protected_ones_are_still_named(journal):
    plain = [Change(f"out/{n}", ABSENT, file(journal, "x")) for n in range(500)]
    hook = Change(".git/hooks/pre-commit", ABSENT, file(journal, "evil"))
    named, summed = actions_for(journal, [*plain, hook])
    assert isinstance(named, Write)
    assert named.path.endswith(".git/hooks/pre-commit")
    assert (summed.created, summed.lost) == (501, 0)


def test_what_can_never_be_restored_is_judged_and_counts_as_lost(journal):
    deleted, summed = actions_for(journal, [], remove=["pipe"])
    assert isinstance(deleted, Delete)
    assert deleted.path == str(Path(journal.root, "pipe"))
    assert (summed.deleted, summed.lost, summed.turn_lost) == (1, 1, 1)
    assert summed.examples == ("pipe",)


def test_among_very_many_the_protected_one_that_cannot_be_restored_is_named(journal):
    pipes = [f"pipes/{n}" for n in range(500)]
    named, summed = actions_for(journal, [], remove=[*pipes, "sub/.mcp.json"])
    assert named.path.endswith("sub/.mcp.json")
    assert summed.lost == 501


class Thread:
    """A thread that has changed something in earlier turns."""

    def __init__(self, changes):
        self._changes = changes

    def turn(self):
        return []

    def thread(self):
        return self._changes

    def perhaps(self, *names):
        return any(name in change.path for change in self._changes for name in names)


def test_however_much_was_deleted_what_only_an_object_kept_is_lost_with_it(journal, repository):
    git(repository, "hash-object", "-w", "d")
    name = subprocess.run(
        ["git", "hash-object", "d"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout.strip()
    place = f".git/objects/{name[:2]}/{name[2:]}"
    content = (repository / place).read_bytes()
    kept = FileState("file", 0o444, *journal.objects.put_bytes(content))
    empty = file(journal, "")
    many = [Change(f"a/{number}", empty, ABSENT) for number in range(20_001)]
    thread = Thread([*many, change(journal, "d", None)])
    (repository / "d").unlink()
    pruned = loss_of(journal, [Change(place, kept, ABSENT)], past=thread)
    assert lost(pruned) == (["d"], [])


def test_a_path_may_be_thousands_of_folders_deep(tmp_path):
    (tmp_path / ".git").mkdir()
    deep = "/".join(["d"] * 3000) + "/file"
    assert homes(str(tmp_path), [deep]) == {deep: (str(tmp_path),)}


def test_a_pack_of_another_name_is_not_taken_for_an_empty_one(tmp_path):
    packs = tmp_path / ".git" / "objects" / "pack"
    packs.mkdir(parents=True)
    (packs / "pack-mine.idx").write_bytes(b"\377tOc\0\0\0\2" + bytes(2000))
    assert stored.held(str(tmp_path), ["0" * 40]) is None


def test_objects_of_a_store_that_goes_whole_need_not_stay(journal, repository):
    (repository / ".git").rename(repository / "old")
    (repository / "old/HEAD").unlink()  # as it is when the workspace takes over all but that
    paths = [path.relative_to(repository) for path in (repository / "old").rglob("*")]
    gone = [Change(str(path), FileState("file", 0o644), ABSENT) for path in paths
            if path.parts[1] in ("objects", "refs", "logs", "index")
            and (repository / path).is_file()]  # fmt: skip
    assert needed(journal, gone) == set()
    (repository / "old/index").rename(repository / "index")  # a store may never have had one
    unlisted = [one for one in gone if one.path != "old/index"]
    assert needed(journal, unlisted) == set()
    (repository / "index").rename(repository / "old/index")
    kept = [one for one in gone if not one.path.startswith("old/refs")]
    assert needed(journal, kept) == {one.path for one in kept if "/objects/" in one.path}
