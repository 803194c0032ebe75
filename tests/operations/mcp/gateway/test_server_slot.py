"""A server's slot under everything at once: one start at a time, nothing left at the end."""

import asyncio
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.operations.mcp.cache import Cache
from steersman.operations.mcp.server_slot import ServerSlot
from steersman.records.errors import ToolProblem
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Outcome, ServerProblem
from tests.operations.mcp.gateway.kit import Clock, remote


class Echo:
    """A server in this very process: it can be slow, fail to start, and die."""

    version, instructions = "1", ""

    def __init__(self) -> None:
        self.alive = False
        self.ill = False
        self.starting = self.starts = 0

    async def start(self) -> None:
        assert not self.alive
        assert self.starting == 0, "two starts at the same time"
        self.starting += 1
        try:
            await self.pause()
            if self.ill:
                raise ServerProblem("It is ill.")
            self.alive = True
            self.starts += 1
        finally:
            self.starting -= 1

    async def tools(self):
        await self.answer()
        return [remote("echo")]

    async def call(self, name, arguments, *, progress=None, whole=False):
        await self.answer()
        return Outcome(arguments["text"])

    async def stop(self) -> None:
        await self.pause()
        self.alive = False

    async def answer(self) -> None:
        await self.pause()
        if not self.alive:
            raise ServerProblem("It has died.")

    async def pause(self) -> None:
        for _ in range(3):
            await asyncio.sleep(0)


DEEDS = st.lists(
    st.sampled_from(
        ["call", "list", "refresh", "cancelled", "changed", "minute", "hour", "die", "ill", "well",
         "breathe"]
    ),
    max_size=40,
)  # fmt: skip


@settings(deadline=None)
@given(DEEDS)
def test_whatever_happens_in_whatever_order_calls_are_answered_and_nothing_is_left(deeds):
    asyncio.run(asyncio.wait_for(play(deeds), 30))


async def play(deeds):
    clock, echo = Clock(), Echo()
    server = Server("echo", "stdio", idle=600.0)
    slot = ServerSlot(server, lambda _: echo, Cache(None, clock), clock.later)
    tasks = []

    async def call(number):
        assert (await slot.call("echo", {"text": str(number)})).text == str(number)

    async def listing(*, refresh):
        assert [tool.name for tool in (await slot.listing(refresh=refresh)).tools] == ["echo"]

    for number, deed in enumerate(deeds):
        match deed:
            case "call" | "cancelled":
                tasks.append(asyncio.create_task(call(number)))
            case "list" | "refresh":
                tasks.append(asyncio.create_task(listing(refresh=deed == "refresh")))
            case "changed":
                slot.changed()
            case "minute" | "hour":
                clock.pass_(60 if deed == "minute" else 3600)
            case "die":
                echo.alive = False
            case "ill" | "well":
                echo.ill = deed == "ill"
            case "breathe":
                await asyncio.sleep(0)
        if deed == "cancelled":
            await asyncio.sleep(0)
            tasks[-1].cancel()
        assert slot.condition().state in ("idle", "starting", "running", "failed")
    for task in tasks:
        with suppress(ToolProblem, asyncio.CancelledError):
            await task

    # Once it is well, the next call is answered, and in time it is stopped.
    await settled()
    echo.ill = False
    await call(1)
    assert slot.condition().state == "running"
    clock.pass_(600)
    await settled()
    assert not echo.alive
    await call(2)
    await slot.close()
    assert not echo.alive
    assert clock.waiting == []


async def settled():
    """What goes on by itself has come to its end."""
    for _ in range(30):
        await asyncio.sleep(0)
