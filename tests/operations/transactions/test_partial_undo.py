"""Undo of some files and some hunks: exact, and together the same as the undo of everything."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.operations.journal.choosing import onto, undone
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.keeping import copy
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.undoing import (
    Entry,
    Standing,
    inverse,
    plan_redo,
    plan_undo,
    squash,
    standing,
)
from steersman.operations.matching import merged
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import ToolProblem
from steersman.records.undo import Part
from steersman.views.hunks import read_diff
from tests.views.test_hunks import texts

FOLDER = FileState("folder", 0o755)


def journal_in(folder: str) -> Journal:
    return Journal(folder, Objects(Path(folder) / "objects"))


def file(journal: Journal, content: bytes, mode: int = 0o644) -> FileState:
    digest, size = journal.objects.put_bytes(content, durable=False)
    return FileState("file", mode, digest, size)


@settings(max_examples=150, deadline=None)
@given(texts(), st.sampled_from(["utf-8", "utf-16"]), st.data())
def test_hunks_one_by_one_are_the_undo_of_all(
    pair: tuple[str, str], encoding: str, data: st.DataObject
) -> None:
    """What is kept is there byte for byte; the rest undone, the file is what it was."""
    old, new = (text.encode(encoding) for text in pair)
    if old == new:
        return
    with TemporaryDirectory() as folder:
        journal = journal_in(folder)
        change = Change("f", file(journal, old), file(journal, new, 0o755))
        hunks = read_diff(journal.diff(change)).hunks
        numbers = range(1, len(hunks) + 1)
        chosen = data.draw(st.sets(st.sampled_from(numbers), min_size=1)) if hunks else {1}
        (first,) = undone(journal, [change], [Part("f", tuple(chosen))])

        lines = pair[0].split("\n")
        lines = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
        for number in reversed(numbers):
            if number not in chosen:
                hunk = hunks[number - 1]
                lines[hunk.old_at : hunk.old_at + len(hunk.old)] = hunk.new
        assert first.before == change.after
        assert journal.content(first.after) == "".join(lines).encode(encoding)

        left = squash([change, first])
        if len(chosen) == len(hunks):
            assert left == []
            return
        assert first.after.mode == change.after.mode
        again = undone(journal, left, [Part("f", tuple(range(1, 1 + len(hunks) - len(chosen))))])
        every = read_diff(journal.diff(left[0])).parts
        if every == len(hunks) - len(chosen):
            assert squash([change, first, *again]) == []


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_users_edit_outside_of_the_chosen_hunks_always_survives(data: st.DataObject) -> None:
    """Their lines stay byte for byte, and the chosen hunks are undone where they are now."""
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    old = [f"line {n}{end}" for n in range(60)]
    hunks = {number: 10 * number for number in range(1, 6)}  # the line that each of them changed
    new = [f"agent {n}{end}" if n in hunks.values() else line for n, line in enumerate(old)]
    chosen = data.draw(st.sets(st.sampled_from(list(hunks)), min_size=1, max_size=4))
    near = {n + by for number in chosen for n in (hunks[number],) for by in (-1, 0, 1)}
    places = st.sampled_from([n for n in range(60) if n not in near])
    fates = data.draw(st.dictionaries(places, st.sampled_from(["drop", "add", "change"])))

    def edited(lines: list[str]) -> bytes:
        done = list(lines)
        for at, fate in fates.items():
            done[at] = {"drop": "", "add": done[at] + "mine\n", "change": f"my {at}\r\n"}[fate]
        return "".join(done).encode()

    with TemporaryDirectory() as folder:
        journal = journal_in(folder)
        kept, made = (file(journal, "".join(lines).encode()) for lines in (old, new))
        present = file(journal, edited(new), 0o600)
        (own,) = undone(journal, [Change("f", kept, made)], [Part("f", tuple(chosen))])
        change = onto(journal, own, present)
        wanted = [old[n] if n in {hunks[c] for c in chosen} else new[n] for n in range(60)]
        assert (change.before, change.after.mode) == (present, 0o600)
        assert journal.content(change.after) == edited(wanted)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (b"A\nb\nc\n", b"a\nb\nC\n", b"A\nb\nC\n"),
        (b"A\nb\nc\n", b"a\nB\nc\n", b"A\nB\nc\n"),
        (b"A\nb\nc\n", b"mine\nb\nc\n", None),
        (b"a\nx\nb\nc\n", b"a\ny\nb\nc\n", None),
        (b"a\nb\nc\nx", b"a\nb\nc\ny\n", None),
        (b"A\nb\nc\n", b"\xef\xbb\xbfa\nb\nc\n", None),
        (b"A\nb\nc\n", b"a\nb\n\x00\n", None),
        (b"b\nc\n", b"a\nb\nc\nd\n", b"b\nc\nd\n"),
    ],
)
def test_two_changes_of_a_text(one: bytes, other: bytes, both: bytes | None) -> None:
    assert merged(b"a\nb\nc\n", one, other) == both
    assert merged(b"a\nb\nc\n", other, one) == both


def held(letter: str) -> FileState:
    """A file with some content, told from others by a letter."""
    return FileState("file", 1, letter * 64, 1)


TREE = [
    Change(".git/HEAD", held("a"), held("b")),
    Change(".git/hooks/post-commit", ABSENT, held("k")),
    Change(".git/objects/ab/" + "0" * 38, ABSENT, held("c")),
    Change("gone", FOLDER, ABSENT),
    Change("gone/x", held("d"), ABSENT),
    Change("new", ABSENT, FOLDER),
    Change("new/deep", ABSENT, FOLDER),
    Change("new/deep/a", ABSENT, held("e")),
    Change("new/deep/b", ABSENT, held("f")),
    Change("turned", held("g"), FOLDER),
    Change("turned/in", ABSENT, held("h")),
    Change("was/moved", held("i"), ABSENT),
    Change("zz", ABSENT, held("i")),
]
BOOK = [".git/HEAD", ".git/objects/ab/" + "0" * 38]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (["gone/x"], ["gone", "gone/x"]),
        (["new/deep/a"], ["new/deep/a"]),
        (["new/deep/a", "new/deep/b"], ["new", "new/deep", "new/deep/a", "new/deep/b"]),
        (["new/"], ["new", "new/deep", "new/deep/a", "new/deep/b"]),
        (["turned"], ["turned", "turned/in"]),
        (["turned/in"], ["turned/in"]),
        (["zz"], ["was/moved", "zz"]),  # or its content would be nowhere
        (["was/moved"], ["was/moved"]),
        ([".git/HEAD"], BOOK),
        ([".git/hooks/post-commit"], [".git/hooks/post-commit"]),
        ([".git"], sorted([*BOOK, ".git/hooks/post-commit"])),
    ],
)
def test_what_belongs_to_a_path_goes_with_it(
    chosen: list[str], expected: list[str], tmp_path: Path
) -> None:
    found = undone(journal_in(str(tmp_path)), TREE, [Part(path) for path in chosen])
    assert found == inverse(change for change in TREE if change.path in expected)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (Part("other"), "Nothing to undo in other"),
        (Part("f", (3,)), "f has no hunk 3.\nIt has 2 hunks"),
        (Part("new", (1,)), "new has no hunks"),
    ],
)
def test_what_cannot_be_chosen_is_said(part: Part, told: str, tmp_path: Path) -> None:
    journal = journal_in(str(tmp_path))
    old = "".join(f"{n}\n" for n in range(30)).encode()
    done = [Change("f", file(journal, old), file(journal, b"x\n" + old + b"y\n"))]
    with pytest.raises(ToolProblem) as caught:
        undone(journal, [*done, *TREE], [part])
    assert told in str(caught.value)


A, B, C, D = (FileState("file", 0o644, name, 1) for name in "abcd")


def test_a_partial_undo_is_in_the_log_like_any_other() -> None:
    """It can be redone, the rest of the turn can be undone, and a redo of that brings it back."""
    log = [Entry(1, (Change("x", A, B), Change("y", A, B)))]
    log.append(Entry(2, (Change("x", B, C),), "undo", (1,), partial=True))
    assert standing(log) == Standing((1,), (2,), (2,))
    rest = plan_undo(log, [1])
    assert (rest.undoes, rest.changes, rest.gaps) == (
        (1, 2), (Change("x", C, A), Change("y", B, A)), (),
    )  # fmt: skip

    redo = plan_redo(log)
    assert (redo.undoes, redo.changes) == ((2,), (Change("x", C, B),))
    redone = [*log, Entry(3, redo.changes, "redo", redo.undoes)]
    assert standing(redone) == Standing((1,), ())
    assert plan_undo(redone, [1]).changes == (Change("x", B, A), Change("y", B, A))

    log.append(Entry(3, rest.changes, "undo", rest.undoes))
    assert standing(log) == Standing((), (2, 3))
    log.append(Entry(4, plan_redo(log).changes, "redo", (3,)))
    assert standing(log) == Standing((1,), (2,), (2,))
    assert plan_undo(log, [1]) == rest

    log.append(Entry(5, (Change("x", C, D),)))
    assert standing(log) == Standing((1, 5), (), (2,))
    assert plan_undo(log, [1, 5]).changes == (Change("x", D, A), Change("y", B, A))
    assert plan_undo(log, [5]).changes == (Change("x", D, C),)
    theirs = Entry(2, (Change("x", D, A),), "undo", (1,), partial=True, own=(Change("x", B, C),))
    assert plan_undo([log[0], theirs], [1]).changes == rest.changes, "theirs is not the turn's"
    assert plan_redo([log[0], theirs]).changes == (Change("x", A, D),)
    never = [*log[:2], Entry(3, (), "void", (2,))]
    assert standing(never) == Standing((1,), ())


def test_copies_of_what_is_overwritten_are_private_whatever_the_umask(tmp_path):
    journal = Journal(str(tmp_path), Objects(tmp_path / "objects"))
    digest, size = journal.objects.put_bytes(b"mine")
    change = Change("deep/er/a", ABSENT, FileState("file", 0o644, digest, size))
    before = os.umask(0)
    try:
        copy(journal, [change], tmp_path / "overwritten" / "t")
    finally:
        os.umask(before)
    made = [tmp_path / "overwritten", *(tmp_path / "overwritten").rglob("*")]
    assert [one.stat().st_mode & 0o777 for one in sorted(made)] == [0o700] * 4 + [0o600]
