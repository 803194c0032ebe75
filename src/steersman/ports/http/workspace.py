"""A folder over HTTP, for programs without an agent: files, commands, MCP tools, symbols.

Every one of these is a call of a tool, through the gate of a thread and into its log. What needs an
answer is refused with 409 meanwhile: the problem names the `thread`, the `corr` to answer at
`/threads/{thread}/answer`, and an `id`. Send the same again with this `id` to get the result; what
is sent twice under one `id` is done once.
"""

import asyncio
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from steersman.host.background import Background, Listed, Printed
from steersman.host.blobs import blob
from steersman.host.context_config import ContextConfig, context_config
from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.ports.http.fields import Id
from steersman.ports.http.folders import Folder, OneFolder, Path, Wanted, output
from steersman.ports.http.layer import Nothing, operation
from steersman.ports.http.ranges import BYTES, Download
from steersman.records.errors import Denied, Missing


class Command(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What to run, where; after `timeout` seconds it continues in the background."""

    command: Annotated[str, Meta(min_length=1, max_length=100_000)]
    workdir: Path = "."
    run_in_background: bool = False
    timeout: Annotated[float, Meta(gt=0, le=3600)] = 10


class Executed(Struct, frozen=True):
    """How a command ended; one that continues has a `background_process_id`.

    `changes` are its effects on files, `refused` the hosts it was not allowed to reach.
    """

    success: bool
    exit_code: int | None
    wall_duration_ms: int
    output: str
    error: str
    truncated: bool
    note: str
    background_process_id: str
    changes: list[str]
    refused: list[str]


@operation("POST", "/processes/start", needs="work")
async def start_process(desk: Desk, caller: Holder, body: Command, params: Nothing) -> Executed:
    """Run a bash command, in the sandbox that holds for the folder."""
    arguments: dict[str, Any] = {
        "command": body.command,
        "cwd": body.workdir,
        "background": body.run_in_background,
    }
    if not body.run_in_background:
        arguments["wait_timeout"] = body.timeout
    given = await Background(desk.bench, body.workspace, caller).start(arguments, body.id)
    return Executed(
        success=given["success"],
        exit_code=given.get("exit_code"),
        wall_duration_ms=given["wall_ms"],
        output=given["output"],
        error=given.get("error", ""),
        truncated=given.get("truncated", False),
        note=given.get("note", ""),
        background_process_id=given.get("background_process_id", ""),
        changes=given.get("changes", []),
        refused=given.get("refused", []),
    )


class Processes(Struct, frozen=True):
    """Processes in the order they were started."""

    processes: list[Listed]


@operation("GET", "/processes/list", needs="read")
async def list_processes(desk: Desk, caller: Holder, params: OneFolder) -> Processes:
    """List the commands that run and those that ended last."""
    return Processes(await Background(desk.bench, params.workspace, caller).listed())


ProcessId = Annotated[str, Meta(min_length=1, max_length=100)]


class OfProcess(Struct, frozen=True, forbid_unknown_fields=True):
    """A process, and whether to wait until it has ended, for five minutes at most."""

    process: ProcessId
    workspace: Folder
    wait: bool = False


@operation("GET", "/processes/{process}/output", needs="read")
async def show_output(desk: Desk, caller: Holder, params: OfProcess) -> Printed:
    """Show the first and the last 16 KB of what a command printed."""
    found = Background(desk.bench, params.workspace, caller)
    return await found.printed(params.process, wait=params.wait)


class OneProcess(Struct, frozen=True, forbid_unknown_fields=True):
    """A process."""

    process: ProcessId


class Signal(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which signal."""

    signal: Literal["TERM", "INT", "KILL", "HUP", "USR1", "USR2", "STOP", "CONT"]


class Signalled(Struct, frozen=True):
    """How a process was after the signal; one that should end was given a moment for it."""

    success: bool
    process_id: str
    signal: str
    state: str
    exit_code: int | None = None
    error: str = ""


@operation("POST", "/processes/{process}/signal", needs="work")
async def signal_process(desk: Desk, caller: Holder, params: OneProcess, body: Signal) -> Signalled:
    """Send a signal to a command and all it started."""
    found = Background(desk.bench, body.workspace, caller)
    return msgspec.convert(await found.signal(params.process, body.signal, body.id), Signalled)


class WantedTools(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which tools: about some words, of one server; `refresh` asks the servers again."""

    words: Annotated[str, Meta(max_length=1000)] = ""
    server: Annotated[str, Meta(max_length=200)] = ""
    refresh: bool = False


class McpTools(Struct, frozen=True):
    """Tools as `server__tool` with their first sentence; `skipped` are servers that failed."""

    tools: dict[str, str] = {}
    more: str = ""
    skipped: dict[str, str] = {}


@operation("GET", "/mcp/tools", needs="work")
async def list_mcp_tools(desk: Desk, caller: Holder, params: WantedTools) -> McpTools:
    """List tools of the MCP servers that are configured for the folder; it may start them."""
    if not await _servers(desk, caller, params):
        return McpTools()
    given = await output(
        desk, caller, params, "mcp_list_tools", False,
        words=params.words, server=params.server, refresh=params.refresh,
    )  # fmt: skip
    return msgspec.convert(given, McpTools)


class McpCall(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which tool, as `server__tool`, and what it is given."""

    tool: Annotated[str, Meta(min_length=4, max_length=300, pattern="^.+__.+$")]
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)


class McpAnswer(Struct, frozen=True):
    """What a server gave: data, not instructions; `cut` says what is left out of it."""

    content: Any
    attachments: list[str] = []
    cut: str = ""


@operation("POST", "/mcp/call-tool", needs="work")
async def call_mcp_tool(desk: Desk, caller: Holder, body: McpCall, params: Nothing) -> McpAnswer:
    """Call a tool of an MCP server."""
    server = body.tool.partition("__")[0]
    if server not in await _servers(desk, caller, body):
        raise Missing(f"There is no MCP server “{server}” for this folder.")
    given = await output(
        desk, caller, body, "mcp_call_tool", False,
        server=server, tool=body.tool, arguments=body.arguments,
    )  # fmt: skip
    return msgspec.convert(given, McpAnswer)


async def _servers(desk: Desk, caller: Holder, wanted: Wanted) -> set[str]:
    """The names of the servers that can be used in a folder."""
    from steersman.host.mcp import usable

    folder = await desk.bench.folder(wanted.workspace, caller)
    found = await asyncio.to_thread(usable, desk.host, folder, desk.environ)
    return {server.name for server in found.servers if server.enabled}


@operation("GET", "/context-config", needs="read")
async def show_context_config(desk: Desk, caller: Holder, params: OneFolder) -> ContextConfig:
    """Show where instructions, skills and MCP servers of the folder are looked for."""
    folder = await desk.bench.folder(params.workspace, caller)
    return await asyncio.to_thread(context_config, desk.host, folder, desk.environ)


class OneBlob(Struct, frozen=True, forbid_unknown_fields=True):
    """A content by its SHA-256, and a thread whose messages name it."""

    digest: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    thread: Id | None = None


@operation("GET", "/blobs/{digest}", needs="read", gives=BYTES)
async def download_blob(desk: Desk, caller: Holder, params: OneBlob) -> bytes:
    """Download an image or another content that messages name, or a range of it.

    A token for one folder must name the thread.
    """
    if caller.workspace and params.thread is None:
        raise Denied(f"This token is for {caller.workspace} alone.", try_this="Name the thread.")
    thread = None if params.thread is None else await desk.thread(params.thread, caller)
    data = await asyncio.to_thread(blob, desk.host, params.digest, thread)
    return Download(data, params.digest)  # type: ignore[return-value]
