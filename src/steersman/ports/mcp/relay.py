"""The tools of configured MCP servers, offered as they are: through the gate and into the log.

Results reach the client as the servers sent them, less the secrets; what a server asks while it
works is asked of the client. A server alone keeps the names of its tools; of several, the tools
are called `server__tool`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from steersman.ports.mcp.calls import Calls, HostCall, Workbench
from steersman.ports.mcp.offer import Ended, Method, OfferedTool, Ongoing, ProtocolError
from steersman.records.errors import Denied
from steersman.records.mcp_tools import RemoteTool, Wishes
from steersman.records.message import ToolResult, WholeResult


class RelayedCall(HostCall):
    """A call of a server's tool, with its result as the server sent it."""

    def result(self, body: ToolResult) -> Ended:
        """What the server gave; when the call did not reach it, why."""
        if not isinstance(body, WholeResult):
            return super().result(body)
        whole = self._handle.redact(dict(body.whole))
        if isinstance(error := whole.get("error"), Mapping):
            refused = ProtocolError(error["code"], error["message"], error.get("data"))
            return Ended((), failed=True, error=refused)
        return Ended(
            whole.get("content") or (),
            whole.get("structuredContent"),
            failed=whole.get("isError") is True,
            meta=whole.get("_meta"),
        )


class Client:
    """What servers ask of a client, asked with the newest call under way."""

    def __init__(self) -> None:
        self.calls: Calls | None = None

    def wishes(self, abilities: frozenset[str]) -> Wishes:
        """What may be asked of a client with these abilities."""
        return Wishes(
            self.sample if "sampling/createMessage" in abilities else None,
            self.elicit if "elicitation/create" in abilities else None,
            self.roots if "roots/list" in abilities else None,
        )

    async def sample(self, server: str, request: Mapping[str, Any]) -> str:
        """Text of the client's model."""
        content = (await self._ask(server, "sampling/createMessage", request)).get("content")
        blocks = content if isinstance(content, list) else [content]
        texts = [block.get("text", "") for block in blocks if isinstance(block, Mapping)]
        return "\n".join(text for text in texts if isinstance(text, str))

    async def elicit(
        self, server: str, message: str, schema: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """Words of the client's person."""
        if schema.get("mode") == "url":
            raise Denied(f"{server} asked to open a page, which is not passed on.")
        form = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
        given = await self._ask(server, "elicitation/create", form)
        return str(given.get("action", "cancel")), dict(given.get("content") or {})

    async def roots(self, server: str) -> list[str]:
        """The client's folders."""
        given = await self._ask(server, "roots/list", {})
        return [str(root["uri"]) for root in given.get("roots", ()) if "uri" in root]

    async def _ask(
        self, server: str, method: Method, params: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        call = self.calls.get(self.calls.newest()) if self.calls else None
        given = await call.ask(method, params) if call is not None else None
        if given is None:
            raise Denied(f"The client does not answer {method} for {server}.")
        return given


class Relay(Workbench):
    """The tools of the servers that are configured for a workspace."""

    async def tools(self) -> Sequence[OfferedTool]:
        """What the servers have; one that fails is left out."""
        return [
            OfferedTool(name, tool.description, {**tool.parameters, "type": "object"}, tool.hints)
            for name, tool in (await self._found()).items()
        ]

    async def begin(
        self, tool: str, arguments: dict[str, Any], abilities: frozenset[str]
    ) -> Ongoing:
        """Start a call of a server's tool."""
        remote = (await self._found())[tool]
        calls = await self._thread(abilities)
        return await calls.begin(remote.call_name, arguments, RelayedCall)

    async def _open(self, abilities: frozenset[str], client: Wishes | None = None) -> Calls:
        asked = Client()
        asked.calls = await super()._open(abilities, asked.wishes(abilities))
        return asked.calls

    async def _found(self) -> dict[str, RemoteTool]:
        """The tools by the names that the client knows."""
        calls = await self._thread(next(iter(self._threads), frozenset()))
        gateway = self._host.servers(calls.thread)
        if gateway is None:
            return {}
        tools = (await gateway.find()).tools
        alone = len(gateway.enabled()) == 1
        return {tool.name if alone else tool.call_name: tool for tool in tools}
