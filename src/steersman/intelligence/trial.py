"""A model tried with one tiny request: does it answer, and does it call a tool?"""

import time

from msgspec import Struct

from steersman.records.dialogue import Completed, Driver, Prompt, Tokens, ToolSpec, UserItem
from steersman.records.errors import DriverProblem

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


PLAIN = Prompt("You test a connection. Say ok, and nothing else.", (), (UserItem("Say ok."),))


class Tried(Struct, frozen=True):
    """What came of it; `calls` says whether the tool was called as it was asked for.

    `refused` is why a request with a tool was refused, where one without is answered.
    """

    calls: bool
    tokens: Tokens
    seconds: float
    refused: str = ""


async def try_model(driver: Driver) -> Tried:
    """Ask a model to call a tool; if that is refused, only to answer.

    Raises `DriverProblem` when it gives no answer.
    """
    began, refused = time.monotonic(), ""
    try:
        whole = await _answer(driver, PROMPT)
    except DriverProblem as problem:
        if problem.kind != "bad_request":
            raise
        refused = problem.why or problem.what
        whole = await _answer(driver, PLAIN)
    called = any(call.name == TOOL.name and call.malformed is None for call in whole.calls)
    return Tried(called, whole.tokens, round(time.monotonic() - began, 2), refused)


async def _answer(driver: Driver, prompt: Prompt) -> Completed:
    whole = Completed("")
    async for event in driver.stream(prompt):
        if isinstance(event, Completed):
            whole = event
    return whole
