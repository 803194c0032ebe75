"""What goes wrong on the way, as each driver tells it; the conversation always goes on."""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import msgspec
import pytest

from steersman.intelligence.scripted.script import Script
from steersman.intelligence.scripted.server import Desk, listening
from steersman.records.dialogue import Completed, TextDelta
from steersman.records.errors import DriverProblem
from tests.intelligence.drivers.talking import READ, Talk

LONG = 60_000


def problem(talk: Talk) -> DriverProblem:
    with pytest.raises(DriverProblem) as caught:
        talk.ask()
    told = caught.value
    assert told.what.endswith(".")
    assert told.try_this.endswith(".")
    return told


@pytest.mark.parametrize(
    ("status", "message", "kind", "retryable"),
    [
        (400, "what is this", "bad_request", False),
        (400, "This model's maximum context length is 8192 tokens.", "context_length", False),
        (400, "prompt is too long: 250000 tokens > 200000 maximum", "context_length", False),
        (400, "This model does not support image input.", "unsupported_image", False),
        (401, "Incorrect API key provided", "auth", False),
        (403, "You may not", "auth", False),
        (404, "The model `m-1` does not exist", "model_not_found", False),
        (404, "no such path", "not_an_api", False),
        (408, "too slow", "timeout", True),
        (413, "too large", "context_length", False),
        (429, "slow down", "rate_limit", True),
        (429, "You exceeded your current quota", "rate_limit", False),
        (500, "oops", "server", True),
        (502, "bad gateway", "server", True),
        (503, "later", "overloaded", True),
        (529, "Overloaded", "overloaded", True),
    ],
)
def test_an_error_has_its_kind(stage, talk, status, message, kind, retryable) -> None:
    stage.play({"error": {"status": status, "message": message}, "text": "Done."})
    told = problem(talk)
    assert (told.kind, told.retryable) == (kind, retryable)
    assert message in told.why
    assert talk.ask().text == "Done."


def test_an_error_says_when_to_try_again(stage, talk) -> None:
    stage.play({"error": {"status": 429, "retry_after": 2.5}, "text": "Done."})
    told = problem(talk)
    assert told.retry_after == 2.5
    assert "in 2.5 s" in told.try_this


def test_no_first_token(stage, impatient: Callable[..., Talk]) -> None:
    stage.play({"text": "Done.", "delay_ms": LONG})
    told = problem(impatient(first_token=0.05))
    assert (told.kind, told.retryable) == ("timeout", True)
    assert "did not start to answer within 0.05 s" in told.what
    nothing_left_running(stage)


def test_a_stream_that_stalls(stage, talk, impatient: Callable[..., Talk]) -> None:
    stage.play({"text": "0123456789", "stall_ms": LONG})
    hasty = impatient(first_token=30, between_tokens=0.2)
    told = problem(hasty)
    assert (told.kind, told.retryable) == ("stall", True)
    assert told.what.startswith("m-1 stopped answering ")
    assert told.why == "Nothing came for 0.2 s."
    assert "".join(event.text for event in hasty.events) in ("", "01234")
    nothing_left_running(stage)
    assert talk.ask().text == "0123456789"


@pytest.mark.parametrize("drop", [True, 1])
def test_a_connection_that_is_cut(stage, talk, drop) -> None:
    stage.play({"text": "0123456789", "drop": drop})
    told = problem(talk)
    assert (told.kind, told.retryable) == ("dropped", True)
    assert "cut in the middle of its text" in told.what
    assert talk.ask().text == "0123456789"


def test_a_connection_that_is_cut_while_it_thinks(stage, talk) -> None:
    stage.play({"reasoning": "Hmm, hmm.", "text": "Done.", "drop": 3, "chunk": 2})
    assert "while the model was thinking" in problem(talk).what
    assert talk.ask().text == "Done."


def test_a_connection_that_is_cut_in_the_middle_of_a_tool_call(stage, talk) -> None:
    stage.play({"tool_calls": [READ, READ], "drop": 3}, {"text": "Done."})
    told = problem(talk)
    assert told.kind == "dropped"
    if talk.wire != "gemini":  # whose calls come whole
        assert told.what.endswith("in the middle of a tool call (read_file).")
    assert len(talk.answer("a", "b").calls) == 2
    assert talk.answer().text == "Done."


def test_an_empty_answer(stage, talk) -> None:
    stage.play({"text": ""})
    told = problem(talk)
    assert (told.kind, told.retryable) == ("empty", True)


def test_thoughts_alone_are_no_answer(stage, talk) -> None:
    stage.play({"reasoning": "Hmm."})
    told = problem(talk)
    assert (told.kind, told.why) == ("empty", "It returned reasoning, but no text.")


@pytest.mark.parametrize("wait", ["delay_ms", "stall_ms"])
def test_cancelling_closes_the_stream_at_once(stage, talk, wait) -> None:
    stage.play({"text": "0123456789", wait: LONG})

    async def cancelled() -> None:
        async def listen() -> None:
            async for _ in talk.driver.stream(talk.prompt):
                pass

        task = asyncio.create_task(listen())
        while not await asyncio.to_thread(stage.running_answers):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(nothing_left_running, stage)
        await talk.driver.aclose()

    asyncio.run(cancelled())


def test_leaving_the_stream_closes_it_at_once(stage, talk) -> None:
    stage.play({"text": "0123456789", "stall_ms": LONG})

    async def left() -> None:
        async with aclosing(talk.driver.stream(talk.prompt)) as events:
            async for event in events:
                assert event == TextDelta("01234")
                break
        await asyncio.to_thread(nothing_left_running, stage)
        await talk.driver.aclose()

    asyncio.run(left())


def test_a_connection_is_kept_for_the_next_request(wire) -> None:
    script = msgspec.convert({"turns": [{"text": "Done."}]}, Script)

    async def thrice() -> int:
        async with listening(Desk(script, None, print), "127.0.0.1", 0) as url:
            talk = Talk(url, wire)
            for _ in range(3):
                async with aclosing(talk.driver.stream(talk.prompt)) as events:
                    assert isinstance([event async for event in events][-1], Completed)
            names = [task.get_coro().__qualname__ for task in asyncio.all_tasks()]
            await talk.driver.aclose()
            return names.count("Connection.serve")

    assert asyncio.run(thrice()) == 1


def test_two_answers_at_once(stage, talk) -> None:
    stage.play({"text": "0123456789", "chunk": 1})

    async def once() -> Any:
        return [event async for event in talk.driver.stream(talk.prompt)]

    async def both() -> list[Any]:
        try:
            return await asyncio.gather(once(), once())
        finally:
            await talk.driver.aclose()

    first, second = asyncio.run(both())
    assert [event.text for event in first] == [*"0123456789", "0123456789"]
    assert [event.text for event in second] == [event.text for event in first]


def test_a_driver_may_move_to_another_event_loop(stage, talk) -> None:
    stage.play({"text": "Done."})

    async def once() -> Any:
        return [event async for event in talk.driver.stream(talk.prompt)][-1].text

    assert [asyncio.run(once()) for _ in range(2)] == ["Done.", "Done."]


def nothing_left_running(stage: Any) -> None:
    """Wait until the server gives no answer any more; only the far end of the wait is a failure."""
    end = time.monotonic() + 20
    while stage.running_answers():
        assert time.monotonic() < end
        time.sleep(0.01)
