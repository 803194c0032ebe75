"""Rate limits that a person sets for a provider: requests and tokens a minute.

They hold for all threads of one process. A request that has to wait says how long, and waits.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import cache

from steersman.records.counting import counted
from steersman.records.dialogue import Completed, Driver, Event, Prompt, Waiting

MINUTE = 60.0


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

    def begin(self) -> Waiting | None:
        """Count a request that begins now, or say how long it has to wait."""
        now = self._clock()
        while self._asked and self._asked[0] <= now - MINUTE:
            self._asked.popleft()
        while self._used and self._used[0][0] <= now - MINUTE:
            self._used.popleft()
        if self._requests and len(self._asked) >= self._requests:
            said = counted(self._requests, "request")
            wait = self._asked[0] + MINUTE - now
            return self._waiting(said, "requests_per_minute", wait)
        spent = sum(tokens for _, tokens in self._used)
        if self._tokens and spent >= self._tokens:
            said = counted(self._tokens, "token")
            return self._waiting(said, "tokens_per_minute", self._until(spent) - now)
        self._asked.append(now)
        return None

    def _waiting(self, limit: str, setting: str, seconds: float) -> Waiting:
        provider = self._provider
        return Waiting(
            f"The next request to {provider} waits {seconds:.0f} s: its limit is {limit} a minute.",
            f"[providers.{provider}] {setting} in your settings says so.",
            seconds,
        )

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
    """A driver that keeps to a pace. `pause` waits so many seconds."""

    def __init__(
        self, driver: Driver, pace: Pace, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.model = driver.model
        self._driver = driver
        self._pace = pace
        self._pause = pause

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """One answer, when there is room for it."""
        while (waiting := self._pace.begin()) is not None:
            yield waiting
            await self._pause(waiting.seconds)
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
