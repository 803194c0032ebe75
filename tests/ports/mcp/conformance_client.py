"""Our client as the conformance suite drives it: `python -m …conformance_client SOCKET`.

The suite starts `conformance_call.py` for each scenario, with its name in MCP_CONFORMANCE_SCENARIO,
and watches what arrives at its server. To load our client takes longer than a scenario does, so it
is loaded once, here, and a copy of the process does each scenario. All that is sent is sent by
`operations/mcp/connection.py`; where a server needs a sign-in, by `operations/mcp/signing_in.py`,
as `steer mcp login` does it, with a person who goes wherever the browser is led and agrees.
"""

import asyncio
import contextlib
import io
import json
import os
import socket
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn, TypeVar
from urllib.request import urlopen

import msgspec

from steersman.operations.mcp.connection import Connection
from steersman.operations.mcp.eras import Eras
from steersman.operations.mcp.forms import fields, filled
from steersman.operations.mcp.signing_in import sign_in
from steersman.operations.mcp.starting import Ground
from steersman.operations.mcp.tokens import SignIns, SignInWanted
from steersman.operations.running.command_run import CommandRun
from steersman.operations.running.companions import Companions
from steersman.operations.running.guardian import Guardian
from steersman.records.mcp_server import OAuth, Server
from steersman.records.mcp_tools import Outcome, RemoteTool, ServerProblem, Wishes

AT_ONCE = 2
T = TypeVar("T")
DOCUMENT = "https://conformance-test.local/client-metadata.json"
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


async def nowhere(environ: Mapping[str, str]) -> CommandRun:
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
            signing_in = scenario.startswith("auth/")
            return CALLS.get(scenario, [(tool.name, {}) for tool in tools] if signing_in else [])


def stubs(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that fit, more or less."""
    properties = schema.get("properties", {})
    return {
        name: STUBS.get(properties.get(name, {}).get("type"), "x")
        for name in schema.get("required", ())
    }


def oauth(scenario: str) -> OAuth:
    """What an entry says of signing in."""
    given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    known = OAuth(
        client_id=given.get("client_id", ""),
        client_secret=given.get("client_secret", ""),
        private_key=given.get("private_key_pem", ""),
        algorithm=given.get("signing_algorithm", ""),
        issuer=given.get("issuer", ""),
    )
    if scenario == "auth/basic-cimd":
        return OAuth(client_id=DOCUMENT)
    if scenario.startswith("auth/client-credentials-"):
        return msgspec.structs.replace(known, grant="client_credentials")
    return known if scenario == "auth/pre-registration" else OAuth()


async def browse(address: str) -> None:
    """A browser in which somebody agrees to everything."""
    asyncio.get_running_loop().run_in_executor(None, lambda: urlopen(address, timeout=20).read())


class Person:
    """Uses a server, and signs in when it says so."""

    def __init__(self, connection: Connection, sign_ins: SignIns) -> None:
        self._connection = connection
        self._sign_ins = sign_ins
        self._patience = 2

    async def tools(self) -> list[RemoteTool]:
        return await self._signed_in(self._connection.tools)

    async def call(self, name: str, arguments: dict[str, Any]) -> Outcome:
        return await self._signed_in(lambda: self._connection.call(name, arguments))

    async def _signed_in(self, use: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await use()
            except SignInWanted as wanted:
                print(wanted, file=sys.stderr)
                if self._patience == 0:
                    raise
                self._patience -= 1
                await sign_in(self._connection.server, self._sign_ins, browse, patience=20)


async def main(url: str, scenario: str) -> None:
    here = os.getcwd()
    guardian = Guardian()
    companions = Companions(guardian, here, nowhere)
    server = Server("suite", "http", url=url, timeout=20, oauth=oauth(scenario))
    wishes = Wishes(sample, elicit, roots)
    sign_ins = SignIns(None)
    ground = Ground(here, os.environ)
    connection = Connection(server, companions, Eras(None), wishes, ground, sign_ins)
    person = Person(connection, sign_ins)
    try:
        tools = await person.tools()
        for name, arguments in calls(scenario, tools):
            try:
                print(name, await person.call(name, arguments), file=sys.stderr)
            except ServerProblem as problem:
                print(name, problem, file=sys.stderr)
    except ServerProblem as problem:
        sys.exit(str(problem))
    finally:
        await connection.stop()
        await companions.close()
        guardian.close()


def serve(path: str) -> None:
    """Do the scenarios that come, a few at a time, each in a process of its own."""
    running: set[int] = set()
    with socket.socket(socket.AF_UNIX) as place:
        place.bind(path)
        place.listen(100)
        print(path, flush=True)
        while True:
            line, _ = place.accept()
            while len(running) >= AT_ONCE:
                running.discard(os.wait()[0])
            child = os.fork()
            if child == 0:
                place.close()
                work(line)
            line.close()
            running.add(child)


def work(line: socket.socket) -> NoReturn:
    """Do one scenario, and say how it ended."""
    code, said = 1, io.StringIO()
    try:
        asked = json.loads(b"".join(iter(lambda: line.recv(65536), b"")))
        os.environ.update(asked["environ"])
        with contextlib.redirect_stderr(said):
            asyncio.run(main(asked["url"], os.environ["MCP_CONFORMANCE_SCENARIO"]))
        code = 0
    except SystemExit as end:
        said.write(str(end))
    except BaseException:
        said.write(traceback.format_exc())
    finally:
        with contextlib.suppress(OSError):
            line.sendall(f"{code}\n{said.getvalue()}".encode())
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
