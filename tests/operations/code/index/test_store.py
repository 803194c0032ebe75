"""The index on disk: what is put in comes out, for several processes, whatever happens to it."""

import sqlite3
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

from steersman.operations.code.index.store import Entry, Index, place
from steersman.operations.code.trees.definition import Definition, Tags
from steersman.records.errors import StorageProblem

CLIENT = Definition("Client", "class", 1, 9, 7, "class Client")
SEND = Definition("Client/send", "method", 2, 3, 9, "def send(self)")
ENTRY = Entry("shop/client.py", "python", 90, 1234567890123456789, 42)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    """An index with one file in it."""
    index = Index.open(tmp_path / "state" / "index.db")
    index.put([(ENTRY, Tags((CLIENT, SEND), {b"host": 2, b"gr\xc3\xb6\xc3\x9fe": 70_000}))])
    return index


def test_what_is_put_in_comes_out(index: Index) -> None:
    assert index.files() == {"shop/client.py": ENTRY}
    assert index.symbols("shop/client.py") == [CLIENT, SEND]
    assert list(index.outlines()) == [("shop/client.py", [CLIENT, SEND])]
    assert index.definitions() == {"Client": ["shop/client.py"], "send": ["shop/client.py"]}
    assert list(index.references()) == [
        ("shop/client.py", ["host", "größe"], array("H", [2, 65535]))
    ]


def test_files_are_found_by_names(index: Index) -> None:
    assert index.named("send") == [("shop/client.py", [CLIENT, SEND])]
    assert index.named("en") == []
    assert index.named("en", substring=True) == [("shop/client.py", [CLIENT, SEND])]
    assert index.using("größe") == ["shop/client.py"]
    assert index.using("send") == []


def test_a_file_that_is_not_there_has_nothing(index: Index) -> None:
    assert index.symbols("nowhere.py") == []


def test_putting_again_replaces_and_forgetting_forgets(index: Index) -> None:
    index.put([(ENTRY, Tags((SEND,)))])
    assert index.symbols("shop/client.py") == [SEND]
    assert index.using("host") == []
    index.put((), ["shop/client.py", "nowhere.py"])
    assert (index.files(), index.definitions(), list(index.references())) == ({}, {}, [])


def test_names_that_are_not_utf8_are_kept(index: Index) -> None:
    path = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    index.put([(Entry(path, "python", 1, 2, 3), Tags((SEND,)))])
    assert path in index.files()
    assert index.symbols(path) == [SEND]


def test_a_generation_tells_of_changes_by_anyone(index: Index) -> None:
    before = index.generation
    other = Index.open(index.path)
    other.put([(Entry("b.py", "python", 1, 2, 3), Tags())])
    other.close()
    assert index.generation == before + 1
    assert set(index.files()) == {"shop/client.py", "b.py"}


def test_what_fails_leaves_nothing_behind(index: Index) -> None:
    broken = Entry("c.py", None, 1, 2, 3)
    with pytest.raises(StorageProblem):
        index.put([(Entry("b.py", "python", 1, 2, 3), Tags()), (broken, Tags())])
    assert set(index.files()) == {"shop/client.py"}
    index.put([(Entry("b.py", "python", 1, 2, 3), Tags())])


@pytest.mark.parametrize("damage", ["not a database", ""])
def test_a_damaged_file_begins_anew(index: Index, damage: str) -> None:
    index.close()
    for ending in ("-wal", "-shm"):
        Path(f"{index.path}{ending}").unlink(missing_ok=True)
    index.path.write_text(damage)
    again = Index.open(index.path)
    assert again.files() == {}
    again.put([(ENTRY, Tags((SEND,)))])
    assert again.symbols(ENTRY.path) == [SEND]


def test_pages_that_are_damaged_begin_anew(index: Index) -> None:
    many = [
        (Entry(f"{n}.py", "python", 1, 2, 3), Tags((SEND,), {b"w" * 500: 1})) for n in range(99)
    ]
    index.put(many)
    index.close()
    content = bytearray(index.path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    index.path.write_bytes(bytes(content))
    again = Index.open(index.path)
    list(again.outlines())
    again.put(many)
    assert len(again.files()) == len(many)


def test_an_outline_that_does_not_decode_begins_anew(index: Index) -> None:
    with sqlite3.connect(index.path) as connection:
        connection.execute("UPDATE outlines SET symbols = x'ff00'")
    assert index.symbols(ENTRY.path) == []
    assert index.files() == {}


def test_a_file_of_another_version_begins_anew(index: Index) -> None:
    index.close()
    with sqlite3.connect(index.path) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    assert Index.open(index.path).files() == {}


def test_when_another_process_begins_anew_all_follow(index: Index) -> None:
    index.path.unlink()
    assert index.files() == {}
    other = Index.open(index.path)
    index.put([(ENTRY, Tags((SEND,)))])
    assert other.symbols(ENTRY.path) == [SEND]


def test_using_it_after_the_end_takes_nothing_away(index: Index) -> None:
    index.close()
    with pytest.raises(StorageProblem):
        index.files()
    assert set(Index.open(index.path).files()) == {ENTRY.path}


def test_a_place_that_cannot_be_written_is_told_in_sentences(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageProblem, match="cannot be used"):
        Index.open(tmp_path / "file" / "index.db")


WRITER = """
import sys
from steersman.operations.code.index.store import Entry, Index
from steersman.operations.code.trees.definition import Tags
index = Index.open(sys.argv[1])
for number in range(20):
    index.put([(Entry(f"{sys.argv[2]}{number}.py", "python", 1, 2, 3), Tags())])
"""


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "index.db"
    command = [sys.executable, "-c", WRITER, str(path)]
    running = [subprocess.Popen([*command, name]) for name in "abc"]
    assert [process.wait() for process in running] == [0, 0, 0]
    index = Index.open(path)
    assert (len(index.files()), index.generation) == (60, 60)


def test_each_workspace_has_a_file_of_its_own(tmp_path: Path) -> None:
    one, other = place(tmp_path, "/ws/a"), place(tmp_path, "/ws/b")
    assert one != other
    assert one.parent == other.parent == tmp_path / "index"
