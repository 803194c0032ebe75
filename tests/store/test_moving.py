"""Everything moves from one store into another, byte by byte, whichever kinds they are."""

from pathlib import Path

import pytest

from steersman.records.errors import LeaseLost
from steersman.records.inbox import Settled
from steersman.records.thread import Activity
from steersman.store.chain import flaws
from steersman.store.contract import StoreStatus
from steersman.store.migrations import LATEST
from steersman.store.moving import Copied, copy, status
from steersman.store.postgres import PostgresStore
from steersman.store.sqlite import SqliteStore
from tests.store.contract import everything
from tests.store.made import a_thread, some_rows
from tests.store.meeting import asking

BUSY = Activity(turn=2, queued=("in_1",))


@pytest.fixture
def source(tmp_path: Path):
    """A store with a bit of everything."""
    store = SqliteStore(tmp_path / "source")
    store.create_thread(a_thread("empty"))
    store.create_thread(a_thread("long", title="Län“g”", parent="empty", parent_seq=3))
    store.append("long", some_rows(1234), sync=False, activity=BUSY)
    store.create_thread(a_thread("short", minutes=5))
    store.append("short", some_rows(2), sync=False)
    for number in range(130):
        store.post(asking(f"rq_{number}", "short"))
    store.append("short", [], sync=False, settled=[Settled("rq_0", "taken")])
    store.expire("rq_1")
    store.put_blob(b"blob")
    store.remember("thread:long", "model", "x")
    yield store
    store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def target(request, tmp_path: Path):
    """An empty store of either kind."""
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "target")
    else:
        url = request.getfixturevalue("postgres_url")
        store = PostgresStore(url, tmp_path / "target")
    yield store
    store.close()


def test_all_of_a_store_is_copied_and_verifies(source, target):
    before = everything(source)
    steps = []
    done = copy(source, target, lambda thread, number, count: steps.append((number, count)))
    assert done == Copied(threads=3, messages=1236, blobs=1, settings=1, requests=128)
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert everything(target) == everything(source) == before
    for thread in target.threads():
        assert list(flaws(thread, target.read_raw(thread.id))) == []
    assert list(target.waiting()) == list(source.waiting())
    assert target.states(["long"]) == source.states(["long"])
    assert target.setting("thread:long", "model") == "x"


def test_copying_back_gives_the_same(source, target, tmp_path):
    copy(source, target)
    back = SqliteStore(tmp_path / "back")
    copy(target, back)
    assert everything(back) == everything(source)
    back.close()


def test_a_copy_goes_on_where_it_ended(source, target):
    copy(source, target)
    newest = next(iter(source.read_back("short")))
    source.append("short", some_rows(3, after=newest), sync=False)
    assert copy(source, target).messages == 3
    assert copy(source, target).messages == 0
    assert everything(target) == everything(source)


def test_a_thread_that_went_on_in_the_target_is_left_alone(source, target):
    copy(source, target)
    newest = next(iter(target.read_back("short")))
    target.append("short", some_rows(1, after=newest), sync=False)
    target.remember("thread:long", "model", "newer")
    assert copy(source, target).refused == ()
    assert target.thread("short").head == 3
    assert target.setting("thread:long", "model") == "newer"


def test_a_thread_that_differs_is_refused_and_the_others_are_copied(source, target):
    target.create_thread(a_thread("short"))
    target.append("short", some_rows(2, minutes=7), sync=False)
    before = list(target.read("short"))
    done = copy(source, target)
    [(thread_id, reason)] = done.refused
    assert (thread_id, done.threads) == ("short", 2)
    assert "with other messages" in reason
    assert list(target.read("short")) == before
    assert list(target.read("long")) == list(source.read("long"))


def test_a_thread_that_somebody_works_on_is_refused(source, target, tmp_path):
    owner = SqliteStore(tmp_path / "source")
    lease = owner.lease("long")
    done = copy(source, target)
    assert [thread_id for thread_id, _ in done.refused] == ["long"]
    assert "is open in a process" in done.refused[0][1]
    assert target.thread("long") is None
    owner.release(lease)
    owner.close()
    assert copy(source, target).refused == ()
    with pytest.raises(LeaseLost):
        source.append("long", [], sync=False, lease=lease, activity=BUSY)


def test_a_log_that_was_altered_is_not_passed_on_as_whole(source, target):
    source._write(lambda db: db.execute("UPDATE messages SET body = ? WHERE seq = 700", (b"x",)))
    [(thread_id, reason)] = copy(source, target).refused
    assert thread_id == "long"
    assert "message 700" in reason


def test_a_store_says_what_it_holds(source, target):
    copy(source, target)
    for store in (source, target):
        told = status(store)
        kind = "sqlite" if isinstance(store, SqliteStore) else "postgres"
        counted = StoreStatus(kind, store.where, told.engine, LATEST, 3, 1236, 128, told.size)
        assert told == counted
        assert told.size > 10_000
        assert told.engine.startswith({"sqlite": "SQLite 3.", "postgres": "PostgreSQL "}[kind])
