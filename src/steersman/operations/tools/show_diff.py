"""`show_diff`."""

import re
import shlex
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.talking import Talking
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Execute

# Against the last commit, or against nothing where there is none.
COMMAND = (
    "git -c core.quotePath=false --no-pager diff --no-color --no-ext-diff --no-textconv "
    "$(git rev-parse --quiet --verify HEAD || git hash-object -t tree /dev/null)"
)
_GIT = re.compile(r"^(?=diff --git )", re.MULTILINE)
_PLAIN = re.compile(r"^(?=--- .+\n\+\+\+ .+\n@@ )", re.MULTILINE)
_NAME = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?(?!/dev/null)([^\t\n]+)", re.MULTILINE)
_HEADER = re.compile(r"diff --git a/.+ b/(.+)")


class FileDiff(Struct, frozen=True):
    """How one file differs."""

    path: str
    diff: str


class Diffs(Struct, frozen=True):
    """How files differ."""

    files: tuple[FileDiff, ...]


class ShowDiffArgs(Arguments, frozen=True):
    """What to show."""

    path: Annotated[str, Meta(description="file or folder, relative to the workspace")] = "."
    content: Annotated[str, Meta(description="a unified diff to show instead")] = ""


class ShowDiff(Tool[ShowDiffArgs]):
    """Show the user how tracked files differ from the last commit, or a diff that you have."""

    name = "show_diff"
    family = Family.READ
    Args = ShowDiffArgs
    offered = False

    def __init__(self, git: Talking) -> None:
        self._git = git

    async def plan(self, args: ShowDiffArgs, workspace: PlanningWorkspace) -> Plan[ShowDiffArgs]:
        """Ask git, which runs what a repository configures, so it is a command."""
        return Plan(args, [] if args.content else [Execute(_command(args), workspace.root)])

    async def perform(self, plan: Plan[ShowDiffArgs], bench: Bench) -> Diffs:
        """The diff, file by file; a port that draws diffs draws it."""
        text = plan.args.content or await self._git.look(_command(plan.args), bench)
        return Diffs(tuple(by_file(text)))


def _command(args: ShowDiffArgs) -> str:
    return f"{COMMAND} -- {shlex.quote(args.path)}"


def by_file(text: str) -> Iterator[FileDiff]:
    """The parts of a unified diff; one without names is about an unnamed file."""
    for part in (_GIT if _GIT.search(text) else _PLAIN).split(text):
        names = _NAME.findall(part.partition("\n@@")[0])
        header = _HEADER.match(part)
        if part.strip():
            yield FileDiff(names[-1] if names else header[1] if header else "", part)
