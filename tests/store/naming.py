"""Names that stand for one thing each, as tests that every kind of store inherits."""

import msgspec

from steersman.records.clock import now
from steersman.records.inbox import Settled
from tests.store.elsewhere import finish, start
from tests.store.made import some_rows
from tests.store.meeting import asking

WEEK = 7 * 86_400


class NamesContract:
    """What is asked twice is done once."""

    def test_a_name_stands_for_what_had_it_first(self, store):
        assert store.claimed("a name") is None
        assert store.claim("a name", "first") == "first"
        assert store.claim("a name", "second") == "first"
        assert store.claim("another", "second") == "second"
        assert store.claimed("a name") == "first"

    def test_of_processes_that_claim_one_name_one_gets_it(self, store, url):
        said = finish([start(url, "claim", f"p{number}") for number in range(4)])
        assert len(set(said)) == 1
        assert store.claimed("elsewhere") == said[0]

    def test_a_process_that_takes_a_name_lets_old_ones_go(self, store, url, abc):
        store.claim("old", "first")
        store._write(lambda db: db.execute("UPDATE names SET given = given - ?", (WEEK + 60,)))
        store.claim("new", "first")
        recent = msgspec.structs.replace(asking("recent"), time=now())
        for one in (asking("old and settled"), asking("old and waits"), recent):
            store.post(one)
        settled = [Settled(name, "refused", "busy") for name in ("old and settled", "recent")]
        store.append("abc", some_rows(1), sync=True, settled=settled)

        finish([start(url, "claim", "newest")])
        assert [store.claimed(name) for name in ("old", "new", "elsewhere")] == [
            None, "first", "newest",
        ]  # fmt: skip
        assert store.settled("old and settled") is None
        assert store.settled("recent") == settled[1]
        assert [one.id for one in store.requests("abc")] == ["old and waits"]

    def test_a_process_that_asks_something_lets_old_names_go(self, store, url, abc):
        store.claim("old", "first")
        store._write(lambda db: db.execute("UPDATE names SET given = given - ?", (WEEK + 60,)))
        finish([start(url, "post", "abc", "asked")])
        assert store.claimed("old") is None
        assert [one.id for one in store.requests("abc")] == ["asked"]
