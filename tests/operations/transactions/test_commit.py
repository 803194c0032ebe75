"""Committing a changeset: all of it or none of it, and never outside the workspace."""

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steersman.operations.journal import performing
from steersman.operations.journal.commit import Conflict, apply, recover
from steersman.operations.journal.locks import held
from steersman.operations.journal.looking import look
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import ToolProblem
from tests.operations.transactions.tree import FOLDER, Yard, made, tree

FALLIBLE = (
    "rename", "mkdir", "rmdir", "link", "symlink", "fsync", "fchmod", "chmod", "ftruncate",
    "posix_fallocate", "copy_file_range", "utime",
)  # fmt: skip


def plant(yard: Yard) -> list[Change]:
    """A tree with one of everything, and a change of all of it."""
    apply(
        str(yard.root),
        [
            made("kept", yard.file(b"kept")),
            made("old", yard.file(b"old", 0o600)),
            made("mode", yard.file(b"mode")),
            made("gone", yard.file(b"gone")),
            made("link", FileState("link", target="old")),
            made("file to folder", yard.file(b"f")),
            made("folder to file", FOLDER),
            made("folder to file/inner", FileState("folder", 0o750)),
            made("folder to file/inner/deep", yard.file(b"deep")),
            made("shut", FileState("folder", 0o555)),
            made("one", yard.file(b"linked")),
        ],
        yard.objects,
    )
    os.link(yard.root / "one", yard.root / "other")
    for path in tree(yard.root):
        os.utime(yard.root / path, ns=(10**18, 10**18), follow_symlinks=False)
    return [
        Change("old", yard.file(b"old", 0o600), yard.file(b"new" * 9000, 0o755)),
        Change("mode", yard.file(b"mode"), yard.file(b"mode", 0o4711)),
        Change("gone", yard.file(b"gone"), ABSENT),
        Change("link", FileState("link", target="old"), FileState("link", target="new")),
        Change("file to folder", yard.file(b"f"), FileState("folder", 0o700)),
        made("file to folder/a", FOLDER),
        made("file to folder/a/b", yard.file(b"b", 0)),
        Change("folder to file", FOLDER, yard.file(b"")),
        Change("folder to file/inner", FileState("folder", 0o750), ABSENT),
        Change("folder to file/inner/deep", yard.file(b"deep"), ABSENT),
        made("shut/in", yard.file(b"in")),
        made("new folder", FileState("folder", 0o500)),
        made("new folder/link", FileState("link", target="../old")),
        Change("one", yard.file(b"linked"), yard.file(b"longer than before" * 400)),
        Change("other", yard.file(b"linked"), yard.file(b"longer than before" * 400)),
    ]


def whole(root: Path) -> dict[str, Any]:
    """A tree with the times of its folders and the identity of its files."""
    about = {path: os.lstat(root / path) for path in tree(root)}
    return {
        path: (node, about[path].st_mtime_ns, about[path].st_nlink)
        for path, node in tree(root).items()
    }


def test_everything_at_once_and_back(yard: Yard) -> None:
    """One commit does what it says, and its reverse restores it."""
    changes = plant(yard)
    before = tree(yard.root, times=False)
    yard.apply(*changes)
    for change in changes:
        assert look(os.path.join(yard.root, change.path)) == change.after
    assert os.stat(yard.root / "one").st_nlink == 2
    yard.apply(*(change.reversed() for change in changes))
    assert tree(yard.root, times=False) == before
    assert os.stat(yard.root / "kept").st_mtime_ns == 10**18


