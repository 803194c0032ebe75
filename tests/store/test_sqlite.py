"""What is special about a store in a file on a disk."""

import os
import sqlite3
import subprocess

import pytest

from steersman.records.errors import StorageProblem
from steersman.store.sqlite import SqliteStore
from tests.store.contract import everything
from tests.store.elsewhere import PATIENCE, start
from tests.store.made import a_thread, some_rows


def test_nobody_else_may_look_into_the_data_folder(tmp_path):
    SqliteStore(tmp_path / "data").close()
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_a_full_disk_refuses_the_message_and_keeps_everything_before_it(tmp_path):
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread())
    first = some_rows(5)
    store.append(a_thread().id, first, sync=True)
    before = everything(store)
    # SQLite can be told how many pages there may be: to it that is a full disk.
    pages = store._file.connection.execute("PRAGMA page_count").fetchone()[0]
    store._file.connection.execute(f"PRAGMA max_page_count={pages}")
    more = some_rows(2000, after=first[-1])
    with pytest.raises(StorageProblem, match="no room left"):
        store.append(a_thread().id, more, sync=True)
    assert everything(store) == before
    store._file.connection.execute("PRAGMA max_page_count=1000000")
    store.append(a_thread().id, more, sync=True)
    assert list(store.read(a_thread().id)) == first + more


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 3\0" + bytes(4096)])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, content):
    (tmp_path / "steersman.db").write_bytes(content)
    with pytest.raises(StorageProblem, match="cannot be used"):
        SqliteStore(tmp_path)
    assert (tmp_path / "steersman.db").read_bytes() == content


@pytest.mark.parametrize("name", ["home", "home/deeper"])
def test_a_data_folder_that_is_a_file_is_refused(tmp_path, name):
    (tmp_path / "home").write_text("a file")
    with pytest.raises(StorageProblem, match="cannot be used"):
        SqliteStore(tmp_path / name)


def test_a_database_that_another_program_locks_is_never_taken_for_a_read_only_one(tmp_path):
    SqliteStore(tmp_path).close()
    holder = sqlite3.connect(tmp_path / "steersman.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    elsewhere = start(f"sqlite:{tmp_path}", "remember", "later")
    assert elsewhere.stdout.readline() == "ready\n"
    elsewhere.stdin.write("go\n")
    elsewhere.stdin.flush()
    with pytest.raises(subprocess.TimeoutExpired):
        elsewhere.wait(0.5)
    holder.execute("COMMIT")
    holder.close()
    assert elsewhere.communicate(timeout=PATIENCE) == ("", "")
    assert elsewhere.returncode == 0


def test_no_lock_leads_out_of_the_data_folder(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    store = SqliteStore(tmp_path / "data")
    for name in (str(victim), "../../victim", "..", ".", "", "a/b", "a\0b"):
        with pytest.raises(StorageProblem):
            store.lease(name)
    assert victim.read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == ["data", "victim"]
