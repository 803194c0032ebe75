"""The scripted model inside the program: plays a file with no network and no key."""

import asyncio
from collections.abc import AsyncGenerator
from secrets import token_hex

from steersman.intelligence.scripted.script import (
    Faults,
    Player,
    Script,
    ScriptedTurn,
    Standing,
    calls_of,
    check_expectation,
)
from steersman.intelligence.scripted.steps import concrete
from steersman.records.dialogue import (
    Call,
    Completed,
    Event,
    Prompt,
    TextDelta,
    ThoughtDelta,
    Tokens,
)
from steersman.records.errors import DriverProblem


class ScriptedDriver:
    """A model whose every answer is written down."""

    def __init__(self, script: Script, name: str) -> None:
        self.model = name
        self._script = script
        self._player = Player(script)
        self._faults = Faults(script)
        self._standing = Standing()
        self._items: object = None

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """The answer to a conversation, in pieces of `chunk` characters."""
        if self._script.aside and not prompt.tools:
            said = ScriptedTurn(text=self._script.aside)
            yield Completed(said.text, tokens=estimate(said), stop="end")
            return
        standing = self._follow(prompt)
        index = self._player.turn(standing)
        check_expectation(self._script, index, prompt.items)
        turn = self._script.turns[index]
        await _pause(turn.delay_ms)
        async for event in self._play(turn, self._faults.due(index, id(self))):
            yield event
        calls = answer_calls(turn, prompt, token_hex(4))
        yield Completed(
            text=turn.text,
            reasoning=turn.reasoning,
            calls=calls,
            tokens=turn.usage or estimate(turn),
            stop="tool_calls" if calls else "end",
        )

    def _follow(self, prompt: Prompt) -> Standing:
        if prompt.items is not self._items:
            self._standing, self._items = Standing(), prompt.items
        self._standing.follow(prompt.items)
        return self._standing

    async def _play(
        self, turn: ScriptedTurn, fault: ScriptedTurn | None
    ) -> AsyncGenerator[TextDelta | ThoughtDelta, None]:
        """The words of a turn; a fault cuts or stalls them half-way, or refuses them."""
        if fault is not None and fault.error is not None:
            error = fault.error
            raise provider_problem(error.status, error.message, error.retry_after)
        events = pieces(turn)
        place = _place(events, fault) if fault is not None else -1
        for number, event in enumerate(events):
            if fault is not None and number == place:
                await _interrupt(fault)
            yield event
            await asyncio.sleep(0)
        if fault is not None and place == len(events):
            await _interrupt(fault)


def _place(events: list[TextDelta | ThoughtDelta], fault: ScriptedTurn) -> int:
    """Before which piece a fault strikes: half-way, or after a number of characters."""
    if isinstance(fault.drop, bool):
        return len(events) // 2
    said = 0
    for number, event in enumerate(events):
        if said >= fault.drop:
            return number
        said += len(event.text)
    return len(events)


async def _interrupt(fault: ScriptedTurn) -> None:
    await _pause(fault.stall_ms)
    if fault.drop:
        raise DriverProblem("The connection to the model was cut.", retryable=True)


def answer_calls(turn: ScriptedTurn, prompt: Prompt, tag: str) -> tuple[Call, ...]:
    """The calls of a turn: the exact ones, then its abstract step made concrete."""
    calls = calls_of(turn, tag)
    if turn.do is None:
        return calls
    step = concrete(turn, prompt.tools)
    arguments = step.arguments if isinstance(step.arguments, dict) else {}
    return (*calls, Call(f"call_{tag}_{len(calls) + 1}", step.name, arguments))


def pieces(turn: ScriptedTurn) -> list[TextDelta | ThoughtDelta]:
    """The words of a turn, cut into deltas."""
    thoughts = [ThoughtDelta(piece) for piece in cut(turn.reasoning, turn.chunk)]
    return [*thoughts, *(TextDelta(piece) for piece in cut(turn.text, turn.chunk))]


def cut(text: str, size: int) -> list[str]:
    """Text in pieces of `size` characters; whole when `size` is 0."""
    step = size or max(len(text), 1)
    return [text[start : start + step] for start in range(0, len(text), step)]


def estimate(turn: ScriptedTurn) -> Tokens:
    """Tokens for a turn that does not say: about four characters each."""
    thought = len(turn.reasoning)
    said = len(turn.text) + sum(len(str(call.arguments)) for call in turn.tool_calls)
    return Tokens(output=(said + thought) // 4, reasoning=thought // 4)


def provider_problem(status: int, message: str, retry_after: float | None) -> DriverProblem:
    """An error status of a provider as a problem of ours."""
    return DriverProblem(
        f"The model answered with status {status}.",
        message,
        status=status,
        retry_after=retry_after,
        retryable=status in (408, 409, 429) or status >= 500,
    )


async def _pause(milliseconds: int) -> None:
    if milliseconds:
        await asyncio.sleep(milliseconds / 1000)