@pytest.mark.parametrize("name", FALLIBLE)
def test_any_failure_leaves_everything_as_it_was(
    name: str, yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills at any step: the tree is the same, times included, and nothing is left."""
    changes = plant(yard)
    before = whole(yard.root)
    real: Callable[..., Any] = getattr(os, name)
    told: list[str] = []
    for at in range(200):
        calls = iter(range(10**6))

        def fails(*args: Any, at: int = at, calls: Any = calls, **kwargs: Any) -> Any:
            if next(calls) == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, fails)
            try:
                yard.apply(*changes)
            except ToolProblem as problem:
                told.append(str(problem))
            else:
                if next(calls) <= at:
                    break
                yard.apply(*(change.reversed() for change in changes))
                for path in tree(yard.root):
                    os.utime(yard.root / path, ns=(10**18, 10**18), follow_symlinks=False)
        assert whole(yard.root) == before
    assert told or name in ("link", "copy_file_range", "utime")
    assert all("as it was" in text and "No space left" in text for text in told)
    assert yard.hidden() == []


def test_a_disk_that_is_really_full(yard: Yard) -> None:
    """In a file system of 300 KB that the change does not fit into."""
    program = yard.overlay().bubblewrap.program
    script = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import ToolProblem
from steersman.operations.journal.commit import apply
from steersman.operations.journal.objects import Objects
from tests.operations.transactions.tree import tree
root, objects = Path("/mnt"), Objects({str(yard.objects.folder)!r})
def file(content):
    return FileState("file", 0o644, *objects.put_bytes(content))
apply("/mnt", [Change("a", ABSENT, file(b"a" * 9000)), Change("b", ABSENT, file(b"b"))], objects)
before = tree(root)
try:
    apply("/mnt", [
        Change("a", file(b"a" * 9000), ABSENT),
        Change("b", file(b"b"), file(b"c" * 100_000)),
        Change("d", ABSENT, FileState("folder", 0o755)),
        Change("d/e", ABSENT, file(b"e" * 400_000)),
    ], objects)
except ToolProblem as problem:
    print(problem)
assert tree(root) == before
"""
    line = [program, "--bind", "/", "/", "--dev", "/dev", "--size", "300000", "--tmpfs", "/mnt"]
    done = subprocess.run(
        [*line, "--", sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "No space left on device" in done.stdout


def test_someone_elses_change_is_never_overwritten(yard: Yard) -> None:
    """A conflict names the paths and touches nothing."""
    changes = plant(yard)
    (yard.root / "old").write_bytes(b"mine")
    (yard.root / "new folder").mkdir()
    before = whole(yard.root)
    with pytest.raises(Conflict) as caught:
        yard.apply(*changes)
    assert caught.value.paths == ("new folder", "old")
    assert whole(yard.root) == before
    yard.apply(Change("old", ABSENT, yard.file(b"told to")), check=False)
    assert (yard.root / "old").read_bytes() == b"told to"


def test_a_new_file_in_a_folder_that_goes(yard: Yard) -> None:
    """What nobody named is somebody's: the folder stays."""
    changes = plant(yard)
    (yard.root / "folder to file" / "mine").write_bytes(b"mine")
    before = whole(yard.root)
    with pytest.raises(Conflict, match="folder to file/mine"):
        yard.apply(*changes)
    assert whole(yard.root) == before


@pytest.mark.parametrize(
    "path",
    ["../out", "/etc/x", "a/../../out", "a//b", "", "a/./b", "./a", "nul\0", "..", "a/", "a/.."],
)
def test_paths_that_are_not_plainly_inside(path: str, yard: Yard) -> None:
    """Refused before anything is looked at."""
    with pytest.raises(ToolProblem):
        yard.apply(made(path, yard.file(b"x")))
    assert os.listdir(yard.folder / "work") == []


def test_no_link_is_followed_on_the_way(yard: Yard) -> None:
    """A folder that is a link leads nowhere, for making, changing and removing alike."""
    outside = yard.folder / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"safe")
    (yard.root / "way").symlink_to(outside)
    state = yard.file(b"safe")
    for change in (made("way/new", state), Change("way/file", state, ABSENT)):
        with pytest.raises(ToolProblem):
            yard.apply(change)
    with pytest.raises(ToolProblem):
        yard.apply(Change("way/file", state, ABSENT), made("way/x", state), check=False)
    assert os.listdir(outside) == ["file"]


def test_a_link_swapped_in_while_committing(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parent that turns into a link after it was checked: refused, undone, nothing outside."""
    outside = yard.folder / "outside"
    outside.mkdir()
    yard.apply(made("way", FOLDER), made("a", yard.file(b"a")))
    stage = performing.stage_file

    def swap(*args: Any, **kwargs: Any) -> None:
        stage(*args, **kwargs)
        if (yard.root / "way").is_dir() and not (yard.root / "way").is_symlink():
            (yard.root / "way").rename(yard.folder / "moved")
            (yard.root / "way").symlink_to(outside)

    monkeypatch.setattr(performing, "stage_file", swap)
    with pytest.raises(ToolProblem):
        yard.apply(Change("a", yard.file(b"a"), yard.file(b"b")), made("way/x", yard.file(b"x")))
    assert os.listdir(outside) == []
    assert (yard.root / "a").read_bytes() == b"a"
    assert yard.hidden() == []


def test_a_file_changed_while_committing(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last look before the rename sees it."""
    yard.apply(made("a", yard.file(b"a")), made("b", yard.file(b"b")))
    stage = performing.stage_file

    def meddle(*args: Any, **kwargs: Any) -> None:
        stage(*args, **kwargs)
        (yard.root / "b").write_bytes(b"mine")

    monkeypatch.setattr(performing, "stage_file", meddle)
    with pytest.raises(ToolProblem, match="someone else"):
        yard.apply(*(Change(n, yard.file(n.encode()), yard.file(b"new")) for n in ("a", "b")))
    assert (yard.root / "a").read_bytes() == b"a"
    assert (yard.root / "b").read_bytes() == b"mine"


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_pipes_and_the_like_are_never_opened(kind: str, yard: Yard) -> None:
    """What has no content is a conflict where a file is expected, and is not waited for."""
    path = yard.root / "odd"
    make_special(kind, path)
    with pytest.raises(ToolProblem, match="is a"):
        look(str(path))
    with pytest.raises(Conflict):
        yard.apply(made("odd", yard.file(b"x")))
    apply(str(yard.root), [], yard.objects, remove=["odd"])
    assert not path.exists()


def make_special(kind: str, path: Path) -> None:
    """A path that is neither file, folder nor link."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        import socket

        socket.socket(socket.AF_UNIX).bind(str(path))
    elif os.geteuid() == 0:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 3))
    else:
        pytest.skip("needs root: to make a device")


def test_a_content_that_was_not_kept(yard: Yard) -> None:
    """Said before anything is touched."""
    yard.apply(made("a", yard.file(b"a")))
    lost = FileState("file", 0o644, "0" * 64, 5)
    with pytest.raises(ToolProblem, match="cannot be given its content"):
        yard.apply(Change("a", yard.file(b"a"), ABSENT), made("b", lost))
    assert os.listdir(yard.root) == ["a"]


def test_a_link_to_outside_is_parted(yard: Yard) -> None:
    """A name outside the workspace is not written by a change inside it."""
    outside = yard.folder / "outside"
    outside.write_bytes(b"safe")
    os.link(outside, yard.root / "in")
    yard.apply(Change("in", look(str(outside)), yard.file(b"new", 0o600)))
    assert outside.read_bytes() == b"safe"
    assert (yard.root / "in").read_bytes() == b"new"


def test_two_writers_take_turns(yard: Yard) -> None:
    """Of many that start from the same state, one wins and the others are told."""
    yard.apply(made("a", yard.file(b"start")))
    outcomes: list[str] = []

    def write(number: int) -> None:
        try:
            yard.apply(Change("a", yard.file(b"start"), yard.file(b"%d" % number)))
            outcomes.append("won")
        except Conflict:
            outcomes.append("told")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["told"] * 7 + ["won"]


def test_a_lock_that_is_not_given_back(yard: Yard) -> None:
    """The wait ends with a sentence."""
    folder = str(yard.folder / "locks")
    with (
        held(folder, ["/a"]),
        pytest.raises(ToolProblem, match="Another process"),
        held(folder, ["/a"], patience=0.05),
    ):
        pass


def test_a_commit_that_is_killed_is_taken_back(yard: Yard) -> None:
    """Kill -9 at every rename: the next start restores the tree and removes what was staged."""
    plant(yard)
    before = tree(yard.root, times=False)
    script = f"""
import os, signal, sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from steersman.operations.journal.objects import Objects
from tests.operations.transactions import test_commit, tree
yard = tree.Yard.__new__(tree.Yard)
yard.root, yard.objects = Path({str(yard.root)!r}), Objects({yard.objects.folder!r})
test_commit.apply = lambda *args: None
os.link, os.utime, link, utime = lambda *a, **k: None, lambda *a, **k: None, os.link, os.utime
changes = test_commit.plant(yard)
os.link, os.utime = link, utime
left, rename = int(sys.argv[1]), os.rename
def cut(*args, **kwargs):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    rename(*args, **kwargs)
os.rename = cut
yard.apply(*changes)
"""
    for at in range(40):
        done = subprocess.run([sys.executable, "-c", script, str(at)], check=False)
        told = recover(yard.objects)
        if done.returncode == 0:
            assert told == []
            break
        assert done.returncode == -9
        assert tree(yard.root, times=False) == before, at
    assert at > 8
    assert recover(yard.objects) == []
