"""Objects, looking, and the pure arithmetic of undo."""

import os
import stat
from pathlib import Path

import pytest

from steersman.operations.journal.looking import Special, look, signature
from steersman.operations.journal.objects import CHUNK, Objects
from steersman.operations.journal.undoing import (
    Entry,
    Standing,
    conflicts,
    gaps,
    inverse,
    made,
    plan_redo,
    plan_undo,
    since,
    squash,
    standing,
)
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import ToolProblem
from steersman.records.undo import UndoPlan


def file(content: str) -> FileState:
    """A file, by any digest."""
    return FileState("file", 0o644, content, 1)


A, B, C, D = file("a"), file("b"), file("c"), file("d")


def test_contents_are_kept_once_and_privately(tmp_path: Path) -> None:
    """By digest, in folders two levels deep, readable by the owner alone."""
    objects = Objects(tmp_path / "objects")
    large = os.urandom(CHUNK) * 2 + b"end"
    (tmp_path / "large").write_bytes(large)
    for content in (b"", b"text", large):
        (tmp_path / "file").write_bytes(content)
        digest, size = objects.put_file(str(tmp_path / "file"))
        assert objects.put_bytes(content) == (digest, size) == (digest, len(content))
        assert objects.has(digest)
        assert stat.S_IMODE(os.stat(objects.path(digest)).st_mode) == 0o600
        with objects.open(digest) as kept:
            assert kept.read() == content
    files = [path for path in Path(objects.folder).rglob("*") if path.is_file()]
    assert len(files) == 3


def test_contents_that_are_not_kept(tmp_path: Path) -> None:
    """A wrong digest is refused, a missing one said."""
    objects = Objects(tmp_path)
    assert not objects.has("0" * 64)
    with pytest.raises(ToolProblem):
        objects.open("0" * 64)
    with pytest.raises(ToolProblem):
        objects.path("../../etc/passwd")


def test_looking_follows_nothing(tmp_path: Path) -> None:
    """Each kind of path has its state."""
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "folder").mkdir(mode=0o750)
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert look(str(tmp_path / "file")).mode == 0o640
    assert look(str(tmp_path / "folder")) == FileState("folder", 0o750)
    assert look(str(tmp_path / "link")) == FileState("link", target="file")
    assert look(str(tmp_path / "none")) == look(str(tmp_path / "file" / "x")) == ABSENT
    with pytest.raises(Special, match="is a pipe"):
        look(str(tmp_path / "pipe"))
    first = signature(os.stat(tmp_path / "file"))
    (tmp_path / "file").write_bytes(b"yy")
    assert signature(os.stat(tmp_path / "file")) != first


def test_squashing_keeps_the_ends() -> None:
    """Before of the first, after of the last, nothing where they are the same."""
    many = [Change("x", A, B), Change("y", ABSENT, A), Change("x", B, C), Change("y", A, ABSENT)]
    assert squash(many) == [Change("x", A, C)]
    assert inverse(squash(many)) == [Change("x", C, A)]
    assert gaps(many) == ()
    assert gaps([Change("x", A, B), Change("x", C, D)]) == ("x",)


EFFECTS = (Entry(1, (Change("x", A, B),)), Entry(4, (Change("x", B, C), Change("y", ABSENT, D))))


def test_undo_and_redo_are_a_stack() -> None:
    """Undo takes effects away, redo brings them back, an effect in between ends redo."""
    log = list(EFFECTS)
    assert standing(log) == Standing((1, 4), ())
    plan = plan_undo(log, since(log, 1))
    assert plan == UndoPlan("undo", (4,), (Change("x", C, B), Change("y", D, ABSENT)))
    log.append(Entry(5, plan.changes, "undo", plan.undoes))
    both = plan_undo(log, since(log, 0))
    assert both == UndoPlan("undo", (1,), (Change("x", B, A),))
    log.append(Entry(6, both.changes, "undo", both.undoes))
    assert standing(log) == Standing((), (5, 6))
    redo = plan_redo(log)
    assert redo == UndoPlan("redo", (6,), (Change("x", A, B),))
    log.append(Entry(7, redo.changes, "redo", redo.undoes))
    assert standing(log) == Standing((1,), (5,))
    log.append(Entry(8, (Change("z", ABSENT, A),)))
    assert standing(log) == Standing((1, 8), ())
    with pytest.raises(ToolProblem, match="nothing to redo"):
        plan_redo(log)


def test_what_git_notes_for_itself_goes_with_the_effect_before_it() -> None:
    """A redo overwrites what was noted since the undo; that is not undone once more."""
    log = [
        Entry(1, (Change("i", A, B),)),
        Entry(2, (Change("i", B, A),), "undo", (1,)),
        Entry(3, (Change("i", A, D),), quiet=True),
        Entry(4, (Change("i", D, B),), "redo", (2,)),
        Entry(5, (Change("i", B, C),), quiet=True),
    ]
    assert standing(log) == Standing((1,), (), quiet=(5,))
    plan = plan_undo(log, standing(log).effects)
    assert (plan.undoes, plan.changes) == ((1, 5), (Change("i", C, A),))


def test_what_cannot_be_undone() -> None:
    """Nothing there, undone before, or nothing asked for."""
    with pytest.raises(ToolProblem, match="nothing to undo"):
        plan_undo(EFFECTS, [])
    with pytest.raises(ToolProblem, match="Nothing to undo at 3"):
        plan_undo(EFFECTS, [1, 3])
    undone = [*EFFECTS, Entry(5, (), "undo", (4,))]
    with pytest.raises(ToolProblem, match="undone before"):
        plan_undo(undone, [4])


def test_conflicts_and_gaps_are_told() -> None:
    """Who changed a path since, and whose change in between would be lost."""
    plan = plan_undo(EFFECTS, [1, 4])
    assert conflicts({"x": C, "y": D}, plan) == ()
    assert conflicts({"x": A}, plan) == ("x", "y")
    foreign = (Entry(1, (Change("x", A, B),)), Entry(2, (Change("x", C, D),)))
    assert plan_undo(foreign, [1, 2]).gaps == ("x",)


def test_what_was_made_is_what_an_undo_of_it_all_would_undo() -> None:
    """Less what was undone of it, whole or in part."""
    log = [
        Entry(1, (Change("x", A, C), Change("y", ABSENT, A))),
        Entry(2, (Change("z", A, B),)),
        Entry(3, (Change("x", C, B),), "undo", (1,), partial=True),
        Entry(4, (Change("z", B, A),), "undo", (2,)),
    ]
    assert made(log) == [Change("x", A, B), Change("y", ABSENT, A)]
    assert made(log) == inverse(plan_undo(log, standing(log).effects).changes)
    assert made([]) == []
