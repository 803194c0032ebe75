"""An offer served with the protocol's library, to clients of both eras.

In the older era a call that needs something asks while it runs; in the newer one it answers with
what it needs and is sent again (`rounds.py`).
"""

import warnings
from collections.abc import Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from steersman import __version__
from steersman.ports.mcp.offer import (
    Asked,
    Ended,
    Offer,
    OfferedTool,
    Ongoing,
    ProtocolError,
    Said,
    Shown,
)
from steersman.ports.mcp.rounds import Rounds, Unknown
from steersman.ports.mcp.words import failure
from steersman.records.errors import SteersmanError

Context = ServerRequestContext[Any, Any]
INSTRUCTIONS = (
    "Tools of a Steersman workspace. Every call passes the workspace's own policy: some need the "
    "user's approval, which is requested through elicitation, and some are refused with a reason."
)
_CONTENT: TypeAdapter[types.ContentBlock] = TypeAdapter(types.ContentBlock)
_REQUESTS: dict[str, TypeAdapter[Any]] = {
    "elicitation/create": TypeAdapter(types.ElicitRequest),
    "sampling/createMessage": TypeAdapter(types.CreateMessageRequest),
    "roots/list": TypeAdapter(types.ListRootsRequest),
}
_ANSWERS: dict[str, type[types.Result]] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResultWithTools,
    "roots/list": types.ListRootsResult,
}


class Serving:
    """One offer for any number of clients."""

    def __init__(self, offer: Offer, *, name: str = "steersman") -> None:
        self._offer = offer
        self._rounds = Rounds()
        self._schemas: dict[str, Mapping[str, Any]] = {}
        self.server: Server[Any] = Server(
            name,
            version=__version__,
            instructions=INSTRUCTIONS,
            get_tool_input_schema=self._schemas.get,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def close(self) -> None:
        """End the calls that still wait for someone."""
        await self._rounds.close()

    async def _tools(self) -> dict[str, OfferedTool]:
        found = {tool.name: tool for tool in await self._offer.tools()}
        self._schemas.clear()
        self._schemas.update({name: tool.parameters for name, tool in found.items()})
        return found

    async def _list(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "There are no further pages.")
        return types.ListToolsResult(tools=[described(t) for t in (await self._tools()).values()])

    async def _call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if params.request_state is not None:
            call, missing = self._resumed(params, params.request_state)
            if missing:
                return self._suspended(call, params, missing)
            return await self._follow(ctx, call, params)
        if params.name not in await self._tools():
            raise MCPError(types.INVALID_PARAMS, f"There is no tool “{params.name}”.")
        try:
            call = await self._offer.begin(params.name, params.arguments or {}, abilities(ctx))
        except ProtocolError as error:
            raise MCPError(error.code, error.message, error.data) from None
        except SteersmanError as problem:
            return _result(failure(str(problem)))
        return await self._follow(ctx, call, params)

    async def _follow(
        self, ctx: Context, call: Ongoing, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Pass on what happens until the call has ended, or needs the client's next request."""
        progress = ProgressCount()
        asked: dict[str, Asked] = {}
        try:
            while True:
                event = call.more() if asked else await call.next()
                match event:
                    case None:
                        return self._suspended(call, params, asked)
                    case Ended(error=ProtocolError() as error):
                        raise MCPError(error.code, error.message, error.data)
                    case Ended():
                        return _result(event)
                    case Asked() if event.method not in abilities(ctx):
                        call.answer(event.key, None)
                    case Asked() if _is_modern(ctx):
                        asked[event.key] = event
                    case Asked():
                        call.answer(event.key, await _ask(ctx, event))
                    case Shown() | Said():
                        await _tell(ctx, event, progress)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await call.cancel()
            raise

    def _suspended(
        self, call: Ongoing, params: types.CallToolRequestParams, asked: Mapping[str, Asked]
    ) -> types.InputRequiredResult:
        word = self._rounds.suspend(call, params.name, params.arguments or {}, asked)
        return types.InputRequiredResult(
            input_requests={key: _request(request) for key, request in asked.items()},
            request_state=word,
        )

    def _resumed(
        self, params: types.CallToolRequestParams, word: str
    ) -> tuple[Ongoing, dict[str, Asked]]:
        """The call that waits, given its answers, and what of it is still not answered."""
        try:
            waiting = self._rounds.resume(word, params.name, params.arguments or {})
        except Unknown:
            raise MCPError(
                types.INVALID_PARAMS,
                "No call of this kind waits under that requestState: it was answered, was "
                "abandoned, or belongs to another call.",
            ) from None
        responses = params.input_responses or {}
        missing = {key: one for key, one in waiting.asked.items() if key not in responses}
        for key in waiting.asked.keys() - missing.keys():
            waiting.call.answer(key, _plain(responses[key]))
        return waiting.call, missing


class ProgressCount:
    """Numbers for progress that only has words: each is greater than the one before."""

    def __init__(self) -> None:
        self._count = 0.0

    def next(self, given: float | None) -> float:
        """The number to send."""
        self._count = self._count + 1 if given is None else given
        return self._count


def described(tool: OfferedTool) -> types.Tool:
    """A tool in the library's words."""
    return types.Tool(
        name=tool.name,
        title=tool.title or None,
        description=tool.description,
        input_schema=dict(tool.parameters),
        output_schema=dict(tool.output) if tool.output is not None else None,
        annotations=types.ToolAnnotations.model_validate(dict(tool.hints)) if tool.hints else None,
    )


def abilities(ctx: Context) -> frozenset[str]:
    """The methods of requests that this client answers."""
    can = ctx.session.client_capabilities
    if can is None or not (_is_modern(ctx) or ctx.session.can_send_request):
        return frozenset()
    form = can.elicitation is not None and (
        can.elicitation.form is not None or can.elicitation.url is None
    )
    found = {
        "elicitation/create": form,
        "sampling/createMessage": can.sampling is not None,
        "roots/list": can.roots is not None,
    }
    return frozenset(method for method, able in found.items() if able)


def _is_modern(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _request(asked: Asked) -> Any:
    adapter = _REQUESTS[asked.method]
    return adapter.validate_python({"method": asked.method, "params": dict(asked.params)})


async def _ask(ctx: Context, asked: Asked) -> Mapping[str, Any] | None:
    """Ask while the call runs; None when the client gives no answer."""
    place = ServerMessageMetadata(related_request_id=ctx.request_id)
    try:
        answer = await ctx.session.send_request(
            _request(asked), _ANSWERS[asked.method], metadata=place
        )
    except (MCPError, ValidationError):
        return None
    return _plain(answer)


async def _tell(ctx: Context, event: Shown | Said, progress: ProgressCount) -> None:
    match event:
        case Shown(text=text, done=done, total=total):
            await ctx.session.report_progress(progress.next(done), total, text or None)
        case Said(level=level, data=data, logger=logger):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                await ctx.session.send_log_message(
                    level, data, logger, related_request_id=ctx.request_id
                )


def _plain(answer: types.Result) -> Mapping[str, Any]:
    return answer.model_dump(by_alias=True, mode="json", exclude_none=True)


def _result(event: Ended) -> types.CallToolResult:
    return types.CallToolResult(
        content=[_CONTENT.validate_python(dict(block)) for block in event.content],
        structured_content=event.structured,
        is_error=event.failed,
        _meta=dict(event.meta) if event.meta else None,
    )
