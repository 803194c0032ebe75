"""What a server asks of the host, answered as the thread's `Wishes` say, in both eras.

Nothing is offered that nobody answers: a server learns of sampling, questions and roots only when
there is someone for them. Whoever refuses does so by raising; the server learns that, not why.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any

from mcp.client import ClientRequestContext
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    Root,
    TextContent,
)
from pydantic import FileUrl, ValidationError

from steersman.operations.mcp.traffic import Allowance
from steersman.records.errors import SteersmanError
from steersman.records.mcp_tools import Wishes

REFUSED = -1  # what the protocol says of a person's no
TOGETHER = 4  # wishes answered at the same time
WAITING = 16  # and those that wait; more are refused
WISHES, WISHES_RATE = 100, 1.0  # how many at once in all, and how many more in every second
SAMPLES, SAMPLES_RATE = 25, 1 / 30  # of them, answers of a model, which cost
MODEL = "steersman"
ACTIONS = ("accept", "decline", "cancel")

Pause = Callable[[], AbstractContextManager[None]]


class Granting:
    """The callbacks of one connection. `pause` stops the clocks of calls while a wish is open."""

    def __init__(self, server: str, wishes: Wishes, pause: Pause) -> None:
        self._server = server
        self._wishes = wishes
        self._pause = pause
        self._room = asyncio.Semaphore(TOGETHER)
        self._open = 0
        self._wished = Allowance(WISHES, WISHES_RATE, time.monotonic)
        self._sampled = Allowance(SAMPLES, SAMPLES_RATE, time.monotonic)

    def callbacks(self) -> dict[str, Any]:
        """What the protocol library is given; what is missing is not offered to the server."""
        wishes = self._wishes
        return {
            "sampling_callback": self.sample if wishes.sample else None,
            "elicitation_callback": self.elicit if wishes.elicit else None,
            "list_roots_callback": self.roots if wishes.roots else None,
        }

    async def sample(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        """Text of a model for the server."""
        ask = self._wishes.sample
        assert ask is not None
        request = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        request.pop("_meta", None)
        if not self._sampled.take():
            return ErrorData(code=INVALID_REQUEST, message="The host got too many requests.")
        text = await self._answered("sampling", lambda: ask(self._server, request))
        if isinstance(text, ErrorData):
            return text
        return CreateMessageResult(
            role="assistant",
            content=TextContent(type="text", text=text),
            model=MODEL,
            stop_reason="endTurn",
        )

    async def elicit(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        """A person's answer; a page to be opened comes as a schema with `mode` and `url` only."""
        ask = self._wishes.elicit
        assert ask is not None
        schema: dict[str, Any]
        if isinstance(params, ElicitRequestURLParams):
            schema = {"mode": "url", "url": params.url}
        else:
            schema = dict(params.requested_schema)
        message = params.message
        answer = await self._answered("the question", lambda: ask(self._server, message, schema))
        if isinstance(answer, ErrorData):
            return answer
        action, content = answer
        if action not in ACTIONS:
            return ErrorData(code=INTERNAL_ERROR, message="The answer could not be read.")
        wanted = action == "accept" and "mode" not in schema
        try:
            return ElicitResult(action=action, content=content if wanted else None)
        except ValidationError:
            return ErrorData(code=INTERNAL_ERROR, message="The answer does not fit the question.")

    async def roots(self, context: ClientRequestContext) -> ListRootsResult | ErrorData:
        """The folders the server may work in."""
        ask = self._wishes.roots
        assert ask is not None
        found = await self._answered("roots", lambda: ask(self._server))
        if isinstance(found, ErrorData):
            return found
        return ListRootsResult(roots=[Root(uri=FileUrl(uri)) for uri in found])

    async def _answered(self, what: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """What the host answers, or an error that says no without saying why."""
        async with self._place() as place:
            if not place or not self._wished.take():
                return ErrorData(code=INVALID_REQUEST, message="Too many requests are open.")
            try:
                return await ask()
            except SteersmanError:
                return ErrorData(code=REFUSED, message=f"The host refused {what}.")
            except Exception:  # whatever went wrong there is no business of the server
                return ErrorData(code=INTERNAL_ERROR, message=f"The host failed at {what}.")

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[bool]:
        if self._open >= TOGETHER + WAITING:
            yield False
            return
        self._open += 1
        try:
            with self._pause():
                async with self._room:
                    yield True
        finally:
            self._open -= 1
