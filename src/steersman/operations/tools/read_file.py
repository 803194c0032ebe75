"""`workspace_read_file`."""

import asyncio
import os
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from steersman.operations.finding import reading
from steersman.operations.finding.reading import LARGEST_FILE, MOST_BYTES, MOST_LINES, Page, Shape
from steersman.operations.finding.records import readable
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import List, Read
from steersman.records.counting import counted
from steersman.records.errors import ToolProblem
from steersman.records.wording import NEXT_LINES

MOST_FOLDERS = 300


class FileLines(Struct, frozen=True, omit_defaults=True):
    """Lines of a file, each as number, tab, text; UTF-8 and LF are not mentioned."""

    success: bool
    file_size: int
    total_lines: int
    lines_read: int
    content: str
    encoding: str = ""
    line_endings: str = ""
    note: str = ""


class ReadFileArgs(Arguments, frozen=True):
    """Which lines of which file."""

    path: Annotated[str, Meta(description="file, relative to the workspace")]
    offset: Annotated[int, Meta(ge=1, description="first line, 1-based")] | UnsetType = UNSET
    limit: (
        Annotated[int, Meta(ge=1, description=f"how many lines, {MOST_LINES:,} at most")]
        | UnsetType
    ) = UNSET


class ReadFile(Tool[ReadFileArgs]):
    """Read lines of a text file in the workspace, each shown as number, tab, text.

    An answer holds 2,000 lines and 32 KB. Asking for more is an error, which gives the offset and
    limit to use. The numbers and tabs are not part of the file.
    """

    name = "workspace_read_file"
    family = Family.READ
    Args = ReadFileArgs

    async def plan(self, args: ReadFileArgs, workspace: PlanningWorkspace) -> Plan[ReadFileArgs]:
        """Read that file; where there is none, look for names like it."""
        path = workspace.locate(args.path)
        if workspace.contains(path) and not os.path.lexists(path):
            return Plan(args, [Read(path), List(workspace.root)])
        return Plan(args, [Read(path)])

    async def perform(self, plan: Plan[ReadFileArgs], bench: Bench) -> FileLines:
        """The lines, if they fit in an answer."""
        judged = plan.actions[0]
        assert isinstance(judged, Read)
        found = await asyncio.to_thread(_read, plan.args, judged.path, bench.workspace)
        bench.workspace.note_read(judged.path)
        return found


def _read(args: ReadFileArgs, path: str, workspace: Workspace) -> FileLines:
    first = 1 if args.offset is UNSET else args.offset
    most = MOST_LINES if args.limit is UNSET else args.limit
    if most > MOST_LINES:
        raise ToolProblem(
            f"A limit of {most:,} lines is too much: an answer has at most {MOST_LINES:,}.",
            try_this=f"Read offset {first}, limit {MOST_LINES}, then offset {first + MOST_LINES}.",
        )
    if not os.path.lexists(path):
        raise _missing(args.path, path, workspace)
    with workspace.open_file(path) as file:
        try:
            size = os.fstat(file.fileno()).st_size
            found = reading.shape(file.read(reading.HEAD))
            _check_text(args.path, found, size)
            page = reading.page(reading.pieces(file, found), first, most)
        except OSError as error:
            why = error.strerror or str(error)
            raise ToolProblem(f"{args.path} cannot be read.", why) from error
    if first > max(page.total_lines, 1):
        total = counted(page.total_lines, "line")
        raise ToolProblem(
            f"{args.path} has {total}; offset {first:,} is past its end.",
            try_this=f"Its last lines begin at offset {max(page.total_lines - most + 1, 1)}.",
        )
    wanted = page.total_lines if args.limit is UNSET else min(first + most - 1, page.total_lines)
    whole = args.offset is UNSET and args.limit is UNSET
    if first + len(page.lines) <= wanted or (whole and size > LARGEST_FILE):
        raise _too_much(args, page, size, range(first, wanted + 1))
    return _answer(page, found, size, first)


