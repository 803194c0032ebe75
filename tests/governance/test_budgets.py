"""Budgets: what is counted, from where, and when it is too much."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from steersman.governance.budgets import Budget
from steersman.records.clock import now
from steersman.records.errors import BudgetSpent, Exit
from steersman.records.limits import Limits
from steersman.records.message import AgentSpawn, Body, Message, ToolCall, UsageReport


def told(*bodies: Body, path: str = "steersman") -> list[Message]:
    return [Message("t", 1, now(), 1, body.kind, path, None, body) for body in bodies]


def use(tokens: int = 0, cost: float = 0.0) -> UsageReport:
    return UsageReport("m", input=tokens, cost=cost)


@pytest.mark.parametrize(
    ("limits", "spent", "words"),
    [
        (Limits(tokens=100), [use(60), use(40)], "budget of 100 tokens"),
        (Limits(cost=0.5), [use(cost=0.3), use(cost=0.25)], "budget of 0.5 dollars"),
        (Limits(agents=1), [AgentSpawn("a", "l", "t"), AgentSpawn("b", "l", "t")], "1 agent "),
        (Limits(agents=0), [AgentSpawn("a", "l", "t")], "0 agents"),
    ],
)
def test_each_limit_ends_the_work_with_a_sentence(limits, spent, words):
    budget = Budget(run=limits)
    for body in spent[:-1]:
        budget.observe(told(body))
        budget.check()
    budget.observe(told(spent[-1]))
    with pytest.raises(BudgetSpent) as raised:
        budget.check()
    assert words in raised.value.what
    assert raised.value.exit is Exit.BUDGET_SPENT
    assert "--max-" in raised.value.try_this


def test_the_last_call_allowed_may_run_and_the_next_may_not():
    budget = Budget(run=Limits(calls=2))
    for name in ("a", "a", "b"):
        budget.call(name)  # a call that is judged twice is one call
    with pytest.raises(BudgetSpent, match="2 tool calls"):
        budget.call("c")


def test_a_call_that_began_within_the_budget_may_do_all_that_it_asks_for():
    budget = Budget(run=Limits(calls=1))
    budget.call("a")
    for _ in range(2):
        with pytest.raises(BudgetSpent):
            budget.call("b")
    budget.call("a")


def test_a_tree_of_agents_spends_from_one_purse():
    budget = Budget(run=Limits(tokens=100))
    budget.observe(told(use(50), path="steersman/operations/mate/intelligence"))
    budget.observe(told(use(50), path="steersman/operations/mate/operations/hand/intelligence"))
    with pytest.raises(BudgetSpent):
        budget.check()


def test_a_thread_remembers_what_earlier_runs_spent_and_a_run_does_not():
    earlier = told(use(80), ToolCall("x"), ToolCall("y"))
    run = Budget(run=Limits(tokens=100, calls=2))
    run.recall(earlier)
    run.call("z")
    thread = Budget(thread=Limits(tokens=100))
    assert thread.counts_thread
    thread.recall(earlier)
    thread.check()
    thread.observe(told(use(20)))
    with pytest.raises(BudgetSpent, match="for this thread"):
        thread.check()
    calls = Budget(thread=Limits(calls=2))
    calls.recall(earlier)
    with pytest.raises(BudgetSpent):
        calls.call("z")


def test_time_is_counted_while_turns_run():
    budget = Budget(run=Limits(seconds=1e-9))
    budget.begin_turn()
    assert budget.remaining_seconds() == 0
    with pytest.raises(BudgetSpent, match="seconds"):
        budget.check()
    assert Budget().remaining_seconds() is None


def test_time_between_turns_is_nobodys():
    budget = Budget(run=Limits(seconds=1e-9))
    budget.call("before any turn")
    budget.begin_turn()
    budget.end_turn()
    spent = [account.seconds for account in budget._accounts]
    with pytest.raises(BudgetSpent):
        budget.call("of a person")
    assert [account.seconds for account in budget._accounts] == spent


def test_a_run_that_another_process_goes_on_with_has_spent_what_it_spent():
    first, call, last = told(use(80), ToolCall("run"), use(10))
    call = replace(call, corr="call_1")
    last = replace(last, time=first.time + timedelta(seconds=30))

    tokens = Budget(run=Limits(tokens=100))
    tokens.resume([first, call, last])
    tokens.observe(told(use(10)))
    with pytest.raises(BudgetSpent, match="100 tokens"):
        tokens.check()

    calls = Budget(run=Limits(calls=1))
    calls.resume([first, call, last])
    calls.call("call_1")  # the call that waited is the one that was counted
    with pytest.raises(BudgetSpent, match="1 tool call "):
        calls.call("call_2")

    time = Budget(run=Limits(seconds=40))
    time.resume([first, call, last])
    time.begin_turn()
    assert 0 < (time.remaining_seconds() or 0) <= 10
