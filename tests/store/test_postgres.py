"""What is special about a store on a server: it goes away, refuses, and its answers get lost."""

import asyncio
import threading
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from steersman.records.errors import Exit, StorageProblem, UsageProblem
from steersman.records.inbox import Settled
from steersman.records.thread import Activity
from steersman.store import open_store
from steersman.store.chain import flaws
from steersman.store.migrations import LATEST, statements
from steersman.store.postgres import PostgresStore
from steersman.store.postgres_problems import masked, plain
from steersman.store.sqlite import SqliteStore
from tests.postgres import database
from tests.store.contract import everything
from tests.store.cutting import a_wire
from tests.store.made import a_thread, some_rows
from tests.store.meeting import asking
from tests.store.meeting_news import anything, heard
from tests.store.positions import passed


@pytest.fixture
def home(tmp_path):
    """A data folder."""
    return tmp_path / "data"


@pytest.fixture
def store(postgres_url, home):
    """A store with a thread."""
    with_thread = PostgresStore(postgres_url, home)
    with_thread.create_thread(a_thread("abc"))
    yield with_thread
    with_thread.close()


def elsewhere(url, **parts):
    """The same URL with other parts."""
    return urlunsplit(urlsplit(url)._replace(**parts))


def cut_all(url):
    """End every other connection to a database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_connections_that_were_cut_are_opened_again(store, postgres_url):
    lease = store.lease("abc")
    rows = some_rows(6)
    for row in rows:
        cut_all(postgres_url)
        store.append("abc", [row], sync=True, lease=lease)
        cut_all(postgres_url)
        assert next(iter(store.read_back("abc"))) == row
    assert list(flaws(store.thread("abc"), store.read_raw("abc"))) == []


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_server_that_comes_back_is_waited_for(own_server, home, end):
    with database(own_server.url) as url:
        store = PostgresStore(url, home)
        store.create_thread(a_thread("abc"))
        lease = store.lease("abc")
        rows = some_rows(3)
        store.append("abc", rows[:1], sync=True, lease=lease)

        async def listen():
            async with store.news() as news:
                await asyncio.to_thread(getattr(own_server, end))
                writing = asyncio.create_task(
                    asyncio.to_thread(store.append, "abc", rows[1:], sync=True, lease=lease)
                )
                await asyncio.sleep(0.3)
                assert not writing.done()
                await asyncio.to_thread(own_server.start)
                await writing
                await anything(news)
                other = await asyncio.to_thread(PostgresStore, url, home)
                await asyncio.to_thread(other.post, asking("rq_1"))
                await heard(news, "abc")
                other.close()

        asyncio.run(listen())
        assert list(store.read("abc")) == rows
        store.close()


def test_a_server_that_does_not_come_back_is_a_sentence_and_nothing_is_half(own_server, home):
    with database(own_server.url) as url:
        store = PostgresStore(url, home, patience=0.3)
        store.create_thread(a_thread("abc"))
        own_server.stop()
        try:
            with pytest.raises(StorageProblem, match="did not come back") as caught:
                store.append("abc", some_rows(2), sync=True)
            assert "steer resume" in caught.value.try_this
            store.show("abc", b"dropped")
        finally:
            own_server.start()
        assert list(store.read("abc")) == []
        store.append("abc", some_rows(2), sync=True)
        assert list(store.read("abc")) == some_rows(2)
        store.close()


@pytest.mark.parametrize("before", [True, False], ids=["not done", "done, answer lost"])
@pytest.mark.parametrize("word", [b"COMMIT", b"BEGIN", b"UPDATE threads"])
def test_a_connection_cut_in_a_transaction_leaves_it_done_once(
    store, postgres_url, home, word, before
):
    with a_wire(postgres_url) as wire:
        cut = PostgresStore(wire.url, home)
        lease = cut.lease("abc")
        store.post(asking("rq_1"))
        store.post(asking("rq_2"))
        rows = some_rows(4)
        wire.arm(word, before=before)
        cut.append(
            "abc", rows[:2], sync=True, lease=lease, activity=Activity(turn=1),
            settled=[Settled("rq_1", "taken", result={"a": 1})],
        )  # fmt: skip
        assert wire.cuts == 1
        wire.arm(word, before=before)
        cut.append("abc", [], sync=True, lease=lease, settled=[Settled("rq_2", "taken")])
        assert wire.cuts == 2
        cut.append("abc", rows[2:], sync=True, lease=lease)
        cut.close()
    assert list(store.read("abc")) == rows
    assert store.settled("rq_1") == Settled("rq_1", "taken", result={"a": 1})
    assert store.settled("rq_2") == Settled("rq_2", "taken")
    assert store.states(["abc"])["abc"].activity == Activity(turn=1)


@pytest.mark.parametrize(
    ("deed", "result"),
    [
        (lambda cut: cut.create_thread(a_thread("new")), lambda s: s.thread("new").id == "new"),
        (lambda cut: cut.post(asking("rq_1")), lambda s: len(s.requests("abc")) == 1),
        (lambda cut: cut.remember("a", "b", "c"), lambda s: s.setting("a", "b") == "c"),
        (lambda cut: cut.lease("abc"), lambda s: s.states(["abc"])["abc"].owner is not None),
        (lambda cut: cut.delete_thread("abc"), lambda s: s.thread("abc") is None),
        (lambda cut: cut.put_blob(b"kept"), lambda s: len(s.digests()) == 1),
    ],
    ids=["create", "post", "remember", "lease", "delete", "blob"],
)
def test_every_deed_whose_answer_was_lost_is_done_once(store, postgres_url, home, deed, result):
    with a_wire(postgres_url) as wire:
        cut = PostgresStore(wire.url, home)
        wire.arm(b"COMMIT", before=False)
        deed(cut)
        assert wire.cuts == 1
        assert result(store)
        cut.close()


def test_many_processes_begin_on_an_empty_database_at_once(postgres_url, tmp_path):
    problems = []

    def begin(number):
        try:
            PostgresStore(postgres_url, tmp_path / str(number)).close()
        except StorageProblem as problem:
            problems.append(problem)

    workers = [threading.Thread(target=begin, args=(number,)) for number in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [str(problem) for problem in problems] == []


# What is wrong is said in sentences


@pytest.mark.parametrize(
    "url", ["postgresql://[::1/x", "postgresql://h:port/x", "postgresql://h/x?nonsense=1"]
)
def test_a_malformed_url_is_a_mistake_of_its_writer(home, url):
    with pytest.raises(UsageProblem, match="malformed") as caught:
        open_store(url, home, {})
    assert caught.value.exit is Exit.USAGE


@pytest.mark.parametrize("url", ["mysql://h/x", "steersman.db", "http://x:secret@h/", "postgresql"])
def test_a_url_of_something_else_names_the_forms(home, url):
    with pytest.raises(UsageProblem, match="does not support the store's URL") as caught:
        open_store(url, home, {})
    assert "postgresql://" in caught.value.try_this
    assert "secret" not in str(caught.value)


def test_without_a_url_the_store_is_in_the_data_folder(home):
    store = open_store("", home, {})
    assert isinstance(store, SqliteStore)
    store.close()
    assert (home / "steersman.db").is_file()


def test_a_server_that_is_not_there(home):
    with pytest.raises(StorageProblem, match="cannot be reached") as caught:
        open_store("postgresql://me:s3cret@127.0.0.1:1/x", home, {})
    assert "pg_isready" in caught.value.try_this
    assert "s3cret" not in str(caught.value)


def test_a_wrong_password(postgres_url, home):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE locked_out LOGIN PASSWORD 'right'")
    try:
        place = urlsplit(postgres_url)
        url = elsewhere(postgres_url, netloc=f"locked_out:wr0ng@{place.hostname}:{place.port}")
        with pytest.raises(StorageProblem, match="refuses this user") as caught:
            open_store(url, home, {})
        assert "wr0ng" not in str(caught.value)
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP ROLE locked_out")


def test_an_unknown_user(postgres_url, home):
    place = urlsplit(postgres_url)
    url = elsewhere(postgres_url, netloc=f"nobody_knows@{place.hostname}:{place.port}")
    with pytest.raises(StorageProblem, match="refuses this user"):
        open_store(url, home, {})


def test_a_database_that_is_not_there(postgres_url, home):
    with pytest.raises(StorageProblem, match="no such database") as caught:
        open_store(elsewhere(postgres_url, path="/missing_one"), home, {})
    assert "createdb missing_one" in caught.value.try_this


def test_a_user_without_rights(postgres_url, home):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE powerless LOGIN")
    try:
        place = urlsplit(postgres_url)
        url = elsewhere(postgres_url, netloc=f"powerless@{place.hostname}:{place.port}")
        with pytest.raises(StorageProblem, match="may not do") as caught:
            open_store(url, home, {})
        assert "GRANT CREATE ON DATABASE" in caught.value.try_this
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP ROLE powerless")


def test_a_database_of_a_newer_version_is_read_and_nothing_is_changed(store, postgres_url, home):
    store.create_thread(a_thread())
    before = everything(store)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("UPDATE steersman.schema_version SET version = %s", (LATEST + 1,))
    newer = open_store(postgres_url, home, {})
    try:
        assert everything(newer) == before
        with pytest.raises(StorageProblem, match="newer Steersman"):
            newer.remember("a", "b", "c")
    finally:
        newer.close()
    assert everything(store) == before


def test_what_could_not_be_brought_up_to_date_is_read_again_after_the_server_was_gone(
    store, postgres_url, home
):
    """The present shape is made for one connection; another one makes it again."""
    store.create_thread(a_thread())
    before = everything(store)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("UPDATE steersman.schema_version SET version = 1")  # it is not so
        old = open_store(postgres_url, home, {})
        try:
            assert "bringing it up to date failed" in str(old.unwritable)
            assert everything(old) == before
            others = "pid <> pg_backend_pid() AND datname = current_database()"
            connection.execute(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
            )
            assert everything(old) == before
        finally:
            old.close()


def test_a_position_that_is_given_waits_for_those_given_before(store, postgres_url, home):
    """Transactions end in another order than they began; readers see one order all the same."""
    store.create_thread(a_thread("xyz"))
    store.post(asking("rq_1"))
    slow = PostgresStore(postgres_url, home)
    with psycopg.connect(postgres_url) as holding:
        holding.execute("SELECT 1 FROM steersman.requests FOR UPDATE")
        done = [Settled("rq_1", "done")]
        appending = threading.Thread(
            target=lambda: slow.append("abc", some_rows(2), sync=True, settled=done)
        )
        appending.start()
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        with psycopg.connect(postgres_url, autocommit=True) as looking:
            while looking.execute(waits).fetchone() != (1,):
                pass
        # The slow one has its positions; this one gets later ones, and is finished before.
        store.append("xyz", some_rows(1), sync=True)
        page = store.positions(0, 100)
        assert (page.messages, page.more) == ([], True)
        holding.rollback()
    appending.join()
    slow.close()
    assert [(one.thread, one.row.seq) for one in passed(store)] == [
        ("abc", 1), ("abc", 2), ("xyz", 1),
    ]  # fmt: skip
    assert not store.positions(0, 100).more


def test_what_was_given_back_leaves_no_hole_that_is_waited_for(store):
    with pytest.raises(StorageProblem):
        store.append("abc", some_rows(1), sync=True, settled=[Settled("never asked", "done")])
    store.append("abc", some_rows(1), sync=True)
    assert [one.row.seq for one in passed(store)] == [1]
    assert not store.positions(0, 100).more


def test_messages_of_an_earlier_version_get_positions_in_the_order_of_their_threads(
    store, postgres_url, home
):
    rows = some_rows(4)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA steersman CASCADE")
        connection.execute("CREATE SCHEMA steersman")
        connection.execute("SET search_path TO steersman")
        connection.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        connection.execute("INSERT INTO schema_version VALUES (2)")
        for step in (1, 2):
            for statement in statements("postgres", step):
                connection.execute(statement)
        for name, order in (("late", (3, 1, 2, 0)), ("early", (1, 0, 3, 2))):
            connection.execute(
                "INSERT INTO threads VALUES (%s, '', '', 'run', NULL, NULL, '', '', 4, '')", (name,)
            )
            for seq in order:
                row = rows[seq]
                # A clock may have been set back.
                time = f"{9 if name == 'late' else 3 - row.seq // 2}"
                connection.execute(
                    "INSERT INTO messages VALUES (%s, %s, %s, 1, 'user', '', NULL, %s, %s)",
                    (name, row.seq, time, row.body, row.hash),
                )
    again = PostgresStore(postgres_url, home)
    try:
        assert [(one.thread, one.row.seq) for one in passed(again)] == [
            (name, seq) for name in ("early", "late") for seq in (1, 2, 3, 4)
        ]
        last = passed(again)[-1]
        again.append("early", some_rows(1, after=rows[-1]), sync=True)
        assert [one.row.seq for one in passed(again, last.position)] == [5]
    finally:
        again.close()


def test_a_server_that_is_too_old(postgres_url, home, monkeypatch):
    monkeypatch.setattr("steersman.store.postgres_line.LEAST_SERVER", 990_000)
    with pytest.raises(StorageProblem, match="too old") as caught:
        open_store(postgres_url, home, {})
    assert "version 99 or newer" in caught.value.why


def test_a_read_only_server(postgres_url, home):
    with pytest.raises(StorageProblem, match="read-only"):
        open_store(f"{postgres_url}?options=-cdefault_transaction_read_only%3Don", home, {})


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:s3cret@h:5/db", "postgresql://me:****@h:5/db"),
        ("postgresql://me:s3@cret@h/db", "postgresql://me:****@h/db"),
        ("postgresql://me@h/db", "postgresql://me@h/db"),
        ("postgresql://h/db?user=me&password=s3cret", "postgresql://h/db?user=me&password=****"),
        ("postgresql://h/db", "postgresql://h/db"),
    ],
)
def test_no_password_is_shown(url, shown):
    assert masked(url) == shown
    assert "s3cret" not in plain("postgresql://me:s3cret@h/db", "bad “s3cret”\npassword=s3cret x")
