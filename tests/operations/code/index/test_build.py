"""The index follows the files: what is new or changed is read, what is gone is forgotten."""

import asyncio
import os
from pathlib import Path

import pytest

from steersman.operations.code.index.build import PORTION, Report, refresh, update
from steersman.operations.code.index.store import Index
from steersman.operations.code.index.walk import listed


class Folder:
    """A workspace and its index."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "ws"
        self.root.mkdir()
        self.index = Index.open(folder / "index.db")

    def write(self, **files: str) -> None:
        """Python files by name."""
        for name, text in files.items():
            (self.root / f"{name}.py").write_text(text)

    def files(self, secret: str = "") -> list[str]:
        """What would be indexed."""
        return asyncio.run(listed(os.path.realpath(self.root), secret, os.environ))

    def update(self) -> Report:
        """Bring the index up to date."""
        return update(str(self.root), self.index, self.files())

    def defined(self) -> dict[str, list[str]]:
        """The names the index knows."""
        return self.index.definitions()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Three files, indexed."""
    folder = Folder(tmp_path)
    folder.write(a="def one(): 1\n", b="def two(): 1\n", c="x = 1\n")
    assert folder.update() == Report(read=3)
    return folder


def test_only_what_changed_is_read_again(folder: Folder) -> None:
    assert folder.update() == Report(kept=3)
    folder.write(b="def three(): 1\n")
    assert folder.update() == Report(read=1, kept=2)
    assert folder.defined() == {"one": ["a.py"], "three": ["b.py"], "x": ["c.py"]}


@pytest.mark.parametrize("year", [2400, 1600])
def test_a_file_may_have_any_time(folder: Folder, year: int) -> None:
    """No table holds the nanoseconds until then; a repository may bring such a file."""
    seconds = (year - 1970) * 31_556_952
    os.utime(folder.root / "a.py", (seconds, seconds))
    assert folder.update() == Report(read=1, kept=2)
    assert folder.update() == Report(kept=3)


def test_what_is_gone_is_forgotten_and_what_is_new_is_read(folder: Folder) -> None:
    (folder.root / "a.py").unlink()
    folder.write(d="def four(): 1\n")
    assert folder.update() == Report(read=1, kept=2, gone=1)
    (folder.root / "b.py").unlink()
    assert folder.update() == Report(kept=2, gone=1)
    assert set(folder.defined()) == {"x", "four"}


def test_the_same_size_and_time_in_another_file_is_noticed(folder: Folder) -> None:
    before = (folder.root / "a.py").stat()
    (folder.root / "new").write_text("def uno(): 1\n")
    os.utime(folder.root / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    (folder.root / "new").rename(folder.root / "a.py")
    assert folder.update() == Report(read=1, kept=2)
    assert "uno" in folder.defined()


def test_nothing_is_written_when_nothing_changed(folder: Folder) -> None:
    before = folder.index.generation
    folder.update()
    assert folder.index.generation == before


def test_it_stops_when_asked_and_goes_on_from_there(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(**{f"f{n}": f"def f{n}(): 1\n" for n in range(PORTION + 50)})
    told: list[tuple[int, int]] = []
    asked = iter([False] * (PORTION + 10) + [True])
    report = update(
        str(folder.root),
        folder.index,
        folder.files(),
        progress=lambda done, whole: told.append((done, whole)),
        should_stop=lambda: next(asked),
    )
    assert report == Report(read=PORTION + 10, complete=False)
    assert told == [(PORTION, PORTION + 50), (PORTION + 10, PORTION + 50)]
    assert folder.update() == Report(read=40, kept=PORTION + 10)


def test_single_files_are_looked_at_again(folder: Folder) -> None:
    folder.write(a="def changed(): 1\n", e="def ignored_for_now(): 1\n")
    (folder.root / "b.py").unlink()
    assert refresh(str(folder.root), folder.index, ["a.py", "b.py", "c.py"]) == Report(1, 1, 1)
    assert set(folder.defined()) == {"changed", "x"}


def test_what_cannot_be_read_has_a_note(folder: Folder) -> None:
    (folder.root / "big.py").write_bytes(b"#" * (3 << 20))
    (folder.root / "blob.py").write_bytes(b"\0")
    (folder.root / "script").write_text("#!/bin/sh\ngo() { :; }\n")
    (folder.root / "prose").write_text("nothing to see\n")
    os.mkfifo(folder.root / "pipe.py")
    update(str(folder.root), folder.index, [*folder.files(), "pipe.py", "away.py"])
    files = folder.index.files()
    assert {name: (files[name].language, files[name].note) for name in files} == {
        "a.py": ("python", ""),
        "b.py": ("python", ""),
        "c.py": ("python", ""),
        "big.py": ("python", "too large"),
        "blob.py": ("python", "it is not a text"),
        "script": ("bash", ""),
        "prose": ("", ""),
        "pipe.py": ("python", "not a regular file"),
        "away.py": ("python", "No such file or directory"),
    }
    assert folder.defined()["go"] == ["script"]


def test_a_link_is_not_followed(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("def outside(): 1\n")
    (folder.root / "link.py").symlink_to(tmp_path / "outside.py")
    update(str(folder.root), folder.index, [*folder.files(), "link.py"])
    assert "outside" not in folder.defined()


def test_ignored_and_secret_files_are_not_indexed(folder: Folder) -> None:
    (folder.root / ".gitignore").write_text("b.py\n")
    (folder.root / "keys").mkdir()
    (folder.root / "keys" / "k.py").write_text("def key(): 1\n")
    (folder.root / "notes.txt").write_text("no code\n")
    assert folder.files() == ["a.py", "c.py", "keys/k.py"]
    assert folder.files(secret="keys/\n") == ["a.py", "c.py"]
    folder.update()
    assert "key" in folder.defined()
    update(str(folder.root), folder.index, folder.files(secret="keys/\n"))
    assert set(folder.defined()) == {"one", "x"}


def test_a_part_of_the_workspace_is_listed_from_its_top(folder: Folder) -> None:
    (folder.root / "sub").mkdir()
    (folder.root / "sub" / "d.py").write_text("")
    root = os.path.realpath(folder.root)
    assert asyncio.run(listed(root, "", os.environ, f"{root}/sub")) == ["sub/d.py"]
