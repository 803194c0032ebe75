"""Our client as the conformance suite drives it: `python -m …conformance_client URL`.

The suite starts this once for a scenario, whose name is in MCP_CONFORMANCE_SCENARIO, and watches
what arrives at its server. All that is sent is sent by `operations/mcp/connection.py`.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from steersman.operations.mcp.connection import Connection
from steersman.operations.mcp.eras import Eras
from steersman.operations.mcp.forms import fields, filled
from steersman.operations.mcp.records import RemoteTool, ServerProblem, Wishes
from steersman.operations.running.companions import Companions
from steersman.operations.running.ground import Ground
from steersman.operations.running.reaper import Reaper
from steersman.servers import Server

STUBS: dict[str, Any] = {"string": "x", "integer": 0, "number": 0, "boolean": False, "array": []}
CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "tools_call": [("add_numbers", {"a": 5, "b": 3})],
    "request-metadata": [("add_numbers", {"a": 5, "b": 3})],
    "sse-retry": [("test_reconnection", {})],
    "elicitation-sep1034-client-defaults": [("test_client_elicitation_defaults", {})],
    "sep-2322-client-request-state": [
        ("test_mrtr_echo_state", {}),
        ("test_mrtr_unrelated", {}),
        ("test_mrtr_no_state", {}),
        ("test_mrtr_no_result_type", {}),
    ],
}


async def elicit(
    server: str, message: str, schema: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """A person who agrees: takes what is suggested, and says yes where nothing is."""
    content: dict[str, Any] = {}
    for field in fields(schema):
        value = filled(field, field.default or ("yes" if "yes" in field.options else ""))
        if value is not None:
            content[field.name] = value
    return "accept", content


async def sample(server: str, request: Mapping[str, Any]) -> str:
    return "hello"


async def roots(server: str) -> list[str]:
    return []


async def nowhere(environ: Mapping[str, str]) -> Ground:
    raise AssertionError("nothing is started here")


def calls(scenario: str, tools: list[RemoteTool]) -> list[tuple[str, dict[str, Any]]]:
    """What is called in a scenario."""
    named = {tool.name: tool for tool in tools}
    match scenario:
        case "json-schema-2020-12-preservation":
            schema = named["json_schema_2020_12_tool"].parameters
            return [("json_schema_echo", {"schema": schema})]
        case "http-custom-headers":
            asked = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]
            return [(one["name"], one.get("arguments") or {}) for one in asked]
        case "http-standard-headers" | "http-invalid-tool-headers":
            return [(tool.name, stubs(tool.parameters)) for tool in tools]
        case _:
            return CALLS.get(scenario, [])


def stubs(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that fit, more or less."""
    properties = schema.get("properties", {})
    return {
        name: STUBS.get(properties.get(name, {}).get("type"), "x")
        for name in schema.get("required", ())
    }


async def main(url: str, scenario: str) -> None:
    here = os.getcwd()
    reaper = Reaper()
    companions = Companions(reaper, here, nowhere)
    server = Server("suite", "http", url=url, timeout=20)
    wishes = Wishes(sample, elicit, roots)
    connection = Connection(server, companions, Eras(None), wishes, os.environ, here)
    try:
        tools = await connection.tools()
        for name, arguments in calls(scenario, tools):
            try:
                print(name, await connection.call(name, arguments), file=sys.stderr)
            except ServerProblem as problem:
                print(name, problem, file=sys.stderr)
    finally:
        await connection.stop()
        await companions.close()
        reaper.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1], os.environ["MCP_CONFORMANCE_SCENARIO"]))
