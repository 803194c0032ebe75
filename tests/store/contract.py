"""What every store promises, as tests; a kind of store inherits them and says where it is.

Threads, messages, blobs and settings, from one process and from several.
"""

import threading
from collections.abc import Iterator
from hashlib import sha256
from itertools import product

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steersman.records.errors import StorageProblem, UsageProblem
from steersman.store.chain import flaws
from steersman.store.contract import Row, Store, find_thread, stamp
from tests.store.elsewhere import PATIENCE, finish, open_store, start
from tests.store.made import START, a_thread, chained, raw, some_rows

MANY = 4321
replace = msgspec.structs.replace
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def everything(store: Store) -> list[object]:
    """All that a store holds about threads and messages."""
    return [(thread, list(store.read(thread.id))) for thread in store.threads()]


def newest_that_fit(rows: list[Row], room: int) -> list[tuple[str, str, str | None, bytes]]:
    """What is recalled of some messages: the newest whose bodies have room, oldest first."""
    kept: list[tuple[str, str, str | None, bytes]] = []
    for row in reversed(rows):
        room -= len(row.body)
        if room < 0:
            break
        kept.append((row.kind, row.path, row.corr, row.body))
    return kept[::-1]


class StoreContract:
    """Inherit this and define the fixture `url`."""

    @pytest.fixture
    def url(self) -> str:
        """Where an empty store is."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        """An empty store."""
        store = open_store(url)
        yield store
        store.close()

    @pytest.fixture
    def long(self, store: Store) -> list[Row]:
        """The rows of a thread that takes several pages."""
        rows = some_rows(MANY)
        store.create_thread(a_thread())
        store.append(a_thread().id, rows, sync=False)
        return rows

    # Threads

    def test_an_unknown_thread_is_none(self, store):
        assert store.thread("k3n5p7q9rs") is None
        assert list(store.read("k3n5p7q9rs")) == []
        assert list(store.read_back("k3n5p7q9rs")) == []
        assert list(store.read_raw("k3n5p7q9rs")) == []

    def test_a_new_thread_is_empty_and_keeps_what_it_was_given(self, store):
        given = a_thread(title="“Fix” 'it'; --", parent="aaaa", parent_seq=7)
        store.create_thread(replace(given, head=99, head_hash=b"not yet"))
        assert store.thread(given.id) == given
        assert list(store.read(given.id)) == []

    def test_an_id_is_given_only_once(self, store):
        store.create_thread(a_thread(title="first"))
        with pytest.raises(StorageProblem):
            store.create_thread(a_thread(title="second"))
        assert store.threads() == [a_thread(title="first")]

    def test_threads_come_the_most_recently_used_first(self, store):
        for minutes, name in enumerate(("old", "new", "newest")):
            store.create_thread(a_thread(name, minutes=minutes, workspace=f"/srv/{name[:3]}"))
        assert [thread.id for thread in store.threads()] == ["newest", "new", "old"]
        store.append("old", some_rows(1, minutes=9), sync=False)
        assert [thread.id for thread in store.threads()] == ["old", "newest", "new"]
        assert [thread.id for thread in store.threads(limit=2)] == ["old", "newest"]
        assert [t.id for t in store.threads(workspace="/srv/new")] == ["newest", "new"]
        assert [t.id for t in store.threads(workspace="/srv/new", limit=1)] == ["newest"]
        assert store.threads(workspace="/srv") == []

    def test_a_limit_of_none_gives_all_and_of_zero_gives_nothing(self, store):
        store.create_thread(a_thread())
        assert store.threads(limit=None) == [a_thread()]
        assert store.threads(limit=0) == []

    @pytest.mark.parametrize(
        ("prefix", "ids"),
        [
            ("ab", {"abc", "abd"}),
            ("abc", {"abc"}),
            ("b", set()),
            ("%", {"%d"}),
            ("_", set()),
            ("abcd", set()),
            ("A", set()),
        ],
    )
    def test_a_prefix_is_taken_literally(self, store, prefix, ids):
        for name in ("abc", "abd", "%d", "xab"):
            store.create_thread(a_thread(name))
        assert {thread.id for thread in store.matching(prefix)} == ids

    def test_a_short_prefix_gives_a_handful(self, store):
        for number in range(30):
            store.create_thread(a_thread(f"a{number}"))
        assert 2 <= len(store.matching("a")) <= 10

    def test_a_thread_is_found_by_its_id_or_an_unambiguous_beginning(self, store):
        for name in ("abc", "abcd", "xyz"):
            store.create_thread(a_thread(name))
        assert find_thread(store, "abc").id == "abc"
        assert find_thread(store, "x").id == "xyz"
        for wanted, says in (("ab", "several"), ("q", "no thread"), ("", "no thread")):
            with pytest.raises(UsageProblem, match=says):
                find_thread(store, wanted)

    def test_describing_changes_only_what_is_given(self, store):
        store.create_thread(a_thread())
        store.create_thread(a_thread("other"))
        store.describe(a_thread().id, title="Better", workspace=None)
        assert store.thread(a_thread().id) == a_thread(title="Better")
        store.describe(a_thread().id, title=None, workspace="/srv/moved")
        assert store.thread(a_thread().id) == a_thread(title="Better", workspace="/srv/moved")
        assert store.thread("other") == a_thread("other")

    def test_deleting_removes_that_thread_and_nothing_else(self, store):
        for name in ("abc", "abcd"):
            store.create_thread(a_thread(name))
            store.append(name, some_rows(3), sync=False)
        kept = (store.thread("abcd"), list(store.read("abcd")))
        store.delete_thread("ab")  # the beginning of an id is not an id
        assert len(store.threads()) == 2
        store.delete_thread("abc")
        assert everything(store) == [kept]
        assert list(store.read_raw("abc")) == []
        store.create_thread(a_thread("abc"))
        assert list(store.read("abc")) == []

    # Appending

    def test_what_was_appended_is_there_and_the_head_moves(self, store):
        store.create_thread(a_thread())
        first = some_rows(2)
        second = some_rows(3, after=first[-1])
        store.append(a_thread().id, first, sync=False)
        store.append(a_thread().id, second, sync=True)
        store.append(a_thread().id, [], sync=True)
        assert list(store.read(a_thread().id)) == first + second
        thread = store.thread(a_thread().id)
        assert (thread.head, thread.head_hash) == (5, second[-1].hash)
        assert list(flaws(thread, store.read_raw(thread.id))) == []

    @pytest.mark.parametrize(
        "seqs",
        [[1], [2], [2, 3], [5], [0], [-1], [3, 5], [3, 3], [3, 4, 4], [3, 2], [4, 3]],
        ids=str,
    )
    def test_an_append_that_does_not_follow_the_head_densely_is_refused(self, store, seqs):
        store.create_thread(a_thread())
        store.append(a_thread().id, some_rows(2), sync=False)
        before = everything(store)
        made = some_rows(1)[0]
        rows = list(chained([replace(made, seq=seq) for seq in seqs]))
        with pytest.raises(StorageProblem):
            store.append(a_thread().id, rows, sync=True)
        assert everything(store) == before

    def test_an_append_to_a_thread_that_is_not_there_is_refused(self, store):
        with pytest.raises(StorageProblem):
            store.append("nowhere", some_rows(2), sync=False)
        assert everything(store) == []
        assert list(store.read("nowhere")) == []

    def test_after_a_refused_append_the_right_one_works(self, store):
        store.create_thread(a_thread())
        rows = some_rows(3)
        with pytest.raises(StorageProblem):
            store.append(a_thread().id, rows[1:], sync=True)
        store.append(a_thread().id, rows, sync=True)
        assert list(store.read(a_thread().id)) == rows

    @given(kind=words, path=words, corr=st.none() | words, body=st.binary())
    @settings(max_examples=30, suppress_health_check=list(HealthCheck))
    def test_every_text_and_every_byte_comes_back_as_it_was(self, store, kind, path, corr, body):
        name = f"t{len(store.threads())}"
        store.create_thread(a_thread(name))
        (row,) = chained([Row(1, stamp(START), 2**40, kind, path, corr, body, b"")])
        store.append(name, [row], sync=False)
        assert list(store.read(name)) == [row]
        assert list(store.read_raw(name)) == [raw(row)]

    # Reading

    def test_reading_gives_just_the_messages_between(self, store, long):
        afters = (-5, 0, 1, 1999, 2000, 4000, MANY - 1, MANY, MANY + 1)
        for after, until in product(afters, (None, 0, 1, 2000, 2001, MANY, MANY + 1)):
            end = MANY if until is None else until
            expected = [row for row in long if after < row.seq <= end]
            found = list(store.read(a_thread().id, after=after, until=until))
            assert found == expected, (after, until)

    def test_reading_by_kind_gives_just_those_kinds(self, store, long):
        choices = ([], ["steer"], ["steer", "steer"], ["user"], ["user", "steer"], ["nope"])
        for kinds, after, until in product(choices, (0, 2000), (None, 4001)):
            end = MANY if until is None else until
            expected = [row for row in long if row.kind in kinds and after < row.seq <= end]
            found = store.read(a_thread().id, after=after, until=until, kinds=set(kinds))
            assert list(found) == expected, (kinds, after, until)

    def test_recalling_gives_the_newest_of_some_kinds_that_fit_oldest_first(self, store, long):
        choices = ({"user"}, {"user", "steer", "assistant"}, {"nope"}, set())
        for kinds, room in product(choices, (0, 1, 18, 19, 500, 10**9)):
            expected = newest_that_fit([row for row in long if row.kind in kinds], room)
            assert store.recall(a_thread().id, kinds, room) == expected, (kinds, room)
        assert store.recall("nowhere", {"user"}, 10**9) == []

    def test_reading_back_gives_the_newest_first(self, store, long):
        assert list(store.read_back(a_thread().id)) == long[::-1]
        assert next(iter(store.read_back(a_thread().id))) == long[-1]

    def test_reading_raw_gives_the_bytes_of_every_message(self, store, long):
        assert list(store.read_raw(a_thread().id)) == [raw(row) for row in long]

    def test_reading_stays_in_its_thread(self, store, long):
        store.create_thread(a_thread("other"))
        rows = some_rows(5)
        store.append("other", rows, sync=False)
        assert list(store.read("other")) == rows
        assert list(store.read_back("other")) == rows[::-1]

    def test_a_reader_goes_on_while_the_thread_grows_or_goes_away(self, store, long):
        reading = store.read(a_thread().id)
        seen = [next(reading) for _ in range(10)]
        more = some_rows(5, after=long[-1])
        store.append(a_thread().id, more, sync=False)
        assert seen + list(reading) == long + more
        reading = store.read(a_thread().id)
        next(reading)
        store.delete_thread(a_thread().id)
        assert len(list(reading)) < MANY

    # Blobs and settings

    @pytest.mark.parametrize("data", [b"", b"\0\xff\r\n", b"x" * 300_000], ids=len)
    def test_a_blob_is_found_by_its_digest_however_often_it_is_kept(self, store, data):
        digest = store.put_blob(data)
        assert digest == store.put_blob(data) == sha256(data).hexdigest()
        assert store.blob(digest) == data
        assert store.blob("0" * 64) is None

    def test_settings_are_kept_by_scope_and_forgotten_on_request(self, store):
        assert store.setting("a", "model") is None
        store.remember("a", "model", "one")
        store.remember("a", "model", "two")
        store.remember("b", "model", "")
        assert (store.setting("a", "model"), store.setting("b", "model")) == ("two", "")
        store.remember("a", "model", None)
        store.remember("a", "unknown", None)
        assert (store.setting("a", "model"), store.setting("b", "model")) == (None, "")

    # Lasting, and being used from several places

    def test_everything_is_there_when_the_store_is_opened_again(self, store, url, long):
        digest = store.put_blob(b"kept")
        store.remember("scope", "name", "value")
        before = everything(store)
        store.close()
        again = open_store(url)
        assert everything(again) == before
        assert again.blob(digest) == b"kept"
        assert again.setting("scope", "name") == "value"
        again.close()

    def test_threads_of_the_program_may_use_it_at_the_same_time(self, store):
        def work(name: str) -> None:
            store.create_thread(a_thread(name))
            for row in rows:
                store.append(name, [row], sync=False)
                assert list(store.read(name, after=row.seq - 1)) == [row]

        rows = some_rows(40)
        names = ("one", "two", "three", "four")
        workers = [threading.Thread(target=work, args=(name,)) for name in names]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(PATIENCE)
        assert {name: list(store.read(name)) for name in names} == dict.fromkeys(names, rows)

    def test_processes_that_write_different_threads_lose_nothing(self, store, url):
        names = [f"p{number}" for number in range(4)]
        finish([start(url, "write", name, "150") for name in names])
        for name in names:
            assert list(store.read(name)) == some_rows(150)
            assert list(flaws(store.thread(name), store.read_raw(name))) == []
