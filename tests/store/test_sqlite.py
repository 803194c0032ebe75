"""What is special about a store in a file on a disk."""

import asyncio
import fcntl
import os
import socket
import sqlite3
import subprocess

import pytest

from steersman.records.errors import StorageProblem
from steersman.store.migrations import LATEST
from steersman.store.sqlite import SqliteStore
from steersman.store.sqlite_file import LOG_SIZE
from tests.store.contract import everything
from tests.store.elsewhere import PATIENCE, start
from tests.store.made import a_thread, some_rows
from tests.store.meeting import asking
from tests.store.meeting_news import anything, heard
from tests.world import kill


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


def modes(folder):
    """Who may do what with the files of a folder."""
    return {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir()}


def test_nobody_else_may_read_the_database_whatever_the_folder(tmp_path):
    tmp_path.chmod(0o755)
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread())
    own = {"steersman.db": "0o600", "steersman.db-wal": "0o600", "steersman.db-shm": "0o600"}
    assert modes(tmp_path) == {**own, "steersman.lock": "0o600"}
    store.close()
    (tmp_path / "steersman.db").chmod(0o644)
    store = SqliteStore(tmp_path)
    store.remember("a", "b", "c")
    assert modes(tmp_path) == {**own, "steersman.lock": "0o600"}
    store.close()


class Watched:
    """A connection or cursor that shows what it is told, before it does it."""

    def __init__(self, watched, seen):
        self._watched = watched
        self._seen = seen

    def execute(self, statement, *values):
        self._seen(statement)
        return self._watched.execute(statement, *values)

    def __getattr__(self, name):
        return getattr(self._watched, name)


def test_no_write_and_no_checkpoint_ever_overlap(tmp_path, monkeypatch):
    monkeypatch.setattr("steersman.store.sqlite_file.LOG_SIZE", 1)
    store = SqliteStore(tmp_path)
    assert store._file.connection.execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)
    store.create_thread(a_thread())
    statements = []

    def seen(statement):
        statements.append(statement)
        if statement.startswith(("BEGIN", "UPDATE", "COMMIT", "PRAGMA wal_checkpoint")):
            with open(tmp_path / "steersman.lock") as lock, pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)

    store._file.connection = Watched(store._file.connection, seen)
    store._file._cursor = Watched(store._file._cursor, seen)
    for row in some_rows(40):
        store.append(a_thread().id, [row], sync=False)
    for word in ("BEGIN", "COMMIT", "UPDATE", "PRAGMA wal_checkpoint"):
        assert sum(statement.startswith(word) for statement in statements) >= 2
    with open(tmp_path / "steersman.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    store.close()


def test_a_write_waits_while_another_process_writes_or_checkpoints(tmp_path):
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread())
    elsewhere = start(f"sqlite:{tmp_path}", "remember", "later")
    assert elsewhere.stdout.readline() == "ready\n"

    def let_go(db):
        elsewhere.stdin.write("go\n")
        elsewhere.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            elsewhere.wait(0.5)

    store._write(let_go)
    assert elsewhere.communicate(timeout=PATIENCE) == ("", "")
    assert store.setting("elsewhere", "later") == "here"
    store.close()


def test_the_write_ahead_log_does_not_grow_without_end(tmp_path):
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread())
    other = SqliteStore(tmp_path)
    sizes = []
    for number in range(400):
        (store, other)[number % 2].put_blob(number.to_bytes(4, "big") * 30_000)
        sizes.append((tmp_path / "steersman.db-wal").stat().st_size)
    assert max(sizes) < 3 * LOG_SIZE < (tmp_path / "steersman.db").stat().st_size
    reading = other._file.connection.execute("SELECT * FROM blobs")
    reading.fetchone()  # a reader in the way of a checkpoint delays it, and no more
    for number in range(100):
        store.put_blob(number.to_bytes(5, "big") * 30_000)
    reading.close()
    for number in range(100):
        store.put_blob(number.to_bytes(6, "big") * 30_000)
    assert (tmp_path / "steersman.db-wal").stat().st_size < 3 * LOG_SIZE
    store.close()
    other.close()


def test_a_closed_store_has_everything_in_the_database_and_keeps_its_log(tmp_path):
    """The log is written again from its beginning, in however many sessions."""
    home, log = tmp_path / "home", tmp_path / "home" / "steersman.db-wal"
    rows, kept = some_rows(400), []
    for number in range(8):
        store = SqliteStore(home)
        assert [row for row in kept if row not in store.read(a_thread().id)] == []
        if not kept:
            store.create_thread(a_thread())
        store.append(a_thread().id, rows[len(kept) : len(kept) + 50], sync=False)
        kept = rows[: len(kept) + 50]
        store.close()
        assert 0 < log.stat().st_size < LOG_SIZE
        alone = tmp_path / f"alone-{number}"
        alone.mkdir()
        (alone / "steersman.db").write_bytes((home / "steersman.db").read_bytes())
        copied = SqliteStore(alone)
        assert list(copied.read(a_thread().id)) == kept
        copied.close()
        if number == 0:
            first = log.stat().st_size
    assert log.stat().st_size < 2 * first


