"""The files of a folder, as they are offered."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from steersman.records.secret_files import PLAIN_SIGHT
from steersman.views.completion.files import Files, build


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with something of every kind."""
    top = tmp_path / "house"
    for name in ("src/a.py", "src/my file.py", "build/out.o", ".env", "keys/id_rsa", "notes.log"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x")
    (top / ".gitignore").write_text("build/\n*.log\n")
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    return top


def listed(files: Files) -> list[str]:
    asyncio.run(files.refresh())
    return sorted(files.index.paths)


def test_what_is_ignored_or_secret_is_not_offered(folder: Path) -> None:
    assert listed(Files(str(folder), os.environ)) == [
        ".gitignore", "src/", "src/a.py", "src/my file.py",
    ]  # fmt: skip


def test_what_steersmanignore_names_is_not_offered(folder: Path) -> None:
    (folder / ".steersmanignore").write_text("src/a.py\n")
    assert "src/a.py" not in listed(Files(str(folder), os.environ))


def test_a_new_file_is_offered_after_the_next_look(folder: Path) -> None:
    async def look() -> None:
        files = Files(str(folder), os.environ)
        assert await files.refresh()
        assert not await files.refresh()  # it is fresh
        files._looked = float("-inf")
        first = files.index
        assert not await files.refresh()  # nothing changed
        assert files.index is first
        (folder / "new.py").write_text("x")
        files._looked = float("-inf")
        assert await files.refresh()
        assert "new.py" in files.index.paths

    asyncio.run(look())


def test_a_folder_that_is_gone_offers_nothing_and_raises_nothing(tmp_path: Path) -> None:
    assert listed(Files(str(tmp_path / "gone"), os.environ)) == []


@pytest.mark.parametrize(
    "name", [b"two\nlines", b"tab\there", b"\xff\xfe", b"esc\x1b[31m", "zero​width".encode(), b'a"b']
)
def test_names_that_cannot_be_written_are_left_out(name: bytes) -> None:
    assert build([name, b"good.py", name + b"/inner.py"], PLAIN_SIGHT).paths == ("good.py",)


def test_what_tools_make_again_is_offered_to_whoever_types_into_it(folder: Path) -> None:
    for name in (".venv/lib/site.py", "node_modules/pkg/server.pem", ".git/config"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / "node_modules/away").symlink_to("/")

    async def typed(*queries: str) -> list[tuple[str, ...]]:
        files = Files(str(folder), os.environ)
        await files.refresh()
        found = []
        for query in queries:
            await files.look_into(query)
            found.append(tuple(sorted(files.found(query).paths)))
        return found

    usual, *inside = asyncio.run(
        typed("", ".venv/", ".venv/lib/si", "node_modules/pkg/x", "build/", "src/a")
    )
    assert usual == (".gitignore", "src/", "src/a.py", "src/my file.py")
    assert inside == [
        (".venv/lib/",), (".venv/lib/site.py",), ("node_modules/pkg/server.pem",), ("build/out.o",),
        usual,
    ]  # fmt: skip
    nowhere = asyncio.run(typed(".git/", "node_modules/away/", "../", "keys/", "gone/", "/etc/"))
    assert set(nowhere) == {usual}
