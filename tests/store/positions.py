"""One order over all threads, as tests that every kind of store inherits."""

from itertools import pairwise

import pytest

from steersman.store.contract import PlacedRow, Store
from tests.store.elsewhere import finish, start
from tests.store.made import a_thread, some_rows


def passed(store: Store, after: int = 0, limit: int = 100) -> list[PlacedRow]:
    """All messages after a position, page by page."""
    found: list[PlacedRow] = []
    while page := store.positions(found[-1].position if found else after, limit).messages:
        found += page
    return found


class PositionsContract:
    """Messages of all threads, each once, in one order."""

    @pytest.fixture
    def both(self, store):
        """Two threads that are written in turn."""
        rows = some_rows(6)
        for name in ("abc", "xyz"):
            store.create_thread(a_thread(name, workspace=f"/srv/{name}"))
        for first in (0, 2, 4):
            for name in ("xyz", "abc"):
                store.append(name, rows[first : first + 2], sync=False)
        return rows

    def test_messages_of_all_threads_come_in_the_order_in_which_they_were_stored(self, store, both):
        found = passed(store)
        assert [(one.thread, one.row.seq) for one in found] == [
            (name, first + n) for first in (1, 3, 5) for name in ("xyz", "abc") for n in (0, 1)
        ]
        assert all(one.row == both[one.row.seq - 1] for one in found)
        assert {one.workspace for one in found if one.thread == "abc"} == {"/srv/abc"}
        assert all(one.position < other.position for one, other in pairwise(found))

    def test_reading_goes_on_after_any_position_by_the_page(self, store, both):
        found = passed(store)
        for number, one in enumerate(found, 1):
            assert passed(store, one.position, limit=5) == found[number:]
        assert store.positions(found[-1].position + 1000, 5).messages == []

    def test_a_position_is_never_given_again(self, store, both):
        last = passed(store)[-1]
        store.delete_thread(last.thread)
        assert {one.thread for one in passed(store)} == {"xyz"}
        store.append("xyz", some_rows(1, after=both[-1]), sync=False)
        assert [one.row.seq for one in passed(store, last.position)] == [7]

    def test_positions_are_the_same_when_the_store_is_opened_again(self, store, url, both):
        found = passed(store)
        finish([start(url, "write", "else", "3")])
        assert passed(store)[: len(found)] == found
        assert [one.thread for one in passed(store, found[-1].position)] == ["else"] * 3

    def test_who_reads_while_processes_write_misses_nothing_and_sees_nothing_twice(
        self, store, url
    ):
        names = [f"p{number}" for number in range(4)]
        writers = [start(url, "write", name, "150") for name in names]
        for one in writers:
            assert one.stdout.readline() == "ready\n"
        for one in writers:
            one.stdin.write("go\n")
            one.stdin.flush()
        found = []
        while len(found) < 600:
            running = any(one.poll() is None for one in writers)
            page = store.positions(found[-1].position if found else 0, 100)
            found += page.messages
            assert page.messages or page.more or running, f"only {len(found)} are there"
        for one in writers:
            one.communicate(timeout=60)
        assert found == passed(store)
        for name in names:
            assert [one.row.seq for one in found if one.thread == name] == list(range(1, 151))
