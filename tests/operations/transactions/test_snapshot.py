"""The journal of commands that run directly."""

import os
import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from steersman.operations.journal import snapshot as module
from steersman.operations.journal.commit import apply
from steersman.operations.journal.snapshot import Snapshot
from steersman.records.errors import ToolProblem
from steersman.records.names import written
from tests.operations.transactions.tree import Yard, tree


def test_everything_a_command_did_can_be_undone(yard: Yard) -> None:
    """Git's own folder included."""
    for name in (".git/objects/ab/cd", ".git/HEAD", "src/a", "src/b"):
        (yard.root / name).parent.mkdir(parents=True, exist_ok=True)
        (yard.root / name).write_text(name)
    before = tree(yard.root, times=False)
    done = yard.run_directly("rm -rf .git; mv src lib; echo c > lib/c; chmod 600 lib/a; ln -s c l")
    apply(str(yard.root), [change.reversed() for change in done.changes], yard.objects)
    assert tree(yard.root, times=False) == before
    assert done.notes == []


def test_a_time_that_no_record_holds_does_not_keep_effects_from_being_judged() -> None:
    """Some disks keep any time; a command that set one went unrecorded."""
    with TemporaryDirectory(dir="/dev/shm") as folder:
        yard = Yard(Path(folder))
        (yard.root / ".mcp.json").write_text("{}")
        done = yard.run_directly("echo evil > .mcp.json; touch -d 1-01-01 .mcp.json")
        assert [change.path for change in done.changes] == [".mcp.json"]


def test_only_what_changed_is_read_again(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index remembers; a file too fresh to be sure of is read again."""
    for number in range(20):
        (yard.root / str(number)).write_text(str(number))
        os.utime(yard.root / str(number), (5, 5))
    monkeypatch.setattr(module, "_TICK_NS", 0)
    read: list[str] = []
    real = Snapshot._read
    monkeypatch.setattr(Snapshot, "_read", lambda s, path, n: read.append(path) or real(s, path, n))
    take(yard)
    assert len(read) == 20
    read.clear()
    (yard.root / "7").write_text("seven")
    second = take(yard)
    assert read == ["7"]
    monkeypatch.setattr(module, "_TICK_NS", 10**12)
    (yard.root / "8").write_text("eight")
    assert [change.path for change in second.changes_since().changes] == ["8"]
    (yard.root / "8").write_text("EIGHT")
    assert [change.path for change in second.changes_since().changes] == ["8"]


def take(yard: Yard, **limits: int) -> Snapshot:
    """A snapshot of the yard."""
    return Snapshot.take(str(yard.root), yard.objects, yard.index, **limits)


def test_a_broken_index_only_costs_time(yard: Yard) -> None:
    """It is made anew."""
    Path(yard.index).write_bytes(b"\xff not an index")
    (yard.root / "a").write_text("a")
    before = take(yard)
    (yard.root / "a").unlink()
    assert [change.path for change in before.changes_since().changes] == ["a"]


@pytest.mark.parametrize("limits", [{"largest": 10}, {"most": 10}])
def test_what_is_too_large_is_said(yard: Yard, limits: dict[str, int]) -> None:
    """The change is known, but it cannot be undone, and the attempt touches nothing."""
    (yard.root / "large").write_text("x" * 100)
    before = take(yard, **limits)
    (yard.root / "large").write_text("y")
    done = before.changes_since()
    assert done.notes == ["Cannot be undone, because its content was not kept: large"]
    with pytest.raises(ToolProblem, match="cannot be given its content"):
        apply(str(yard.root), [change.reversed() for change in done.changes], yard.objects)
    assert (yard.root / "large").read_text() == "y"


def test_a_socket_in_the_place_of_another_is_named(yard: Yard) -> None:
    """The program that listened there is not reached any more."""
    place = str(yard.root / "socket")
    with socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
        first.bind(place)
        before = take(yard)
        second.bind(f"{place}.new")
        os.rename(f"{place}.new", place)
        found = before.changes_since()
    assert found.notes == ["Cannot be undone: socket was changed or replaced."]
    assert (found.changes, found.special, found.remove) == ([], [], [])


def test_pipes_are_never_opened_and_known_by_name(yard: Yard) -> None:
    """Those that are new, and those that are gone; nobody waits for one."""
    os.mkfifo(yard.root / "pipe")
    os.mkfifo(os.fsencode(yard.root) + b"/\xff")
    before = take(yard)
    os.mkfifo(yard.root / "other")
    (yard.root / os.fsdecode(b"\xff")).unlink()
    found = before.changes_since()
    assert (found.changes, found.special) == ([], ["other"])
    assert found.notes == ["Cannot be restored once it is gone: \\xff is a pipe."]
    assert found.remove == [written(os.fsdecode(b"\xff"))]