def test_whoever_only_reads_leaves_the_log_as_it_is(tmp_path):
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread())
    store.close()
    before = (tmp_path / "steersman.db-wal").read_bytes()
    store = SqliteStore(tmp_path)
    assert store.thread(a_thread().id) is not None
    store.close()
    assert (tmp_path / "steersman.db-wal").read_bytes() == before != b""


def test_a_log_that_has_grown_large_goes_with_the_last_who_closes(tmp_path, monkeypatch):
    monkeypatch.setattr("steersman.store.sqlite_file.LOG_SIZE", 1)
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread())
    store.close()
    assert not (tmp_path / "steersman.db-wal").exists()


def test_closing_does_not_take_back_what_a_newer_version_made_of_the_database(tmp_path):
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread())
    newer = sqlite3.connect(tmp_path / "steersman.db")
    newer.execute(f"PRAGMA user_version={LATEST + 1}")
    newer.close()
    store.close()
    after = sqlite3.connect(tmp_path / "steersman.db")
    assert after.execute("PRAGMA user_version").fetchone() == (LATEST + 1,)
    after.close()


def test_a_store_that_is_closed_while_others_use_it_takes_nothing_from_them(tmp_path):
    store, other = SqliteStore(tmp_path), SqliteStore(tmp_path)
    store.create_thread(a_thread())
    rows = some_rows(20)
    other.append(a_thread().id, rows[:10], sync=True)
    store.close()
    other.append(a_thread().id, rows[10:], sync=True)
    other.close()
    store = SqliteStore(tmp_path)
    assert list(store.read(a_thread().id)) == rows
    store.close()


def test_news_in_a_folder_with_a_very_long_path(tmp_path):
    home = tmp_path / ("long" * 40) / ("path" * 40)
    store, other = SqliteStore(home), SqliteStore(home)
    store.create_thread(a_thread("abc"))

    async def listen():
        async with store.news() as news:
            assert len(os.listdir(home / "news")) == 1
            other.post(asking("rq_1"))
            await heard(news, "abc")

    asyncio.run(listen())
    assert os.listdir(home / "news") == []
    assert (home / "news").stat().st_mode & 0o077 == 0
    store.close()
    other.close()


def test_news_where_there_can_be_no_socket(tmp_path):
    store, other = SqliteStore(tmp_path), SqliteStore(tmp_path)
    (tmp_path / "news").write_text("not a folder")

    async def listen():
        async with store.news() as news:
            other.remember("a", "b", "c")
            await anything(news)

    asyncio.run(listen())
    store.close()
    other.close()


def test_what_a_listener_that_was_killed_left_behind_is_removed(tmp_path):
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread("abc"))
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    (tmp_path / "news").mkdir()
    dead.bind(str(tmp_path / "news" / "dead-0"))
    dead.close()
    store.post(asking("rq_1"))
    assert os.listdir(tmp_path / "news") == []
    store.close()


def test_nonsense_sent_to_a_listener_is_ignored(tmp_path):
    store, other = SqliteStore(tmp_path), SqliteStore(tmp_path)
    store.create_thread(a_thread("abc"))

    async def listen():
        async with store.news() as news:
            [name] = os.listdir(tmp_path / "news")
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                for data in (b"", b"x", b"s\xff\xfe", b"l\xff", b"f", b"fabc"):
                    sender.sendto(data, str(tmp_path / "news" / name))
            other.post(asking("rq_1"))
            await heard(news, "abc")

    asyncio.run(listen())
    store.close()
    other.close()


def test_processes_that_died_leave_no_locks_behind(tmp_path):
    store = SqliteStore(tmp_path)
    for _ in range(3):
        elsewhere = start(f"sqlite:{tmp_path}", "own", "abc")
        assert elsewhere.stdout.readline() == "ready\n"
        kill(elsewhere)
    store.lease("abc")
    assert os.listdir(tmp_path / "locks") == [store.process.id]
    store.close()
    assert os.listdir(tmp_path / "locks") == []


def test_forgetting_blobs_leaves_no_log_that_has_grown(tmp_path):
    store = SqliteStore(tmp_path / "home")
    digest = store.put_blob(b"x" * 3_000_000)
    assert store.forget_blobs([digest]) == 3_000_000
    assert (tmp_path / "home" / "steersman.db-wal").stat().st_size == 0
    store.close()
