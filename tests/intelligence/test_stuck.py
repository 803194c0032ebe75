"""Going in circles is noticed, told to the model, then asked about; honest work never is."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.intelligence.stuck import Stuck
from steersman.records.dialogue import Call
from steersman.records.message import Message, ToolResult
from tests.store.made import START

Step = tuple[str, str]  # what is called, and what comes of it; parallel calls are joined by `+`


def observed(steps: Iterable[Step]) -> list[tuple[int, bool]]:
    """How often each step had come round, and whether the person is asked after it."""
    stuck = Stuck()
    found = []
    for number, (asked, got) in enumerate(steps):
        calls = [Call(f"c{number}", name, {"a": 1, "b": [2]}) for name in asked.split("+")]
        results = [
            Message("t", 1, START, 1, "tool_result", "p", call.id, ToolResult(call.name, "ok", got))
            for call in calls
        ]
        stuck.observe(calls, results)
        found.append((stuck.repeats(), stuck.wants_to_ask()))
    return found


def asked_at(steps: Iterable[Step]) -> list[int]:
    """After which steps the person is asked."""
    return [number for number, (_, asks) in enumerate(observed(steps), 1) if asks]


def rounds(cycle: list[Step], times: int) -> list[Step]:
    """The same steps over and over."""
    return cycle * times


ONE: list[Step] = [("ls", "x")]
TWO: list[Step] = [("ls", "x"), ("cat", "y")]
THREE: list[Step] = [("ls", "x"), ("cat", "y"), ("make", "z")]


@pytest.mark.parametrize("cycle", [ONE, TWO, THREE, [("ls+cat", "x")]], ids=len)
def test_the_person_is_asked_at_the_sixth_round_and_each_time_that_number_has_doubled(cycle):
    size = len(cycle)
    assert asked_at(rounds(cycle, 50)) == [6 * size, 12 * size, 24 * size, 48 * size]


def test_a_cycle_of_four_steps_is_too_long_to_notice():
    assert asked_at(rounds([*THREE, ("test", "failed")], 30)) == []


@pytest.mark.parametrize(
    "steps",
    [
        [("ls", str(number)) for number in range(100)],  # the results change: waiting is work
        [(str(number), "x") for number in range(100)],  # the calls change
        [(name, "x") for name in "abcdefghij" * 10],
    ],
    ids=["results", "calls", "long"],
)
def test_work_that_changes_is_never_asked_about(steps):
    assert asked_at(steps) == []


def test_one_different_step_begins_the_count_anew():
    steps = [*rounds(ONE, 5), ("cat", "y"), *rounds(ONE, 7)]
    assert asked_at(steps) == [5 + 1 + 6]


steps = st.tuples(st.sampled_from("ab"), st.sampled_from("xy"))
cycles = st.tuples(st.lists(steps, min_size=1, max_size=4), st.integers(1, 9))


@given(st.lists(cycles, max_size=4))
def test_nobody_is_asked_before_something_came_round_six_times(parts):
    steps = [step for cycle, times in parts for step in rounds(cycle, times)]
    for number, (repeats, asks) in enumerate(observed(steps), 1):
        assert repeats == came_round(steps[:number])
        assert not asks or repeats >= 6


def came_round(steps: list[Step]) -> int:
    """How often the latest one, two or three steps came one after another."""
    best = 0
    for size in range(1, min(3, len(steps)) + 1):
        whole = [tuple(steps[end - size : end]) for end in range(len(steps), size - 1, -size)]
        best = max(best, next((n for n, part in enumerate(whole) if part != whole[0]), len(whole)))
    return best


def note_after(count: int, call: Call) -> str:
    """What the model is told with a call after the same step came that often."""
    stuck = Stuck()
    for _ in range(count):
        calls = [Call("c", "ls", {"path": "x", "depth": 1})]
        result = ToolResult("ls", "ok", "same")
        stuck.observe(calls, [Message("t", 1, START, 1, "tool_result", "p", "c", result)])
    return stuck.note(call)


def test_the_model_is_told_from_the_third_time_on_whatever_the_order_of_the_arguments():
    again = Call("other-id", "ls", {"depth": 1, "path": "x"})
    assert [bool(note_after(count, again)) for count in range(6)] == [False] * 3 + [True] * 3
    assert "4 times" in note_after(4, again)


@pytest.mark.parametrize(
    "call",
    [
        Call("c", "cat", {"path": "x", "depth": 1}),
        Call("c", "ls", {"path": "y", "depth": 1}),
        Call("c", "ls", malformed="{"),
    ],
)
def test_another_call_is_told_nothing(call):
    assert note_after(9, call) == ""


def test_calls_that_are_made_together_are_told_too():
    stuck = Stuck()
    calls = [Call("1", "ls"), Call("2", "cat")]
    for _ in range(3):
        stuck.observe(calls, [])
    assert [bool(stuck.note(call)) for call in calls] == [True, True]
