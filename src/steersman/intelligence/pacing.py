"""Rate limits that a person sets for a provider: requests and tokens a minute.

They hold for all threads of one process. A request that has to wait is refused with `Paced`: the
loop says how long it waits, and asks again.
"""

import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import cache

from steersman.records.counting import counted
from steersman.records.dialogue import Completed, Driver, Event, Prompt
from steersman.records.errors import DriverProblem

MINUTE = 60.0


class Paced(DriverProblem):
    """Not asked yet: the limit of a minute is reached. This is no failure of the model."""

    def __init__(self, provider: str, limit: str, setting: str, seconds: float) -> None:
        super().__init__(
            f"The next request to {provider} waits {seconds:.0f} s: its limit is {limit} a minute.",
            f"[providers.{provider}] {setting} in your settings says so.",
            retryable=True,
            retry_after=seconds,
            kind="rate_limit",
        )
        self.seconds = seconds


class Pace:
    """What was asked of a provider in the last minute."""

    def __init__(
        self, provider: str, requests: int, tokens: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._provider = provider
        self._requests = requests
        self._tokens = tokens
        self._clock = clock
        self._asked: deque[float] = deque()
        self._used: deque[tuple[float, int]] = deque()

    def begin(self) -> None:
        """Count a request that begins now; raises when it has to wait."""
        now = self._clock()
        while self._asked and self._asked[0] <= now - MINUTE:
            self._asked.popleft()
        while self._used and self._used[0][0] <= now - MINUTE:
            self._used.popleft()
        if self._requests and len(self._asked) >= self._requests:
            said = counted(self._requests, "request")
            wait = self._asked[0] + MINUTE - now
            raise Paced(self._provider, said, "requests_per_minute", wait)
        spent = sum(tokens for _, tokens in self._used)
        if self._tokens and spent >= self._tokens:
            said = counted(self._tokens, "token")
            raise Paced(self._provider, said, "tokens_per_minute", self._until(spent) - now)
        self._asked.append(now)

    def _until(self, spent: int) -> float:
        """When so much will be a minute old that there is room again."""
        for when, tokens in self._used:
            spent -= tokens
            if spent < self._tokens:
                return when + MINUTE
        raise AssertionError("all that was spent is more than nothing")

    def spend(self, tokens: int) -> None:
        """Count the tokens of a request that ended."""
        self._used.append((self._clock(), tokens))


class PacedDriver:
    """A driver that keeps to a pace."""

    def __init__(self, driver: Driver, pace: Pace) -> None:
        self.model = driver.model
        self._driver = driver
        self._pace = pace

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """One answer, or `Paced`."""
        self._pace.begin()
        async with aclosing(self._driver.stream(prompt)) as events:
            async for event in events:
                if isinstance(event, Completed):
                    self._pace.spend(event.tokens.input + event.tokens.output)
                yield event

    async def aclose(self) -> None:
        """Close what the driver keeps open."""
        from steersman.intelligence.tunnel import close_driver

        await close_driver(self._driver)


@cache
def pace_of(provider: str, requests: int, tokens: int) -> Pace:
    """The one pace of a provider in this process."""
    return Pace(provider, requests, tokens)
