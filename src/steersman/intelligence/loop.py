"""The native turn loop: ask the model, carry out its calls, feed back the results, until done."""

import asyncio
import time
from contextlib import aclosing

from steersman.dialogue import Completed, Driver, TextDelta, ThoughtDelta
from steersman.errors import DriverProblem, ScriptProblem, SteersmanError
from steersman.intelligence.stuck import Stuck
from steersman.message import (
    Assistant,
    AssistantDelta,
    Error,
    ReasoningDelta,
    TurnEnd,
    UsageReport,
)
from steersman.store.log import Lane
from steersman.systems import Deck

TRIES = 4
GO_ON, STOP = "go on", "stop"


class NativeLoop:
    """Thinks with one driver. `step_limit` bounds the model calls of one turn."""

    def __init__(self, driver: Driver, step_limit: int) -> None:
        self._driver = driver
        self._step_limit = step_limit

    @property
    def model(self) -> str:
        """The model's name."""
        return self._driver.model

    async def turn(self, deck: Deck) -> TurnEnd:
        """Work until the model has nothing more to do, or something stops it."""
        stuck = Stuck()
        steps = 0
        allowed = self._step_limit
        while True:
            if steps >= allowed:
                if not await self._may_go_on(deck, steps):
                    return TurnEnd("limit", steps, f"the limit of {allowed} steps was reached")
                allowed += self._step_limit
            await deck.deliver()
            try:
                answer = await self._answer(deck)
            except (DriverProblem, ScriptProblem) as problem:
                await deck.lane.append(error_body(problem))
                return TurnEnd("failed", steps, problem.what)
            steps += 1
            if not answer.calls:
                if await deck.deliver():
                    continue
                return TurnEnd("done", steps)
            results = await deck.execute(answer.calls, stuck.note)
            stuck.observe(answer.calls, results)
            if stuck.wants_to_ask() and not await self._is_honest_work(deck, stuck.repeats()):
                return TurnEnd("cancelled", steps, "stopped by the person: it went in circles")

    async def _may_go_on(self, deck: Deck, steps: int) -> bool:
        text = f"This turn has taken {steps} steps. Go on?"
        return await deck.question(text, (GO_ON, STOP), STOP) == GO_ON

    async def _is_honest_work(self, deck: Deck, repeats: int) -> bool:
        text = f"The same calls gave the same results {repeats} times in a row. Go on?"
        return await deck.question(text, (GO_ON, STOP), GO_ON) != STOP

    async def _answer(self, deck: Deck) -> Completed:
        """One answer of the model, tried again when that is worth it, logged with its calls."""
        tries = 0
        while True:
            tries += 1
            started = time.monotonic()
            try:
                answer, first_token = await self._stream(deck)
                break
            except DriverProblem as problem:
                if not problem.retryable or tries >= TRIES:
                    raise
                wait = problem.retry_after if problem.retry_after is not None else 2.0**tries
                await deck.lane.append(error_body(problem, retry_in=wait))
                await asyncio.sleep(wait)
        usage = UsageReport(
            model=self._driver.model,
            input=answer.tokens.input,
            cached=answer.tokens.cached,
            output=answer.tokens.output,
            reasoning=answer.tokens.reasoning,
            first_token_ms=round(1000 * (first_token - started)),
            ms=round(1000 * (time.monotonic() - started)),
        )
        calls = tuple(call.id for call in answer.calls)
        said = Assistant(answer.text, answer.reasoning, calls, answer.stop)
        drafts = [deck.lane.draft(said), deck.lane.draft(usage)]
        await deck.lane.log.append(*drafts, *map(deck.announce, answer.calls))
        return answer

    async def _stream(self, deck: Deck) -> tuple[Completed, float]:
        live = LiveAnswer(deck.lane)
        first_token = 0.0
        try:
            async with aclosing(self._driver.stream(deck.prompt())) as events:
                async for event in events:
                    first_token = first_token or time.monotonic()
                    if isinstance(event, Completed):
                        live.finish()
                        return event, first_token
                    live.show(event)
        except asyncio.CancelledError:
            if live.text:
                await deck.lane.append(Assistant(text=live.text, stop="cancelled"))
            raise
        raise DriverProblem("The model's answer ended before it was complete.", retryable=True)


class LiveAnswer:
    """An answer on its way: broadcast piece by piece, never showing part of a secret."""

    def __init__(self, lane: Lane) -> None:
        self.text = ""
        self._lane = lane
        self._words = lane.log.redactor.stream()
        self._thoughts = lane.log.redactor.stream()

    def show(self, event: TextDelta | ThoughtDelta) -> None:
        """Broadcast a piece."""
        if isinstance(event, TextDelta):
            self.text += event.text
            self._send(AssistantDelta, self._words.feed(event.text))
        else:
            self._send(ReasoningDelta, self._thoughts.feed(event.text))

    def finish(self) -> None:
        """Broadcast what was held back."""
        self._send(ReasoningDelta, self._thoughts.flush())
        self._send(AssistantDelta, self._words.flush())

    def _send(self, kind: type[AssistantDelta | ReasoningDelta], text: str) -> None:
        if text:
            self._lane.broadcast(kind(text))


def error_body(problem: SteersmanError, retry_in: float | None = None) -> Error:
    """A problem as the log tells it."""
    return Error(problem.what, problem.why, problem.try_this, retry_in)
