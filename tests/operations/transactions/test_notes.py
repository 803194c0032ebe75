"""A commit in progress is noted on disk, in a file that the next commit uses again."""

import os
from pathlib import Path

import msgspec

from steersman.operations.journal.commit import recover
from steersman.operations.journal.recovery import Pending, cut_off, noted
from steersman.records.change import ABSENT, Change, FileState
from tests.operations.transactions.tree import FOLDER, tree

LARGE = [Change(f"file{n}", ABSENT, FileState("file", 0o644, "0" * 64, 1)) for n in range(100)]


def notes(objects):
    return sorted(Path(objects.folder, "pending").iterdir())


def read(objects):
    """What another process would find if this one were killed now."""
    while objects.spare_notes:
        os.close(objects.spare_notes.pop())
    return list(cut_off(objects))


def test_commits_one_after_another_use_one_file(yard):
    for changes in (LARGE[:1], LARGE, LARGE[:1]):
        with noted(yard.objects, Pending("/", "token", changes)):
            assert len(notes(yard.objects)) == 1
    assert read(yard.objects) == []
    assert notes(yard.objects) == []


def test_commits_at_the_same_time_have_a_file_each(yard):
    with noted(yard.objects, Pending("/", "one", [])), noted(yard.objects, Pending("/", "two", [])):
        assert len(notes(yard.objects)) == 2
    assert read(yard.objects) == []


def test_a_short_commit_after_a_long_one_is_found_whole(yard):
    with noted(yard.objects, Pending("/", "long", LARGE)):
        pass
    short = Pending("/", "short", LARGE[:1])
    work = noted(yard.objects, short)
    work.__enter__()
    (name,) = notes(yard.objects)
    copy = name.with_name("copy")
    copy.write_bytes(name.read_bytes())
    assert list(cut_off(yard.objects)) == [short]
    work.__exit__(None, None, None)


def test_a_commit_that_is_done_stays_though_its_note_is_still_there(yard):
    """A power cut may bring back what the note said before it was emptied."""
    change = Change("a", ABSENT, yard.file(b"a"))
    yard.apply(change)
    note = Path(yard.objects.folder, "pending", "left")
    note.write_bytes(msgspec.json.encode(Pending(str(yard.root), "token", [change])))
    assert recover(yard.objects) == []
    assert (yard.root / "a").read_bytes() == b"a"
    assert not note.exists()


def cut(yard, *changes):
    """A commit whose process died after its last step but one."""
    note = Path(yard.objects.folder, "pending", "left")
    note.parent.mkdir(exist_ok=True)
    note.write_bytes(msgspec.json.encode(Pending(str(yard.root), "token", list(changes))))


def test_what_someone_put_into_a_folder_since_stays_with_it(yard):
    folder, file = Change("new", ABSENT, FOLDER), Change("new/a", ABSENT, yard.file(b"a"))
    yard.apply(folder, file)
    cut(yard, folder, file, Change("b", ABSENT, yard.file(b"b")))
    (yard.root / "new" / "mine").write_bytes(b"mine")

    told = recover(yard.objects)

    assert told[-1] == "new was changed since then and stays as it is."
    assert sorted(tree(yard.root)) == [".", "new", "new/mine"]


def test_a_pipe_that_someone_put_there_since_stays(yard):
    cut(yard, Change("a", ABSENT, yard.file(b"a")), Change("b", ABSENT, yard.file(b"b")))
    yard.apply(Change("b", ABSENT, yard.file(b"b")))
    os.mkfifo(yard.root / "a")

    assert recover(yard.objects)[-1] == "a was changed since then and stays as it is."
    assert os.listdir(yard.root) == ["a"]


def test_a_folder_that_is_gone_keeps_nobody_from_working(yard):
    """It may be on a disk that comes back."""
    done, missing = (Change(name, ABSENT, yard.file(b"x")) for name in ("a", "b"))
    yard.apply(done)
    cut(yard, done, missing)
    yard.root.rename(yard.folder / "elsewhere")
    assert recover(yard.objects) == []

    (yard.folder / "elsewhere").rename(yard.root)
    assert len(recover(yard.objects)) == 1
    assert os.listdir(yard.root) == []
