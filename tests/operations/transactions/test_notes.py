"""A commit in progress is noted on disk, in a file that the next commit uses again."""

import os
from pathlib import Path

import msgspec

from steersman.operations.journal.commit import recover
from steersman.operations.journal.recovery import Pending, cut_off, noted
from steersman.records.change import ABSENT, Change, FileState

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
