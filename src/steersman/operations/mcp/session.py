"""A conversation with a server in the words of the protocol: the greeting, a list, a call.

The only place, with the transports and wishes, that loads the protocol library; whoever needs it
imports this module when a server is used.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mcp.client import ClientRequestContext, ClientSession
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    URL_ELICITATION_REQUIRED,
    CallToolResult,
    ElicitRequest,
    ErrorData,
    Implementation,
    InputRequests,
    InputRequiredResult,
    InputResponses,
    PaginatedRequestParams,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from steersman import __version__
from steersman.operations.mcp.eras import Era

PROBE = 1.5  # seconds in which a server of the newer era usually answers; then both are asked
KNOWN = 10.0  # the same for one that is known to be of the newer era
ROUNDS = 10
PAGES = 100
MOST_TOOLS = 2000
SESSION_GONE = "Session terminated"  # words of the library for what it cannot say otherwise
NO_ANSWER = ("Server returned an error response", "Failed to parse", "Unexpected content type")
STREAM_BROKEN = "SSE stream"
CLOSED = "Connection closed"
AGAIN = 5.0  # seconds before a lost subscription is renewed

for _name in ("mcp", "client", "httpx2", "httpcore2"):  # what they log may hold what is secret
    _logger = logging.getLogger(_name)
    _logger.addHandler(logging.NullHandler())
    _logger.propagate = False


class McpSession(ClientSession):
    """The library's session, which does not throw a result away because its form was announced."""

    def __init__(self, read: Any, write: Any, **callbacks: Any) -> None:
        about = Implementation(name="steersman", version=__version__)
        super().__init__(read, write, client_info=about, **callbacks)

    async def validate_tool_result(self, name: str, result: CallToolResult) -> None:
        """A result that does not fit its schema is still what the tool gave."""


async def greet(session: McpSession, era: Era | None) -> Era:
    """Find out how to talk with a server, beginning with what is remembered of it."""
    if era == "legacy":
        try:
            await session.initialize()
            return "legacy"
        except MCPError as error:  # it may have become another one
            with suppress(MCPError, ValidationError, RuntimeError):
                await session.discover()
                return "modern"
            raise error
    return await _ask_both(session, PROBE if era is None else KNOWN)


async def _ask_both(session: McpSession, alone: float) -> Era:
    """Ask in the newer way, and if no answer comes soon in the older way too; the first one counts.

    A server that does not know the newer question may say so, say nothing, or say something odd.
    """
    newer = asyncio.create_task(session.discover())
    older: asyncio.Task[Any] | None = None
    try:
        await asyncio.wait({newer}, timeout=alone)
        if newer.done() and newer.exception() is None:
            return "modern"
        older = asyncio.create_task(session.initialize())
        while not older.done() and not (newer.done() and newer.exception() is None):
            waiting = {task for task in (newer, older) if not task.done()}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if older.done() and (error := older.exception()) is not None:
            await _last_chance(session, newer, error)
    finally:
        for task in (newer, older):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait({task})
            if task is not None and not task.cancelled():
                task.exception()  # has been looked at
    return "modern" if session.discover_result is not None else "legacy"


async def _last_chance(session: McpSession, newer: asyncio.Task[Any], error: BaseException) -> None:
    """A server that started slowly may take the older greeting amiss after the newer one."""
    if not isinstance(error, MCPError) or error.code != UNSUPPORTED_PROTOCOL_VERSION:
        raise error
    if not newer.done():
        with suppress(MCPError, ValidationError, RuntimeError):
            await newer
    if session.discover_result is None:
        await session.discover()


async def list_tools(session: McpSession) -> list[Tool]:
    """All tools of a server, page by page, up to what is bearable."""
    tools: dict[str, Tool] = {}
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(PAGES):
        try:
            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and not tools:
                return []  # a server may have no tools
            raise
        for tool in page.tools:
            tools.setdefault(tool.name, tool)
        cursor = page.next_cursor
        if not cursor or cursor in seen or len(tools) >= MOST_TOOLS:
            break
        seen.add(cursor)
    return list(tools.values())[:MOST_TOOLS]


