"""Serena's writers run on a copy; what they changed passes the gate, is written, can be undone."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.code.copies import Changed, Copy
from steersman.operations.code.proposals import Proposer, Refactored, Refactoring, on_copy
from steersman.operations.code.renames import as_it_was, damaged
from steersman.records.errors import ToolProblem
from steersman.records.mcp_server import Server
from steersman.records.message import Checkpoint, Policy
from tests.operations.code.contract.station import Station, a_station, serena

SHIPS = "src/harbour/ships.py"


class Yard:
    """A workspace with Serena set up, and refactorings tried in it."""

    def __init__(self, station: Station, server: Server | None, folder: Path) -> None:
        self.station = station
        self.scratch = folder / "scratch"
        self._proposer = Proposer(
            lambda: server, station.connect, str(self.scratch), station.environ
        )

    def propose(self, operation: Any, name: str, path: str, text: str = "") -> Refactored:
        """Try it, and make it so."""
        wanted = Refactoring(operation, name, path, text)
        return self.station.run(self._proposer.propose(wanted, self.station.bench()))

    def text(self, path: str) -> str:
        return Path(self.station.path(path)).read_text()


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    server = serena(tmp_path)
    with a_station(tmp_path, repo="python", servers=[server]) as station:
        yield Yard(station, server, tmp_path)


@pytest.mark.real
def test_a_rename_changes_all_uses_and_says_where_the_name_is_left(yard: Yard) -> None:
    names = Path(yard.station.path("src/harbour/names.py"))
    names.write_text(names.read_text().replace("𝔖hip", "Ship").replace("🚢", ""))
    Path(yard.station.path(".env")).write_text("describe = secret\n")
    done = yard.propose("rename_symbol", "describe", SHIPS, "depict")
    assert {file.path: (file.added, file.removed) for file in done.files} == {
        "src/harbour/__init__.py": (1, 1),
        "src/harbour/cli.py": (1, 1),
        "src/harbour/names.py": (2, 2),
        SHIPS: (1, 1),
        "tests/test_harbour.py": (2, 2),
    }
    assert "def depict(ship: Ship)" in yard.text(SHIPS)
    assert "src/harbour/__init__.py:8" in {f"{left.path}:{left.line}" for left in done.left_over}
    assert "describe still appears in 4 lines" in done.note
    bodies = [message.body for message in yard.station.logged()]
    (checkpoint,) = [body for body in bodies if isinstance(body, Checkpoint)]
    assert len(checkpoint.changes) == 5  # the originals are kept, so it can be undone
    verdicts = [body for body in bodies if isinstance(body, Policy)]
    assert [type(body.action).__name__ for body in verdicts] == ["McpCall", *["Write"] * 5]
    assert os.listdir(yard.scratch) == []
    assert not Path(yard.station.path(".serena")).exists()


@pytest.mark.real
def test_a_rename_that_would_damage_a_line_is_refused(yard: Yard) -> None:
    before = yard.text("src/harbour/names.py")
    with pytest.raises(ToolProblem) as problem:
        yard.propose("rename_symbol", "describe", SHIPS, "depict")
    assert problem.value.what == (
        "Serena's rename would damage line 5 of src/harbour/names.py; nothing was changed."
    )
    assert yard.text("src/harbour/names.py") == before
    assert "def describe" in yard.text(SHIPS)


@pytest.mark.real
def test_what_is_used_is_not_deleted(yard: Yard) -> None:
    with pytest.raises(ToolProblem, match="Ship is still used") as problem:
        yard.propose("safe_delete_symbol", "Ship", SHIPS)
    assert "src/harbour/berths.py:27" in problem.value.why


@pytest.mark.real
def test_code_is_put_beside_a_symbol(yard: Yard) -> None:
    done = yard.propose("insert_before_symbol", "describe", SHIPS, "MORE = 2\n\n\n")
    assert [(file.path, file.added, file.removed) for file in done.files] == [(SHIPS, 3, 0)]
    assert "MORE = 2\n\n\ndef describe" in yard.text(SHIPS)


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("rename_symbol", {"name_path": "A/b", "relative_path": "a.py", "new_name": "text"}),
        ("replace_symbol_body", {"name_path": "A/b", "relative_path": "a.py", "body": "text"}),
        ("insert_after_symbol", {"name_path": "A/b", "relative_path": "a.py", "body": "text"}),
        ("safe_delete_symbol", {"name_path_pattern": "A/b", "relative_path": "a.py"}),
    ],
)
def test_the_arguments_of_serenas_tools(operation: Any, arguments: dict[str, str]) -> None:
    assert Refactoring(operation, "A/b", "a.py", "text").arguments() == arguments


def test_without_serena_there_is_a_sentence(tmp_path: Path) -> None:
    with a_station(tmp_path, repo="python") as station:
        yard = Yard(station, None, tmp_path)
        with pytest.raises(ToolProblem, match="Serena, which does this, is not set up"):
            yard.propose("rename_symbol", "describe", SHIPS, "depict")


def test_a_copy_has_what_is_searched_and_nothing_secret(tmp_path: Path) -> None:
    with a_station(tmp_path) as station:
        for name in ("a.py", "b/c.py", ".env", "ignored.log", ".git/config", "gone.py"):
            path = Path(station.path(name))
            path.parent.mkdir(exist_ok=True)
            path.write_text("x = 1\n")
        Path(station.path(".gitignore")).write_text("*.log\n")
        os.symlink("a.py", station.path("link.py"))
        bench = station.bench(secret=".env")
        copy = station.run(Copy.of(bench.workspace, str(tmp_path / "copy"), station.environ))
        copied = {str(p.relative_to(copy.folder)) for p in Path(copy.folder).rglob("*.*")}
        assert copied == {"a.py", "b/c.py", "gone.py", ".gitignore"}
        assert copy.changes() == []
        Path(copy.folder, "a.py").write_text("x = 2\n")
        Path(copy.folder, "b/c.py").touch()
        Path(copy.folder, "gone.py").unlink()
        Path(copy.folder, "new.py").write_text("y = 1\n")
        Path(copy.folder, ".serena").mkdir()
        Path(copy.folder, ".serena/cache").write_text("")
        assert copy.changes() == [
            Changed("a.py", b"x = 1\n", b"x = 2\n"),
            Changed("gone.py", b"x = 1\n", None),
            Changed("new.py", None, b"y = 1\n"),
        ]


@pytest.mark.parametrize(
    "given",
    [
        ("start-mcp-server", "--project", "/w", "--context", "ide"),
        ("start-mcp-server", "--project=/w", "--context", "ide"),
        ("start-mcp-server", "--context", "ide", "--project-from-cwd"),
        ("start-mcp-server", "--context", "ide"),
    ],
)
def test_the_serena_on_a_copy_has_its_own_project_and_home(given: tuple[str, ...]) -> None:
    server = Server("serena", "stdio", "serena", given, {"SERENA_HOME": "/their/home"})
    other = on_copy(server, "/w", "/copy", "/our/home")
    assert other.arguments == (
        "start-mcp-server", "--context", "ide", "--project", "/copy",
    )  # fmt: skip
    assert other.environ["SERENA_HOME"] == "/our/home"
    assert (other.cwd, other.name) == ("/copy", "serena-copy")


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("x = old()\n", "x = new()\n", 0),
        ("f({ old })\n", "f({ old: new })\n", 0),
        ("import { old }\n", "import { new as old }\n", 0),
        ('s = "🚢"; old(1)\n', 's = "🚢"; onew1)\n', 1),
        ("a\nx = old()\n", "a\n\nx = new()\n", 2),
        ("x = old(y)\n", "x = new()\n", 1),
    ],
)
def test_a_rename_takes_nothing_but_the_old_name(before: str, after: str, line: int) -> None:
    assert damaged(before.encode(), after.encode(), "old", "new") == line


@given(st.lists(st.sampled_from(["old", "x", "(", " ", "\n", "=", "older"])))
def test_a_rename_of_whole_words_is_never_called_damage(parts: list[str]) -> None:
    before = " ".join(parts)
    after = " ".join("new" if part == "old" else part for part in parts)
    assert damaged(before.encode(), after.encode(), "old", "new") == 0


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (b"a\r\nb\r\n", b"a\nc\n", b"a\r\nc\r\n"),
        (b"\xef\xbb\xbfa\n", b"b\n", b"\xef\xbb\xbfb\n"),
        (b"a\n", b"b\n", b"b\n"),
        (None, b"b\n", b"b\n"),
        (b"a\n", None, None),
    ],
)
def test_a_file_keeps_its_line_endings(
    before: bytes | None, after: bytes | None, kept: bytes | None
) -> None:
    assert as_it_was(before, after) == kept
