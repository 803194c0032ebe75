"""What is tried once in a process: who waits for whom."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from steersman.operations.running.trials import Trials


def test_only_who_asks_for_the_same_waits_for_a_trial() -> None:
    trials, begun, finish = Trials(), threading.Event(), threading.Event()
    attempts: list[str] = []

    def slow() -> bool:
        attempts.append("slow")
        begun.set()
        return finish.wait(30)

    def never() -> bool:
        raise AssertionError("it is being tried already")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(trials.outcome, "slow", slow)
        assert begun.wait(30)
        second = pool.submit(trials.outcome, "slow", never)
        assert not trials.outcome("quick", lambda: False)
        assert not second.done()
        finish.set()
        assert first.result(30)
        assert second.result(30)
    assert trials.outcome("slow", never)
    assert attempts == ["slow"]


def test_a_trial_that_could_not_be_made_is_made_again() -> None:
    trials = Trials()

    def broken() -> bool:
        raise OSError("no memory")

    with pytest.raises(OSError, match="no memory"):
        trials.outcome("this", broken)
    assert trials.outcome("this", lambda: True)
