"""A driver asked from a test that is not asynchronous itself."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from steersman.records.dialogue import Completed, Driver, Event, Prompt, TextDelta, UserItem
from steersman.records.errors import DriverProblem

HELLO = Prompt("You are terse.", (), [UserItem("go")])


async def answer(driver: Driver, prompt: Prompt = HELLO) -> Completed:
    """The whole answer."""
    async with aclosing(driver.stream(prompt)) as events:
        async for event in events:
            if isinstance(event, Completed):
                return event
    raise AssertionError("no answer came")


def asked(driver: Driver, prompt: Prompt = HELLO) -> Completed:
    """The whole answer, in a loop of its own."""
    return asyncio.run(answer(driver, prompt))


class Fixed:
    """A model whose answers are given: words, whole answers, or problems to raise."""

    def __init__(self, model: str, *answers: str | Completed | DriverProblem) -> None:
        self.model = model
        self.prompts: list[Prompt] = []
        self._answers: Sequence[Any] = answers

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """The next answer; the last one is repeated."""
        said = self._answers[min(len(self.prompts), len(self._answers) - 1)]
        self.prompts.append(prompt)
        yield TextDelta("…")
        if isinstance(said, DriverProblem):
            raise said
        yield Completed(said) if isinstance(said, str) else said