def _too_much(args: ReadFileArgs, page: Page, size: int, wanted: range) -> ToolProblem:
    """Says which call to make instead: the lines that do fit, and where to go on."""
    what = (
        f"{args.path} has {counted(page.total_lines, 'line')} and {counted(size, 'byte')}. "
        f"One answer holds {MOST_LINES:,} lines and {MOST_BYTES // 1024} KB."
        if args.limit is UNSET
        else f"Lines {wanted[0]:,}–{wanted[-1]:,} of {args.path} are more than the "
        f"{MOST_BYTES // 1024} KB one answer holds."
    )
    after = wanted[0] + len(page.lines)
    go_on = f", then go on at offset {after}" * (after in wanted)
    return ToolProblem(
        what,
        try_this=f"Read offset {wanted[0]}, limit {len(page.lines)}{go_on}; "
        "or find the place with workspace_search_files.",
    )


def _answer(page: Page, found: Shape, size: int, first: int) -> FileLines:
    lines = [
        f"{number}\t{line.text}{'... [truncated]' * (line.left_out > 0)}"
        for number, line in enumerate(page.lines, first)
    ]
    encoding = "" if found.name == "utf-8" else found.name
    if page.flawed:
        encoding = "utf-8 with invalid bytes, shown as �"
    return FileLines(
        success=True,
        file_size=size,
        total_lines=page.total_lines,
        lines_read=len(lines),
        content="\n".join(lines),
        encoding=encoding,
        line_endings="" if page.endings == "lf" else page.endings,
        note=_note(page, first),
    )


def _note(page: Page, first: int) -> str:
    last = first + len(page.lines) - 1
    said = []
    if not page.total_lines:
        said.append("the file is empty")
    if last < page.total_lines:
        said.append(f"lines {first:,}–{last:,} of {page.total_lines:,}")
        said.append(NEXT_LINES.format(line=last + 1))
    cut = sum(line.left_out > 0 for line in page.lines)
    if cut:
        said.append(f"{cut:,} long lines were cut" if cut > 1 else "1 long line was cut")
    if page.nul:
        said.append("NUL characters are shown as ␀")
    return "; ".join(said)


def _check_text(shown: str, found: Shape, size: int) -> None:
    match found.kind:
        case "image":
            what = f"{shown} is an image ({found.name}, {counted(size, 'byte')}), not text."
        case "document":
            what = f"{shown} is a {found.name} document ({counted(size, 'byte')}), not text."
        case "binary":
            what = f"{shown} is not a text file: {found.name}, {counted(size, 'byte')}."
        case "text":
            return
    raise ToolProblem(what, try_this="A command that knows the format can show more.")


def _missing(shown: str, path: str, workspace: Workspace) -> ToolProblem:
    near = [readable(os.fsencode(workspace.shown(found))) for found in _near(path, workspace)]
    hint = f"There is: {', '.join(near)}." if near else "List the folder with workspace_list_files."
    return ToolProblem(f"{shown} does not exist.", try_this=hint)


def _near(path: str, workspace: Workspace) -> list[str]:
    """Names like a missing one: in its folder, and the same name in other folders."""
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    names = {entry.name.lower(): entry.path for entry in _entries(folder, workspace)}
    near = [names[match] for match in get_close_matches(name.lower(), names, 3, 0.6)]
    waiting = [workspace.root]
    for _ in range(MOST_FOLDERS):
        if not waiting or len(near) >= 5:
            break
        entries = _entries(waiting.pop(0), workspace)
        near += [e.path for e in entries if e.name == name and e.path not in near]
        waiting += [
            entry.path
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and entry.name not in (".git", "node_modules")
        ]
    return near[:5]


def _entries(folder: str, workspace: Workspace) -> list[os.DirEntry[str]]:
    """The entries of a folder; none where it cannot, or may not, be listed."""
    try:
        return workspace.listing(folder)
    except ToolProblem:
        return []
