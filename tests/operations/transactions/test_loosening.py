"""A branch that a push deletes gets a file of its own; everything else stays as it is."""

import os
from pathlib import Path

import pytest

from steersman.operations.running.loosening import loosen

ONE, TWO = "1" * 40, "2" * 40
HEAD = "# pack-refs with: peeled fully-peeled sorted \n"
OTHERS = f"{TWO} refs/heads/old/er\n{TWO} refs/tags/t2\n^{ONE}\n"
PACKED = f"{HEAD}{ONE} refs/heads/old\n{ONE} refs/tags/t\n^{TWO}\n{OTHERS}"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("objects", "refs", "hooks", "info"):
        (tmp_path / "origin" / name).mkdir(parents=True)
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", ""), ("packed-refs", PACKED)):
        (tmp_path / "origin" / name).write_text(text)
    return tmp_path / "origin"


def test_what_is_deleted_leaves_the_list_with_what_it_is_about(place: Path) -> None:
    loosen([str(place)], "git push origin main && ls")
    assert (place / "packed-refs").read_text() == PACKED
    loosen([str(place)], "git push origin :old :t :../../x :nowhere")
    assert (place / "packed-refs").read_text() == HEAD + OTHERS
    for name in ("refs/heads/old", "refs/tags/t"):
        assert (place / name).read_text() == f"{ONE}\n"
    assert sorted(os.listdir(place)) == ["HEAD", "config", "hooks", "info", "objects",
                                         "packed-refs", "refs"]  # fmt: skip


def test_nothing_is_written_through_a_link_or_past_a_lock(place: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (place / "refs/heads").symlink_to(tmp_path / "outside")
    loosen([str(place)], "git push origin -d old")
    (place / "refs/heads").unlink()
    (place / "packed-refs.lock").write_text("git's own")
    loosen([str(place)], "git push origin -d old")
    assert os.listdir(tmp_path / "outside") == []
    assert (place / "packed-refs").read_text() == PACKED
    assert (place / "packed-refs.lock").read_text() == "git's own"
