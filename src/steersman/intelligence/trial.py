"""A model tried with one tiny request: does it answer, and does it call a tool?"""

import time

from msgspec import Struct

from steersman.records.dialogue import Completed, Driver, Prompt, Tokens, ToolSpec, UserItem

TOOL = ToolSpec(
    "ping",
    "Answer that you are there.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "the word ok"}},
        "required": ["text"],
    },
)
PROMPT = Prompt(
    "You test a connection. Call the tool `ping` once with the text ok, and say nothing else.",
    (TOOL,),
    (UserItem("Call `ping` with the text ok."),),
)


class Tried(Struct, frozen=True):
    """What came of it; `calls` says whether the tool was called as it was asked for."""

    calls: bool
    tokens: Tokens
    seconds: float


async def try_model(driver: Driver) -> Tried:
    """Ask a model to call a tool. Raises `DriverProblem` when it gives no answer."""
    began = time.monotonic()
    whole = Completed("")
    async for event in driver.stream(PROMPT):
        if isinstance(event, Completed):
            whole = event
    called = any(call.name == TOOL.name and call.malformed is None for call in whole.calls)
    return Tried(called, whole.tokens, round(time.monotonic() - began, 2))
