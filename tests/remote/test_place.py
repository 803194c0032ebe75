"""Deciding on what happens on another machine: what is looked at there may take its time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from msgspec import Raw

from steersman.governance.cases import decide_all
from steersman.governance.policy import Circumstances
from steersman.records.action import Execute
from steersman.records.errors import SteersmanError
from steersman.records.far_disk import looking
from steersman.threads.remote.line import Line
from steersman.threads.remote.place import Place


async def _nothing(method: str, body: Raw) -> Any:
    raise AssertionError("nobody is connected")


def test_nothing_else_waits_for_a_machine_that_cannot_be_reached() -> None:
    async def play() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        line = Line("l1", _nothing, lambda method, body: None)
        place = Place(line, "/far")
        with looking(place):
            waiting = [
                asyncio.create_task(
                    decide_all([Execute("ls", "/far")], "run_command", Circumstances("/far"))
                )
                for _ in range(6)
            ]
        while not line._sent.size:  # the first has asked, and waits
            await asyncio.sleep(0)
        try:
            async with asyncio.timeout(20):
                assert await asyncio.to_thread(lambda: "done") == "done"
        finally:
            line.end(SteersmanError("The line to the workspace is cut."))
        for decision in waiting:
            with pytest.raises(SteersmanError, match="The line to the workspace is cut"):
                await decision
        with looking(place), pytest.raises(SteersmanError, match="is cut"):
            await decide_all([Execute("ls", "/far")], "run_command", Circumstances("/far"))
        await place.close()

    asyncio.run(play())
