"""Where paths lead is asked of the system, and it is where `realpath` finds that they lead."""

import os
from pathlib import Path

import pytest

from steersman.records.real_paths import real_path


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files and links of all kinds, and the one to which paths are relative."""
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "folder" / "file").write_text("x")
    (tmp_path / "file (deleted)").write_text("named as the system names what is gone")
    for name, target in {
        "link": "folder",
        "folder/up": "..",
        "absolute": str(tmp_path / "folder" / "file"),
        "nowhere": "folder/missing",
        "far": "missing/../elsewhere/x",
        "round": "about",
        "about": "round",
        "twice": "link/up/link/inner",
    }.items():
        (tmp_path / name).symlink_to(target)
    monkeypatch.chdir(tmp_path)
    return tmp_path


PATHS = [
    "", "folder", "folder/file", "folder/inner/", "folder/file/", "folder/file/x", "link",
    "link/file", "link/up/link", "absolute", "nowhere", "nowhere/x", "nowhere/../y", "far",
    "round", "round/x", "twice", "twice/..", "missing", "missing/a/b", "missing/../folder",
    "missing/./x", "missing/", "link/missing/x", "link/up/missing", "file (deleted)", ".", "..",
    "link/..", "folder//file", "a\nb", "ü/x", "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_path_leads_where_realpath_says(tree: Path, path: str) -> None:
    whole = f"{tree}/{path}"
    assert real_path(whole) == os.path.realpath(whole)
    assert real_path(path) == os.path.realpath(path)


@pytest.mark.parametrize("path", ["/", "/.", "/..", "/missing", "/missing/x", "/proc/self/fd/0"])
def test_so_does_one_at_the_top_or_of_the_system(path: str) -> None:
    assert real_path(path) == os.path.realpath(path)


def test_a_pipe_has_no_place_but_its_name() -> None:
    reading, writing = os.pipe()
    try:
        assert real_path(f"/proc/self/fd/{reading}") == os.path.realpath(f"/proc/self/fd/{reading}")
    finally:
        os.close(reading)
        os.close(writing)


def test_a_file_that_was_removed_while_open_has_its_name(tree: Path) -> None:
    with open(tree / "folder" / "file") as file:
        (tree / "folder" / "file").unlink()
        held = f"/proc/self/fd/{file.fileno()}"
        assert real_path(held) == os.path.realpath(held)


def test_a_nul_is_refused_as_realpath_refuses_it() -> None:
    with pytest.raises(ValueError, match="null"):
        real_path("/a\0b")


def test_nothing_stays_open(tree: Path) -> None:
    before = os.listdir("/proc/self/fd")
    for path in PATHS:
        real_path(f"{tree}/{path}")
    assert os.listdir("/proc/self/fd") == before
