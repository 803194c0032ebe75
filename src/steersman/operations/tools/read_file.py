"""`workspace_read_file`."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.action import Action, Read
from steersman.errors import ToolProblem
from steersman.operations.tool import Arguments, Bench, Family, Tool
from steersman.operations.workspace import Workspace

LONGEST_LINE = 1024
MOST_BYTES = 32 * 1024
LARGEST_FILE = 1_000_000


class FileLines(Struct, frozen=True):
    """Lines of a file, each as number, tab, text."""

    file_size: int
    total_lines: int
    lines_read: int
    content: str


class ReadFileArgs(Arguments, frozen=True):
    """Which lines of which file."""

    path: Annotated[str, Meta(description="file, relative to the workspace")]
    offset: Annotated[int, Meta(ge=1, description="first line, 1-based")] = 1
    limit: Annotated[int, Meta(ge=1, le=2000, description="how many lines")] = 2000


class ReadFile(Tool[ReadFileArgs]):
    """Read lines of a text file in the workspace."""

    name = "workspace_read_file"
    family = Family.READ
    Args = ReadFileArgs

    def actions(self, args: ReadFileArgs, workspace: Workspace) -> Sequence[Action]:
        """Read that file."""
        return [Read(workspace.locate(args.path))]

    async def run(self, args: ReadFileArgs, bench: Bench) -> FileLines:
        """The lines, as many as fit in an answer."""
        content = bench.workspace.read(bench.workspace.locate(args.path))
        if b"\0" in content[:8192]:
            raise ToolProblem(f"{args.path} is not a text file.")
        if len(content) > LARGEST_FILE and args.limit == 2000 and args.offset == 1:
            raise ToolProblem(
                f"{args.path} has {len(content):,} bytes, too many to read at once.",
                try_this="Read a range: pass offset and limit.",
            )
        lines = content.decode("utf-8", errors="replace").splitlines()
        if args.offset > max(len(lines), 1):
            raise ToolProblem(f"{args.path} has {len(lines)} lines; {args.offset} is past its end.")
        shown = _numbered(lines[args.offset - 1 : args.offset - 1 + args.limit], args.offset)
        return FileLines(len(content), len(lines), len(shown), "\n".join(shown))


def _numbered(lines: list[str], first: int) -> list[str]:
    shown: list[str] = []
    room = MOST_BYTES
    for number, line in enumerate(lines, first):
        cut = line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + " …[cut]"
        text = f"{number}\t{cut}"
        room -= len(text.encode()) + 1
        if room < 0:
            break
        shown.append(text)
    return shown
