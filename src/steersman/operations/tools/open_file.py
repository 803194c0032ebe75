"""`open_file`."""

from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.read_file import ReadFile, ReadFileArgs
from steersman.operations.workspace import PlanningWorkspace

BEFORE, SHOWN = 10, 60  # lines above the wanted one, and in all


class OpenedFile(Struct, frozen=True):
    """Where a file is to be shown, and the lines around that place, each as number, tab, text."""

    path: str
    line: int
    column: int
    total_lines: int
    content: str


class OpenFileArgs(Arguments, frozen=True):
    """Which file, and where in it."""

    path: Annotated[str, Meta(description="file, relative to the workspace")]
    line: Annotated[int, Meta(ge=1, description="1-based")] = 1
    column: Annotated[int, Meta(ge=1, description="1-based")] = 1


class OpenFile(Tool[OpenFileArgs]):
    """Show the user a file of the workspace, at a line and column."""

    name = "open_file"
    family = Family.READ
    Args = OpenFileArgs
    offered = False

    async def plan(self, args: OpenFileArgs, workspace: PlanningWorkspace) -> Plan[OpenFileArgs]:
        """Read that file."""
        return Plan(args, (await _READER.plan(_part(args), workspace)).actions)

    async def perform(self, plan: Plan[OpenFileArgs], bench: Bench) -> OpenedFile:
        """The lines around the place; a port that has a view of files shows it there."""
        args = plan.args
        found = await _READER.perform(Plan(_part(args), plan.actions), bench)
        return OpenedFile(args.path, args.line, args.column, found.total_lines, found.content)


_READER = ReadFile()


def _part(args: OpenFileArgs) -> ReadFileArgs:
    return ReadFileArgs(args.path, max(1, args.line - BEFORE), SHOWN)
