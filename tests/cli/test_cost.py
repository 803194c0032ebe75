"""`steer cost`: the bill as a table and as JSON."""

import pytest

from steersman.records.message import UsageReport, encode_body
from steersman.store.chain import link_row
from steersman.store.contract import Row
from steersman.store.sqlite import SqliteStore
from tests.cli.kit import decoded


def spend(home, thread, *reports):
    """Add requests to a thread, as a session would have."""
    store = SqliteStore(home)
    try:
        found = store.thread(thread)
        rows, previous = [], found.head_hash
        for number, report in enumerate(reports, start=1):
            time = f"2026-03-0{number}T12:00:00.000+00:00"
            path = "steersman/intelligence" if number % 2 else "steersman/scout/intelligence"
            bare = Row(found.head + number, time, 1, "usage", path, None, encode_body(report), b"")
            previous = link_row(previous, bare)
            rows.append(Row(bare.seq, time, 1, "usage", path, None, bare.body, previous))
        store.append(thread, rows, sync=True)
    finally:
        store.close()


@pytest.fixture
def thread(steer, script, home):
    """A thread that paid for two models, by two agents, on two days."""
    model = script({"text": "Done.", "usage": {"input": 1000, "output": 20}})
    thread = steer.work("run", "--model", model, "a task").thread
    reports = (
        UsageReport(
            "openai:gpt-5", input=5000, cached=4000, output=300, reasoning=200, cost=0.0123
        ),
        UsageReport("ollama:qwen3", input=100, output=1, cost=0.0004),
    )
    spend(home, thread, *reports)
    return thread


def test_the_bill_by_model(steer, thread):
    done = steer("cost")

    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["model", "requests", "input", "cached", "output", "reasoning", "cost"]
    assert rows[2] == ["openai:gpt-5", "1", "5,000", "4,000", "300", "200", "$0.0123"]
    assert rows[4] == ["total", "3", "6,100", "4,000", "321", "200", "$0.0127"]
    assert rows[1][-1] == "–", "a scripted model has no price"
    assert "No price for 1 of 3 requests" in done.stdout


def test_the_bill_of_a_thread_by_agent_and_model(steer, thread):
    done = steer("cost", "--thread", thread[:6], "--json")

    found = decoded(done.stdout)
    assert [(one["agent"], one["requests"]) for one in found if "agent" in one] == [
        ("steersman", 2),
        ("steersman/scout", 1),
    ]
    for by in ("agent", "model"):
        assert sum(one["cost"] for one in found if by in one) == pytest.approx(0.0127)


def test_the_bill_by_day_and_by_thread(steer, thread):
    days = decoded(steer("cost", "--day", "--json").stdout)
    assert {one["day"]: one["cost"] for one in days if one["cost"]} == {
        "2026-03-01": 0.0123,
        "2026-03-02": 0.0004,
    }
    assert "a task" in steer("cost", "--thread").stdout
    fork = steer("fork", thread).stdout.strip()
    by_thread = decoded(steer("cost", "--thread", "--json").stdout)
    assert [(one["thread"], one["requests"]) for one in by_thread] == [(thread, 3)]
    alone = decoded(steer("cost", "--thread", fork, "--model", "--json").stdout)
    assert sum(one["requests"] for one in alone) == 3


def test_nothing_spent(steer):
    assert steer("cost").stdout == "No usage yet.\n"


def test_two_ways_to_group_are_one_too_many(steer):
    done = steer("cost", "--day", "--model")

    assert done.returncode == 2
    assert "three ways to group" in done.stderr
