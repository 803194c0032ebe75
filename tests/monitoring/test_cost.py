"""What was spent: every request once, however it is grouped, over agents and forks."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from steersman.monitoring.cost import bills, requests, total
from steersman.records.bill import Bill
from steersman.records.message import UsageReport, encode_body
from steersman.store.chain import GENESIS, link_row
from steersman.store.contract import Row, stamp
from steersman.store.sqlite import SqliteStore
from tests.host.test_capsules import Tree
from tests.store.made import a_thread

START = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)
ROOT = "steersman/intelligence"
CHILD = "steersman/operations/scout/intelligence"


@pytest.fixture
def store(tmp_path):
    """An empty store."""
    store = SqliteStore(tmp_path)
    yield store
    store.close()


def usage(model="a:1", cost=0.5, **tokens):
    return UsageReport(model=model, cost=cost, **{"input": 100, "output": 10, **tokens})


def fill(store, name, *spent, minutes=0, **fields):
    """A thread with requests: (path, usage) each."""
    thread = a_thread(name, minutes=minutes, **fields)
    store.create_thread(thread)
    rows, previous = [], GENESIS
    for seq, (path, report) in enumerate(spent, start=1):
        time = stamp(START + timedelta(minutes=minutes, hours=seq))
        bare = Row(seq, time, 1, "usage", path, None, encode_body(report), b"")
        previous = link_row(previous, bare)
        rows.append(Row(seq, time, 1, "usage", path, None, bare.body, previous))
    store.append(name, rows, sync=False)
    return rows


def fork(store, name, rows, *, minutes):
    store.create_thread(a_thread(name, minutes=minutes, parent="parent", parent_seq=len(rows)))
    store.append(name, rows, sync=False)


def test_by_model_by_agent_by_day_and_by_thread(store):
    fill(store, "t1", (ROOT, usage()), (CHILD, usage("b:2", 0.25, cached=40, reasoning=3)))
    fill(store, "t2", (ROOT, usage(cost=1.0)), minutes=2)
    spent = list(requests(store, store.threads()))

    assert bills(spent, "model") == [
        Bill("a:1", requests=2, input=200, output=20, cost=1.5),
        Bill("b:2", requests=1, input=100, cached=40, output=10, reasoning=3, cost=0.25),
    ]
    assert [(bill.name, bill.cost) for bill in bills(spent, "agent")] == [
        ("steersman", 1.5),
        ("steersman/operations/scout", 0.25),
    ]
    assert [(bill.name, bill.cost) for bill in bills(spent, "thread")] == [
        ("t1", 0.75),
        ("t2", 1.0),
    ]
    assert [(b.name, b.requests) for b in bills(spent, "day", UTC)] == [
        ("2026-03-01", 2), ("2026-03-02", 1),
    ]  # fmt: skip
    assert total(bills(spent, "model")).cost == 1.75


def test_a_day_is_a_day_where_the_person_is(store):
    fill(store, "t1", (ROOT, usage()))
    spent = list(requests(store, store.threads()))

    east, west = timezone(timedelta(hours=9)), timezone(timedelta(hours=-8))
    assert bills(spent, "day", east)[0].name == "2026-03-02"
    assert bills(spent, "day", west)[0].name == "2026-03-01"


def test_what_a_fork_shares_was_paid_once_and_belongs_to_the_older_thread(store):
    rows = fill(store, "parent", (ROOT, usage(cost=1.0)), (ROOT, usage(cost=2.0)))
    fork(store, "copy", rows[:1], minutes=5)
    fork(store, "again", rows, minutes=6)

    spent = list(requests(store, store.threads()))

    assert [(bill.name, bill.cost) for bill in bills(spent, "thread")] == [("parent", 3.0)]
    alone = list(requests(store, [store.thread("copy")]))
    assert total(bills(alone, "model")).cost == 1.0, "asked about by itself it tells what it holds"


def test_a_fork_whose_parent_is_gone_is_all_there_is(store):
    rows = fill(store, "parent", (ROOT, usage(cost=1.0)))
    fork(store, "copy", rows, minutes=5)
    store.delete_thread("parent")

    assert total(bills(requests(store, store.threads()), "model")).cost == 1.0


def test_requests_without_a_price_are_counted(store):
    fill(store, "t1", (ROOT, usage(cost=0.0)), (ROOT, usage("x", 0.0, input=0, output=0)))

    assert total(bills(requests(store, store.threads()), "model")).unpriced == 1


reports = some.builds(
    UsageReport,
    model=some.sampled_from(["a:1", "b:2", "c:3"]),
    input=some.integers(0, 10**6),
    cached=some.integers(0, 10**6),
    output=some.integers(0, 10**6),
    reasoning=some.integers(0, 10**6),
    cost=some.integers(0, 2**20).map(lambda n: n / 1024),
)
threads = some.lists(some.tuples(some.sampled_from([ROOT, CHILD]), reports), max_size=8)


@settings(max_examples=25)
@given(some.lists(threads, max_size=4), some.data())
def test_every_total_equals_the_sum_of_the_requests(tmp_path_factory, all_spent, data):
    store = SqliteStore(tmp_path_factory.mktemp("store"))
    try:
        for number, spent in enumerate(all_spent):
            rows = fill(store, f"t{number}", *spent, minutes=number)
            shared = data.draw(some.integers(0, len(rows)))
            fork(store, f"f{number}", rows[:shared], minutes=100 + number)
        found = list(requests(store, store.threads()))
        reported = [report for spent in all_spent for _, report in spent]
        for by in ("thread", "day", "model", "agent"):
            whole = total(bills(found, by))
            assert whole.requests == len(reported)
            for field in ("input", "cached", "output", "reasoning", "cost"):
                assert getattr(whole, field) == sum(getattr(one, field) for one in reported)
    finally:
        store.close()


def test_one_number_for_a_whole_tree_of_agents(environ, workspace, script):
    tree = Tree(environ, workspace, script, [{"text": "ok", "usage": {"input": 70, "output": 7}}])
    asyncio.run(tree.turn())

    spent = list(requests(tree.host.store, tree.host.threads()))

    by_agent = bills(spent, "agent")
    assert [(bill.name, bill.requests) for bill in by_agent] == [
        ("chief", 2),
        ("chief/operations/mate", 2),
        ("chief/operations/mate/operations/hand", 1),
    ]
    reports = [m.body for m in tree.messages() if m.kind == "usage"]
    assert total(by_agent).output == sum(report.output for report in reports) > 7
    assert total(by_agent).input == 70
