"""`mcp_call_tool`: the generic way to call a tool of an MCP server."""

from typing import Annotated, Any

from msgspec import Meta, field
from msgspec.structs import replace

from steersman.operations.mcp.gateway import Gateway
from steersman.operations.tool import Answered, Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.mcp_remote import answered
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import McpCall
from steersman.records.dialogue import Call


class CallToolArgs(Arguments, frozen=True):
    """Which tool of which server, and what it is given."""

    server: Annotated[str, Meta(min_length=1)]
    tool: Annotated[str, Meta(min_length=1)]
    arguments: dict[str, Any] = field(default_factory=dict)


class CallTool(Tool[CallToolArgs]):
    """Call a tool of an MCP server without selecting it first."""

    name = "mcp_call_tool"
    family = Family.RUN
    Args = CallToolArgs

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def parse(self, call: Call) -> CallToolArgs:
        """The arguments with the tool's own name, found once: a list may change until it runs."""
        args = super().parse(call)
        return replace(args, tool=self._short(args))

    async def plan(self, args: CallToolArgs, workspace: PlanningWorkspace) -> Plan[CallToolArgs]:
        """The call, with what hints and rules say of it; an unknown tool may change things."""
        effect = self._gateway.effect(args.server, args.tool)
        return Plan(args, [McpCall(args.server, args.tool, args.arguments, effect)])

    async def perform(self, plan: Plan[CallToolArgs], bench: Bench) -> Answered:
        """Make the call."""
        args = plan.args
        outcome = await self._gateway.call(args.server, args.tool, args.arguments, bench.progress)
        return answered(args.server, args.tool, outcome)

    def _short(self, args: CallToolArgs) -> str:
        """The tool's own name, also when it was named as in a list: `server__tool`."""
        if not args.tool.startswith(f"{args.server}__"):
            return args.tool
        known = self._gateway.tool(args.tool)
        return known.name if known else args.tool.removeprefix(f"{args.server}__")
