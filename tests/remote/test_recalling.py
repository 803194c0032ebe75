"""What the host of a remote thread asks the agent about after a crash."""

import asyncio

from steersman.records.message import SessionEnd, SessionStart, ToolCall, ToolResult
from steersman.store.log import Draft
from steersman.threads import recalling
from tests.store.logs import a_place

BEGIN = SessionStart("1", "/project", "scripted", "build", "low", "ask")


def test_only_calls_of_the_session_that_was_cut_off_are_asked_about() -> None:
    with a_place() as place:
        log = place.new_log()

        async def work() -> None:
            for body, call in (
                (BEGIN, None),
                (ToolCall("earlier"), "earlier"),
                (SessionEnd("interrupted"), None),
                (BEGIN, None),
                (ToolCall("done"), "done"),
                (ToolCall("open"), "open"),
                (ToolResult("done", "ok"), "done"),
            ):
                await log.append(Draft(body, "steersman/operations", 1, call))

        asyncio.run(work())
        assert [one.corr for one in recalling.open_calls(log)] == ["open"]
