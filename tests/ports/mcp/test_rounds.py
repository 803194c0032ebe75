"""Calls that wait for a client's next request."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from steersman.ports.mcp.offer import Asked, Ended, Event
from steersman.ports.mcp.rounds import MOST, Rounds, Unknown

ASKED = {"name": Asked("name", "elicitation/create", {})}


class Call:
    """A call that only notes whether it was stopped."""

    stopped = False

    async def next(self) -> Event:
        return Ended(())

    def more(self) -> Event | None:
        return None

    def answer(self, key: str, result: Mapping[str, Any] | None) -> None:
        pass

    async def cancel(self) -> None:
        self.stopped = True


def test_a_word_brings_back_its_call_once() -> None:
    async def work() -> None:
        rounds, call = Rounds(), Call()
        word = rounds.suspend(call, "write", {"path": "a"}, ASKED)
        waiting = rounds.resume(word, "write", {"path": "a"})
        assert (waiting.call, waiting.asked) == (call, ASKED)
        with pytest.raises(Unknown):
            rounds.resume(word, "write", {"path": "a"})

    asyncio.run(work())


@pytest.mark.parametrize(
    ("tool", "arguments"), [("write", {"path": "b"}), ("read", {"path": "a"}), ("write", {})]
)
def test_a_word_is_good_only_for_the_same_call(tool: str, arguments: dict[str, str]) -> None:
    async def work() -> None:
        rounds, call = Rounds(), Call()
        word = rounds.suspend(call, "write", {"path": "a"}, ASKED)
        with pytest.raises(Unknown):
            rounds.resume(word, tool, arguments)
        assert rounds.resume(word, "write", {"path": "a"}).call is call

    asyncio.run(work())


def test_a_call_nobody_comes_back_for_is_stopped() -> None:
    async def work() -> None:
        rounds, call = Rounds(longest=0.0), Call()
        word = rounds.suspend(call, "write", {}, ASKED)
        while not call.stopped:
            await asyncio.sleep(0)
        with pytest.raises(Unknown):
            rounds.resume(word, "write", {})

    asyncio.run(work())


def test_there_is_room_for_so_many_and_the_oldest_gives_way() -> None:
    async def work() -> None:
        rounds = Rounds()
        calls = [Call() for _ in range(MOST + 1)]
        for call in calls:
            rounds.suspend(call, "write", {}, ASKED)
        await asyncio.sleep(0)
        assert [call.stopped for call in calls].count(True) == 1
        assert calls[0].stopped
        await rounds.close()
        assert all(call.stopped for call in calls)

    asyncio.run(work())
