"""The files of a folder over HTTP: read, listed, written, edited, searched."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.ports.http.folders import Path, Place, Text, Wanted, output
from steersman.ports.http.layer import Nothing, operation
from steersman.records.errors import ToolProblem


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
        given = await output(
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
    given = await output(
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
    given = await output(
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
    given = await output(
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
    given = await output(
        desk, caller, body, "workspace_edit_files", False,
        files=msgspec.to_builtins(body.files), include_diff=body.include_diff,
    )  # fmt: skip
    return msgspec.convert(given, Edited) if body.include_diff else Edited()


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
    found = await output(desk, caller, params, "workspace_search_files", **given)
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
        given = await output(
            desk, caller, params, "workspace_get_symbols_overview",
            path=params.path, depth=params.depth,
        )  # fmt: skip
    else:
        given = await output(
            desk, caller, params, "workspace_find_symbol",
            name=params.name, path=params.path, substring=params.substring, body=params.body,
            depth=params.depth,
        )  # fmt: skip
    return msgspec.convert(given, Found)
