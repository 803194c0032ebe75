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
from steersman.host.mcp import usable
from steersman.host.tokens import Holder
from steersman.host.workbench import Asked, Missing
from steersman.ports.http.layer import Nothing, operation
from steersman.ports.http.ranges import BYTES, Download
from steersman.ports.http.threads import Id, Name
from steersman.records.errors import Denied, ToolProblem

Folder = Annotated[
    str, Meta(min_length=1, max_length=4096, pattern="^/", description="An absolute path.")
]
Path = Annotated[str, Meta(min_length=1, max_length=4096, description="Relative to the workspace.")]
Place = Annotated[int, Meta(ge=1, le=2**53)]
Text = Annotated[str, Meta(max_length=16 << 20)]


class Wanted(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A folder, and a name for the call."""

    workspace: Folder
    id: Name = ""


async def _output(
    desk: Desk, caller: Holder, wanted: Wanted, tool: str, reads: bool = True, /, **arguments: Any
) -> Any:
    """What a tool gives; arguments that nobody gave are left out."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return await desk.bench.output(Asked(caller, wanted.workspace, tool, given, wanted.id, reads))


# Files


class Lines(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which lines of which file: 2,000 and 32 KB at most."""

    path: Path
    offset: Place | None = None
    limit: Place | None = None


class FileLines(Struct, frozen=True):
    """Lines of a file, each as number, tab, text; or the `error` that says what to ask for."""

    success: bool
    file_size: int = 0
    total_lines: int = 0
    lines_read: int = 0
    content: str = ""
    encoding: str = ""
    line_endings: str = ""
    note: str = ""
    error: str = ""


@operation("GET", "/read-file-lines", needs="read")
async def read_file_lines(desk: Desk, caller: Holder, params: Lines) -> FileLines:
    """Read lines of a text file: from `offset` (1) on, `limit` (2,000) of them."""
    try:
        given = await _output(
            desk, caller, params, "workspace_read_file",
            path=params.path, offset=params.offset, limit=params.limit,
        )  # fmt: skip
    except ToolProblem as problem:
        return FileLines(False, error=str(problem))
    return msgspec.convert(given, FileLines)


class Bytes(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which bytes of which file: from `offset` (0-based) on, 64 KB at most."""

    path: Path
    offset: Annotated[int, Meta(ge=0, le=2**53)] = 0
    limit: Annotated[int, Meta(ge=1, le=65536)] = 65536


class FilePart(Struct, frozen=True):
    """Bytes `offset` to `next_offset` of the `size` that a file has; secrets in it are masked.

    What is not text is `content` in base64.
    """

    size: int
    offset: int
    next_offset: int
    content: str
    encoding: Literal["utf-8", "base64"]


@operation("GET", "/read-file", needs="read")
async def read_file(desk: Desk, caller: Holder, params: Bytes) -> FilePart:
    """Read bytes of a file, as text or, where they are none, in base64."""
    given = await _output(
        desk, caller, params, "read_bytes",
        path=params.path, offset=params.offset, limit=params.limit,
    )  # fmt: skip
    return msgspec.convert(given, FilePart)


class Entries(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which folder, how many levels, only files like `glob`, also what `.gitignore` leaves out."""

    path: Path = "."
    depth: Annotated[int, Meta(ge=1, le=100)] | None = None
    glob: Annotated[str, Meta(max_length=1000)] = ""
    include_ignored: bool = False


class Listing(Struct, frozen=True):
    """Names below a folder: files with a tab and their bytes, folders with a slash."""

    files: list[str]
    total_files: int
    left_out: list[str] = []


@operation("GET", "/list", needs="read")
async def list_files(desk: Desk, caller: Holder, params: Entries) -> Listing:
    """List files and folders."""
    given = await _output(
        desk, caller, params, "workspace_list_files",
        path=params.path, depth=params.depth, glob=params.glob,
        include_ignored=params.include_ignored,
    )  # fmt: skip
    return msgspec.convert(given, Listing)


class NewContent(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which file, and all of its new content."""

    path: Path
    content: Text


class Written(Struct, frozen=True):
    """What was written; `unchanged` when the file had this content."""

    path: str
    bytes: int
    created: bool
    unchanged: bool = False


@operation("POST", "/write", needs="work")
async def write_file(desk: Desk, caller: Holder, body: NewContent, params: Nothing) -> Written:
    """Create a file, or replace all of its content."""
    given = await _output(
        desk, caller, body, "workspace_write_file", False, path=body.path, content=body.content
    )
    return msgspec.convert(given, Written)


class Edit(Struct, frozen=True, forbid_unknown_fields=True):
    """One replacement; `search` must name one place unless `replace_all` is set."""

    search: Text
    replace: Text
    replace_all: bool = False


class FileEdits(Struct, frozen=True, forbid_unknown_fields=True):
    """The replacements in one file, applied in order."""

    path: Path
    edits: Annotated[list[Edit], Meta(min_length=1, max_length=1000)]


class Edits(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Edits of files, all or none; with `include_diff` the answer has their diffs."""

    files: Annotated[list[FileEdits], Meta(min_length=1, max_length=1000)]
    include_diff: bool = False


class FileDiff(Struct, frozen=True):
    """A file that was changed, and how."""

    path: str
    diff: str = ""


class Edited(Struct, frozen=True, omit_defaults=True):
    """The diff of each file, if they were wanted."""

    files: list[FileDiff] = []


@operation("POST", "/edit-files", needs="work")
async def edit_files(desk: Desk, caller: Holder, body: Edits, params: Nothing) -> Edited:
    """Replace text in files, all edits or none."""
    given = await _output(
        desk, caller, body, "workspace_edit_files", False,
        files=msgspec.to_builtins(body.files), include_diff=body.include_diff,
    )  # fmt: skip
    return msgspec.convert(given, Edited) if body.include_diff else Edited()


# Commands


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


class OneFolder(Struct, frozen=True, forbid_unknown_fields=True):
    """A folder."""

    workspace: Folder


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


# MCP servers


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
    given = await _output(
        desk, caller, params, "mcp_list_tools", False,
        words=params.words, server=params.server, refresh=params.refresh,
    )  # fmt: skip
    return msgspec.convert(given, McpTools)


class McpCall(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which tool, as `server__tool`, and what it is given."""

    tool: Annotated[str, Meta(min_length=4, max_length=300, pattern="^.+__.+$")]
    arguments: dict[str, Any] = {}


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
    given = await _output(
        desk, caller, body, "mcp_call_tool", False,
        server=server, tool=body.tool, arguments=body.arguments,
    )  # fmt: skip
    return msgspec.convert(given, McpAnswer)


async def _servers(desk: Desk, caller: Holder, wanted: Wanted) -> set[str]:
    """The names of the servers that can be used in a folder."""
    folder = await desk.bench.folder(wanted.workspace, caller)
    found = await asyncio.to_thread(usable, desk.host, folder, desk.environ)
    return {server.name for server in found.servers if server.enabled}


# Knowing a folder


@operation("GET", "/context-config", needs="read")
async def show_context_config(desk: Desk, caller: Holder, params: OneFolder) -> ContextConfig:
    """Show where instructions, skills and MCP servers of the folder are looked for."""
    folder = await desk.bench.folder(params.workspace, caller)
    return await asyncio.to_thread(context_config, desk.host, folder, desk.environ)


class Query(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What text, and where; a regular expression if it is not `literal`."""

    query: Annotated[str, Meta(min_length=1, max_length=10_000)]
    path: Path = "."
    literal: bool = True
    case_sensitive: bool = True
    context: Annotated[int, Meta(ge=0, le=20)] = 0
    max_results: Annotated[int, Meta(ge=1, le=500)] = 100
    include_ignored: bool = False


class Hits(Struct, frozen=True):
    """Places by path and line; `total` counts matching lines."""

    results: list[dict[str, Any]]
    total: int
    files: int
    more: str = ""
    note: str = ""


@operation("GET", "/search", needs="read")
async def search(desk: Desk, caller: Holder, params: Query) -> Hits:
    """Find text in files."""
    names = [name for name in params.__struct_fields__ if name not in ("workspace", "id")]
    given = {name: getattr(params, name) for name in names}
    found = await _output(desk, caller, params, "workspace_search_files", **given)
    return msgspec.convert(found, Hits)


class Found(Struct, frozen=True):
    """Symbols, and the `backend` that knows them."""

    symbols: list[dict[str, Any]]
    total: int
    backend: str
    more: str = ""
    note: str = ""


class WantedSymbols(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A name below a path; without one, all symbols that the file at the path defines."""

    name: Annotated[str, Meta(max_length=300)] = ""
    path: Path = "."
    substring: bool = False
    body: bool = False
    depth: Annotated[int, Meta(ge=0, le=5)] | None = None


@operation("GET", "/symbols", needs="read")
async def symbols(desk: Desk, caller: Holder, params: WantedSymbols) -> Found:
    """Find definitions by name, or list those of a file."""
    if not params.name:
        given = await _output(
            desk, caller, params, "workspace_get_symbols_overview",
            path=params.path, depth=params.depth,
        )  # fmt: skip
    else:
        given = await _output(
            desk, caller, params, "workspace_find_symbol",
            name=params.name, path=params.path, substring=params.substring, body=params.body,
            depth=params.depth,
        )  # fmt: skip
    return msgspec.convert(given, Found)


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
