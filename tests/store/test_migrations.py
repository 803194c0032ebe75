"""A database of any earlier version, or of none, opens with everything that is in it."""

import re
import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest

from steersman.records.errors import StorageProblem
from steersman.records.inbox import Settled
from steersman.records.message import encode_body
from steersman.store.chain import flaws
from steersman.store.log import read_messages
from steersman.store.migrations import LATEST, script
from steersman.store.sqlite import SqliteStore
from tests.store.contract import everything
from tests.store.elsewhere import finish, start
from tests.store.made import a_thread, some_rows

DUMPS = sorted((Path(__file__).parent / "versions").glob("v*.sql"))


def version_of(database: Path) -> int:
    """The schema version a database says it has."""
    connection = sqlite3.connect(database)
    try:
        return connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


def restored(dump: Path, folder: Path) -> Path:
    """The database that a dump stands for."""
    database = folder / "steersman.db"
    connection = sqlite3.connect(database)
    connection.executescript(dump.read_text(encoding="utf-8"))
    connection.close()
    return database


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_there_is_one_dump_and_one_script_per_version():
    names = [f"v{number:04d}" for number in range(1, LATEST + 1)]
    assert [dump.stem for dump in DUMPS] == names
    for dialect in ("sqlite", "postgres"):
        assert all(script(dialect, number).strip() for number in range(1, LATEST + 1))
        with pytest.raises(StopIteration):
            script(dialect, LATEST + 1)


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_a_database_of_an_earlier_version_opens_with_all_that_is_in_it(tmp_path, dump):
    version = int(dump.stem[1:])
    database = restored(dump, tmp_path)
    assert version_of(database) == version
    store = SqliteStore(tmp_path)

    threads = {thread.id: thread for thread in store.threads()}
    assert {name: thread.head for name, thread in threads.items()} == {
        "wh4kestu2n": 18,
        "ct7ffgrm3p": 8,
        "emp9ty5hrx": 0,
    }
    cut_off = threads["ct7ffgrm3p"]
    assert (cut_off.parent, cut_off.parent_seq, cut_off.origin) == ("wh4kestu2n", 6, "fork")
    for thread in threads.values():
        assert thread.workspace == "/srv/harbour"
        assert list(flaws(thread, store.read_raw(thread.id))) == []
        # Every body is understood, and would be written today as it was then.
        for message, row in zip(
            read_messages(store, thread.id), store.read(thread.id), strict=True
        ):
            assert encode_body(message.body) == row.body
    said = [m.body.text for m in read_messages(store, "wh4kestu2n", kinds={"user"})]
    assert said == ["Mend the fees — “bitte”, 請, \U0001f6a2", "and the tests"]
    for data in (b"", bytes(range(256))):
        assert store.blob(sha256(data).hexdigest()) == data
    assert store.setting("thread:wh4kestu2n", "model") == "scripted:x"

    if version >= 2:
        asked = [(request.id, request.expired) for request in store.requests("ct7ffgrm3p")]
        assert asked == [("rq_2", True), ("rq_3", False)]
        assert store.settled("rq_1") == Settled("rq_1", "refused", "busy")
        assert store.states(["ct7ffgrm3p"])["ct7ffgrm3p"].state == "waiting"

    newest = list(store.read("ct7ffgrm3p"))[-1]
    store.append("ct7ffgrm3p", some_rows(2, after=newest), sync=True)
    store.close()
    assert version_of(database) == LATEST
    copies = [name for name in content(tmp_path) if re.search(rf"\bv{version}\b", name)]
    assert bool(copies) is (version < LATEST)


def test_names_that_earlier_versions_kept_for_ever_are_names(tmp_path):
    connection = sqlite3.connect(restored(DUMPS[1], tmp_path))
    for scope in ("named", "created", "called", "host"):
        connection.execute("INSERT INTO settings VALUES (?, 'a', 'b')", (scope,))
    connection.commit()
    connection.close()
    store = SqliteStore(tmp_path)
    store.claim("new", "first")  # older ones are let go now; these count as given today
    for scope in ("named", "created", "called"):
        assert store.claimed(f"{scope} a") == "b"
        assert store.setting(scope, "a") is None
    assert store.setting("host", "a") == "b"
    store.close()


def test_an_empty_file_becomes_a_database(tmp_path):
    (tmp_path / "steersman.db").touch()
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread())
    assert everything(store) == [(a_thread(), [])]
    store.close()
    assert version_of(tmp_path / "steersman.db") == LATEST


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_a_database_of_a_newer_version_is_read_and_nothing_is_changed(tmp_path, journal):
    database = tmp_path / "steersman.db"
    restored(DUMPS[-1], tmp_path)
    connection = sqlite3.connect(database)
    connection.execute(f"PRAGMA journal_mode={journal}")
    connection.execute(f"PRAGMA user_version={LATEST + 1}")
    connection.close()
    before = content(tmp_path)
    store = SqliteStore(tmp_path)
    assert everything(store)
    with pytest.raises(StorageProblem, match="newer Steersman"):
        store.remember("a", "b", "c")
    with pytest.raises(StorageProblem, match="newer Steersman"):
        store.create_thread(a_thread())
    store.close()
    assert content(tmp_path) == before


def test_processes_that_begin_with_nothing_at_the_same_time_all_succeed(tmp_path):
    names = ["one", "two", "three", "four"]
    finish([start(f"sqlite:{tmp_path}/", "begin", name, "20") for name in names])
    for number in range(20):
        store = SqliteStore(tmp_path / str(number))
        assert [store.setting("elsewhere", name) for name in names] == ["here"] * 4
        store.close()


def test_processes_that_open_an_old_database_at_the_same_time_all_succeed(tmp_path):
    for number in range(6):
        (tmp_path / str(number)).mkdir()
        restored(DUMPS[0], tmp_path / str(number))
    names = ["one", "two", "three", "four"]
    finish([start(f"sqlite:{tmp_path}/", "begin", name, "6") for name in names])
    for number in range(6):
        store = SqliteStore(tmp_path / str(number))
        assert [store.setting("elsewhere", name) for name in names] == ["here"] * 4
        assert len(store.threads()) == 3
        store.close()
