"""Rate limits of a provider, by a clock that the test moves."""

import asyncio

import pytest

from steersman.intelligence.fallback import Choice, FallbackDriver
from steersman.intelligence.pacing import Pace, Paced, PacedDriver
from steersman.records.dialogue import Completed, Prompt, Tokens


class Clock:
    """A time of day that only moves when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Model:
    """Answers at once, with so many tokens."""

    model = "acme:m"

    async def stream(self, prompt):
        yield Completed("Hello.", tokens=Tokens(input=60, output=40))


def asked(driver):
    async def ask():
        return [event.text async for event in driver.stream(Prompt("", (), []))]

    return asyncio.run(ask())


def test_so_many_requests_a_minute():
    clock = Clock()
    driver = PacedDriver(Model(), Pace("acme", 2, 0, clock))
    assert asked(driver) == ["Hello."]
    clock.now += 10
    assert asked(driver) == ["Hello."]
    clock.now += 10
    with pytest.raises(Paced) as refused:
        asked(driver)
    assert refused.value.what == (
        "The next request to acme waits 40 s: its limit is 2 requests a minute."
    )
    assert refused.value.seconds == 40
    clock.now += 40
    assert asked(driver) == ["Hello."]


def test_so_many_tokens_a_minute():
    clock = Clock()
    driver = PacedDriver(Model(), Pace("acme", 0, 150, clock))
    asked(driver)
    clock.now += 10
    asked(driver)  # it begins below the limit
    with pytest.raises(Paced, match="its limit is 150 tokens a minute") as refused:
        asked(driver)
    assert refused.value.seconds == 50
    clock.now += 50
    assert asked(driver) == ["Hello."]


def test_a_limit_of_ones_own_does_not_switch_to_another_model():
    driver = FallbackDriver(
        [
            Choice("one", lambda: PacedDriver(Model(), Pace("acme", 1, 0, Clock()))),
            Choice("two", Model),
        ]
    )
    assert asked(driver) == ["Hello."]
    for _ in range(5):
        with pytest.raises(Paced):
            asked(driver)