async def call_tool(
    session: McpSession, name: str, arguments: dict[str, Any], progress: ProgressFnT | None
) -> dict[str, Any]:
    """Call a tool and answer what the server asks before it gives a result; the result as JSON."""
    responses: InputResponses | None = None
    state: str | None = None
    for _ in range(ROUNDS + 1):
        result = await _send(session, name, arguments, progress, responses, state)
        if isinstance(result, CallToolResult):
            return result.model_dump(by_alias=True, mode="json", exclude_none=True)
        if result.input_requests:
            responses = await _answers(session, result.input_requests)
        else:
            responses = None
            await asyncio.sleep(0.2)  # the server is not ready yet
        state = result.request_state
    raise MCPError(0, f"It asked for more input over {ROUNDS} times.")


async def _send(
    session: McpSession,
    name: str,
    arguments: dict[str, Any],
    progress: ProgressFnT | None,
    responses: InputResponses | None,
    state: str | None,
) -> CallToolResult | InputRequiredResult:
    async def once() -> CallToolResult | InputRequiredResult:
        return await session.call_tool(
            name,
            arguments,
            progress_callback=progress,
            input_responses=responses,
            request_state=state,
            allow_input_required=True,
        )

    try:
        return await once()
    except MCPError as error:
        if error.code == URL_ELICITATION_REQUIRED:
            await _show_pages(session, error)
            raise
        # The server did nothing: headers that mirror arguments are known from its list only.
        if (
            error.code != HEADER_MISMATCH
            or session.protocol_version not in MODERN_PROTOCOL_VERSIONS
        ):
            raise
    await list_tools(session)
    return await once()


async def _show_pages(session: McpSession, error: MCPError) -> None:
    """A person is to open pages before the call can be made again; whoever called decides that."""
    with suppress(ValueError):
        for page in UrlElicitationRequiredError.from_error(error.error).elicitations[:ROUNDS]:
            context = ClientRequestContext(session=session, request_id=page.url)
            await session.dispatch_input_request(context, ElicitRequest(params=page))


async def _answers(session: McpSession, requests: InputRequests) -> InputResponses:
    """Answer all that a server asks in one round; a refusal ends the call."""
    answers: InputResponses = {}
    for key, request in requests.items():
        meta = request.params.meta if request.params else None
        context = ClientRequestContext(session=session, request_id=key, meta=meta)
        answer = await session.dispatch_input_request(context, request)
        if isinstance(answer, ErrorData):
            raise MCPError.from_error_data(answer)
        answers[key] = answer
    return answers


def forgotten(error: Exception) -> bool:
    """True when a server at an address says that it never heard of us: it did nothing."""
    return isinstance(error, MCPError) and error.error.message == SESSION_GONE


def cut_off(error: Exception) -> bool:
    """True when the line was cut before an answer came."""
    return (
        isinstance(error, MCPError)
        and error.error.code == CONNECTION_CLOSED
        and error.error.message.startswith((CLOSED, STREAM_BROKEN))
    )


def fault(error: BaseException) -> str:
    """What is wrong with an answer, without anything of it: it may be cut through a secret."""
    if isinstance(error, ValidationError):
        places = [".".join(map(str, one["loc"])) for one in error.errors(include_input=False)]
        return f"These parts of it are wrong: {', '.join(dict.fromkeys(places[:10]))}."
    lines = str(error).splitlines()
    said = lines[0] if lines else type(error).__name__
    return said if isinstance(error, MCPError) else f"{type(error).__name__}: {said}"


def refusal(error: Exception) -> str | None:
    """An error that a server gave as its answer, in words; None for one of the line."""
    if not isinstance(error, MCPError) or forgotten(error) or cut_off(error):
        return None
    message = error.error.message
    if message.startswith(NO_ANSWER):
        return None
    return f"{message} ({error.error.code})"


def said(error: Exception) -> dict[str, Any]:
    """An error that a server gave as its answer, as it sent it."""
    assert isinstance(error, MCPError)
    return error.error.model_dump(by_alias=True, mode="json", exclude_none=True)


async def follow_changes(session: McpSession, changed: Callable[[], None]) -> None:
    """In the newer era changes of the list come only to those who ask for them."""
    capabilities = session.server_capabilities
    tools = capabilities.tools if capabilities else None
    if session.discover_result is None or tools is None or not tools.list_changed:
        return
    while True:
        try:
            async with listen(session, tools_list_changed=True) as events:
                async for _ in events:  # what comes, `Traffic` has seen already
                    pass
            return  # the server closed it in good order
        except (MCPError, RuntimeError) as error:
            if not isinstance(error, SubscriptionLost):
                return
        await asyncio.sleep(AGAIN)
        changed()  # something may have been missed
