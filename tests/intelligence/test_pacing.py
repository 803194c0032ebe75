"""Rate limits of a provider, by a clock that the test moves."""

import asyncio

import msgspec

from steersman.intelligence.configured import read_config
from steersman.intelligence.fallback import Choice, FallbackDriver
from steersman.intelligence.loop import NativeLoop
from steersman.intelligence.models import Models
from steersman.intelligence.pacing import Pace, PacedDriver
from steersman.records.dialogue import Completed, Prompt, Tokens, Waiting
from steersman.records.message import Error
from tests.cli.kit import READ
from tests.host.test_capsules import Tree


class Clock:
    """A clock that moves when a test moves it, and while someone waits."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    async def pause(self, seconds):
        self.now += seconds


class Model:
    """Answers at once, with so many tokens."""

    model = "acme:m"

    async def stream(self, prompt):
        yield Completed("Hello.", tokens=Tokens(input=60, output=40))


def paced(clock, requests=0, tokens=0):
    return PacedDriver(Model(), Pace("acme", requests, tokens, clock), clock.pause)


def asked(driver):
    """How long one request waited, each time with what is said of it, until there was an answer."""

    async def ask():
        return [event async for event in driver.stream(Prompt("", (), []))]

    *waits, answer = asyncio.run(ask())
    assert isinstance(answer, Completed)
    assert all(isinstance(wait, Waiting) for wait in waits)
    return [(wait.seconds, wait.what) for wait in waits]


def test_so_many_requests_a_minute():
    clock = Clock()
    driver = paced(clock, requests=2)
    assert asked(driver) == []
    clock.now += 10
    assert asked(driver) == []
    clock.now += 10
    told = "The next request to acme waits 40 s: its limit is 2 requests a minute."
    assert asked(driver) == [(40, told)]
    assert clock.now == 160
    told = "The next request to acme waits 10 s: its limit is 2 requests a minute."
    assert asked(driver) == [(10, told)]


def test_so_many_tokens_a_minute():
    clock = Clock()
    driver = paced(clock, tokens=150)
    assert asked(driver) == []
    clock.now += 10
    assert asked(driver) == []  # it begins below the limit
    told = "The next request to acme waits 50 s: its limit is 150 tokens a minute."
    assert asked(driver) == [(50, told)]


def test_who_finds_the_room_taken_waits_again():
    """Another thread of the process may have been quicker."""
    clock = Clock()
    pace = Pace("acme", 1, 0, clock)
    others = iter([pace.begin])

    async def pause(seconds):
        await clock.pause(seconds)
        next(others, lambda: None)()

    pace.begin()
    waits = asked(PacedDriver(Model(), pace, pause))
    assert [seconds for seconds, _ in waits] == [60, 60]


def test_a_limit_of_ones_own_does_not_switch_to_another_model():
    clock = Clock()
    driver = FallbackDriver([Choice("one", lambda: paced(clock, requests=1)), Choice("two", Model)])
    waits = [len(asked(driver)) for _ in range(5)]
    assert waits == [0, 1, 1, 1, 1]


def test_in_a_turn_the_log_says_how_long_a_request_waits(environ, workspace, script):
    """However often that is, it is no failure of the model."""
    clock = Clock()
    steps = [*[{"tool_calls": [READ]}] * 5, {"text": "Done."}]
    inner = Models({}, read_config()).open(script(*steps, name="works.json"))
    tree = Tree(environ, workspace, script, [{"text": "."}])
    driver = PacedDriver(inner, Pace("acme", 1, 0, clock), clock.pause)
    tree.chief = msgspec.structs.replace(tree.chief, intelligence=NativeLoop(driver, 50))

    assert asyncio.run(tree.turn()).ending == "done"

    told = [m.body for m in tree.messages() if isinstance(m.body, Error)]
    assert [body.retry_in for body in told] == [60.0] * 5
    assert told[0].what.startswith("The next request to acme waits 60 s")
