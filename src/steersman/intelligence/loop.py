"""The native turn loop: ask the model, carry out its calls, feed back the results, until done."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import msgspec

from steersman.intelligence.fallback import Switched
from steersman.intelligence.stuck import Stuck
from steersman.records.call_ids import distinct
from steersman.records.counting import counted
from steersman.records.dialogue import (
    Completed,
    Driver,
    TextDelta,
    ThoughtDelta,
    Tokens,
    Unanswered,
    Waiting,
)
from steersman.records.errors import DriverProblem, ScriptProblem, SteersmanError
from steersman.records.message import (
    Assistant,
    AssistantDelta,
    Error,
    Question,
    ReasoningDelta,
    TurnEnd,
    UsageReport,
)
from steersman.store.log import Lane
from steersman.systems import Deck, Left

TRIES = 4
# Whoever sits in front of a chat can stop waiting; so a busy model is waited for much longer.
PATIENCE, LONGEST_PAUSE = 120.0, 30.0  # seconds
BUSY = (429, 503, 529)
SEND_AGAIN = "Send the message again, or choose another model with --model."
GO_ON, STOP = "go on", "stop"

Pricer = Callable[[str, Tokens], float | None]
Pause = Callable[[float], Awaitable[None]]


def _unpriced(_model: str, _tokens: Tokens) -> float | None:
    return None


class NativeLoop:
    """Uses one driver. `step_limit` bounds the model calls of one turn.

    `price` shows what a request cost, None when nobody knows; `switched` learns when another model
    has taken over; `pause` waits the seconds before a request is sent again. `asking` while a model
    answers.
    """

    def __init__(
        self,
        driver: Driver,
        step_limit: int,
        price: Pricer = _unpriced,
        switched: Callable[[], None] = lambda: None,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._driver = driver
        self._switched = switched
        self._pause = pause
        self._price = price
        self._step_limit = step_limit
        self.asking = False

    def use(self, other: "NativeLoop") -> None:
        """Continue with another's model, price and limit from the next model call on."""
        self._driver = other._driver
        self._price = other._price
        self._step_limit = other._step_limit

    @property
    def model(self) -> str:
        """The model's name."""
        return self._driver.model

    async def turn(self, deck: Deck, left: Left | None = None) -> TurnEnd:
        """Work until the model has nothing more to do, or something stops it.

        `left` is what an earlier process asked for in this turn and did not get done.
        """
        stuck = Stuck()
        steps = left.steps if left is not None else 0
        allowed = self._step_limit
        if left is not None:
            if not await _still_wanted(deck, left):
                return TurnEnd("cancelled", steps, "stopped by the user")
            await deck.resume(left.calls, stuck.note)
            if left.finished and not await deck.continues():
                return TurnEnd("done", steps)
        while True:
            if steps >= allowed:
                if not await self._may_go_on(deck, steps):
                    return TurnEnd(
                        "limit", steps, f"the limit of {counted(allowed, 'step')} was reached"
                    )
                allowed += self._step_limit
            await deck.deliver()
            try:
                answer = await self._answer(deck)
            except (DriverProblem, ScriptProblem) as problem:
                await deck.lane.append(error_body(problem))
                return TurnEnd("failed", steps, problem.what)
            steps += 1
            if not answer.calls:
                if await deck.deliver() or await deck.continues():
                    continue
                return TurnEnd("done", steps)
            results = await deck.execute(answer.calls, stuck.note)
            stuck.observe(answer.calls, results)
            if stuck.wants_to_ask() and not await self._is_honest_work(deck, stuck.repeats()):
                return TurnEnd("cancelled", steps, "stopped by the user: it was repeating itself")

    async def _may_go_on(self, deck: Deck, steps: int) -> bool:
        text = f"This turn has taken {counted(steps, 'step')}. Go on?"
        return await deck.question(Question(text, (GO_ON, STOP), STOP)) == GO_ON

    async def _is_honest_work(self, deck: Deck, repeats: int) -> bool:
        text = f"The same calls gave the same results {counted(repeats, 'time')} in a row. Go on?"
        return await deck.question(Question(text, (GO_ON, STOP), GO_ON)) != STOP

    async def _answer(self, deck: Deck) -> Completed:
        """One answer of the model, logged with its calls and what it cost."""
        started = time.monotonic()
        driver, price, self.asking = self._driver, self._price, True
        try:
            answer, first_token = await self._ask(deck, driver)
        finally:
            self.asking = False
        own = distinct(answer.calls, deck.lane.log.calls)
        answer = msgspec.structs.replace(answer, calls=own)
        if driver is self._driver:
            deck.learn(answer.tokens.input)
        spent = usage_of(driver.model, answer.tokens, price)
        usage = msgspec.structs.replace(
            spent,
            first_token_ms=round(1000 * (first_token - started)),
            ms=round(1000 * (time.monotonic() - started)),
        )
        calls = tuple(call.id for call in answer.calls)
        said = Assistant(answer.text, answer.reasoning, calls, answer.stop, answer.state)
        drafts = [deck.lane.draft(said), deck.lane.draft(usage)]
        await deck.lane.log.append(*drafts, *map(deck.announce, answer.calls))
        return answer

    async def _ask(self, deck: Deck, driver: Driver) -> tuple[Completed, float]:
        """Ask until there is an answer, as long as asking again is worth it."""
        tries, waited = 0, 0.0
        shortened = False  # once: a prompt that was too long is compacted and sent again
        await deck.fit("window")
        while True:
            tries += 1
            try:
                return await self._stream(deck, driver)
            except Switched as switched:
                tries, waited = 0, 0.0
                await deck.lane.append(error_body(switched, retry_in=0.0))
                await self._paid(deck, switched.before, switched.tokens)
                self._switched()
                await deck.fit("window")  # the next model may have a smaller one
            except DriverProblem as problem:
                if isinstance(problem, Unanswered):
                    await self._paid(deck, driver.model, problem.tokens)
                busy = problem.kind in ("rate_limit", "overloaded") or problem.status in BUSY
                patient = busy and deck.attended and waited < PATIENCE
                wait = _pause_after(problem, tries)
                too_long = problem.kind == "context_length" and not shortened
                if too_long and await deck.fit("context_length"):
                    shortened, wait = True, 0.0
                elif not problem.retryable or (tries >= TRIES and not patient):
                    if busy and problem.retryable:
                        problem.try_this = SEND_AGAIN
                    raise
                waited += wait
                await deck.lane.append(error_body(problem, retry_in=wait))
                await self._pause(wait)

    async def _paid(self, deck: Deck, model: str, tokens: Tokens | None) -> None:
        """Log what a request used that gave no answer."""
        if tokens is not None and tokens != Tokens():
            await deck.lane.append(usage_of(model, tokens, self._price))

    async def _stream(self, deck: Deck, driver: Driver) -> tuple[Completed, float]:
        live = LiveAnswer(deck.lane)
        first_token = 0.0
        try:
            async with aclosing(driver.stream(deck.prompt())) as events:
                async for event in events:
                    if isinstance(event, Waiting):
                        told = Error(event.what, event.why, retry_in=event.seconds)
                        await deck.lane.append(told)
                        continue
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


async def _still_wanted(deck: Deck, left: Left) -> bool:
    """Ask again what was asked when the process died; calls ask their own questions again."""
    for asked in left.questions:
        if await deck.question(asked) == STOP:
            return False
    return True


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


def usage_of(model: str, tokens: Tokens, price: Pricer) -> UsageReport:
    """What a request used and cost."""
    return UsageReport(
        model=model,
        input=tokens.input,
        cached=tokens.cached,
        output=tokens.output,
        reasoning=tokens.reasoning,
        cost=price(model, tokens) or 0.0,
    )


def _pause_after(problem: DriverProblem, tries: int) -> float:
    """How long to wait before the next try: as long as the provider says, longer if it is wrong."""
    pause = min(2.0**tries, LONGEST_PAUSE)
    if problem.retry_after is None:
        return pause
    return problem.retry_after if tries < TRIES else max(problem.retry_after, pause)


def error_body(problem: SteersmanError, retry_in: float | None = None) -> Error:
    """A problem as the log shows it."""
    return Error(problem.what, problem.why, problem.try_this, retry_in)
