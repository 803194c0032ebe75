"""`workspace_search_files`, and the answer it shares with `workspace_search_pattern`."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.finding import Found, Hit, Query, SearchPlace
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import Search
from steersman.records.counting import counted
from steersman.records.errors import ToolProblem

MOST = 500
MOST_FILES = 500

Globs = Annotated[
    tuple[str, ...],
    Meta(description="only files these match, as in .gitignore: *.py, src/**, !tests/"),
]
Folder = Annotated[str, Meta(description="folder or file, relative to the workspace")]
CaseSensitive = Annotated[bool, Meta(description="false to ignore case")]
Context = Annotated[int, Meta(ge=0, le=20, description="lines shown before and after")]
MaxResults = Annotated[int, Meta(ge=1, le=MOST, description="places shown at most")]
IncludeIgnored = Annotated[bool, Meta(description="also files that .gitignore leaves out")]


class SearchResults(Struct, frozen=True, omit_defaults=True):
    """Places by path and line; `total` counts matching lines, or matches when multiline."""

    results: list[Hit]
    total: int
    files: int
    more: str = ""
    note: str = ""


class SearchFilesArgs(Arguments, frozen=True):
    """What text, and where."""

    query: Annotated[str, Meta(min_length=1, description="text to find")]
    path: Folder = "."
    literal: Annotated[bool, Meta(description="false to read the query as a regex")] = True
    case_sensitive: CaseSensitive = True
    globs: Globs = ()
    context: Context = 0
    max_results: MaxResults = 100
    include_ignored: IncludeIgnored = False


class SearchFiles(Tool[SearchFilesArgs]):
    """Find text in files of the workspace. Files that .gitignore leaves out, and binary files, are
    not searched. The text is taken literally and may hold line breaks.
    """

    name = "workspace_search_files"
    family = Family.READ
    Args = SearchFilesArgs

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ

    async def plan(
        self, args: SearchFilesArgs, workspace: PlanningWorkspace
    ) -> Plan[SearchFilesArgs]:
        """Search below that path."""
        return Plan(args, [Search(workspace.locate(args.path), args.query)])

    async def perform(self, plan: Plan[SearchFilesArgs], bench: Bench) -> SearchResults:
        """The first places, and how many there are."""
        from steersman.operations.finding import find, patterns

        args = plan.args
        multiline = args.literal and "\n" in args.query
        if args.literal:
            pattern = patterns.literal(args.query)
        else:
            pattern = patterns.prepared(args.query, multiline=False)
        query = Query(
            pattern,
            args.case_sensitive,
            multiline,
            cleaned(args.globs),
            args.context,
            args.max_results,
            args.include_ignored,
        )
        place = place_of(args.path, bench.workspace)
        return results(await find(place, query, self._environ), query)


def place_of(name: str, workspace: Workspace) -> SearchPlace:
    """Where to look, or why it is not possible there."""
    path = workspace.below(workspace.locate(name))
    if not os.path.lexists(path):
        raise ToolProblem(
            f"{name} does not exist.", try_this="List the folder with workspace_list_files."
        )
    if os.path.isdir(path):
        return SearchPlace(workspace.root, path, secret=workspace.secret)
    if not os.path.isfile(path):
        raise ToolProblem(f"{name} is not a regular file.", "It is a pipe, socket or device.")
    return SearchPlace(workspace.root, path, is_file=True, secret=workspace.secret)


def cleaned(globs: Sequence[str]) -> tuple[str, ...]:
    """Globs as they are matched: from the folder that is searched."""
    return tuple(glob.removeprefix("./") for glob in globs)


def results(found: Found, query: Query) -> SearchResults:
    """The answer, with an honest word on what is not in it."""
    total = sum(count for _, count in found.counts)
    return SearchResults(
        found.hits, total, len(found.counts), _more(found, query, total), skipped(found)
    )


def skipped(found: Found) -> str:
    """What was not searched."""
    said = []
    if found.binary:
        said.append(f"{counted(found.binary, 'binary file')} skipped")
    if found.unreadable:
        said.append(f"{found.unreadable:,} could not be read")
    if not found.complete:
        said.append("not every file was counted")
    return "; ".join(said)


def _more(found: Found, query: Query, total: int) -> str:
    shown = Counter(hit.file for hit in found.hits)
    more = total - len(found.hits)
    if more <= 0:
        return ""
    # Files are shown in order: all before the last are complete.
    files = len(found.counts) - len(shown)
    if found.hits and _in_last(found, shown) > 0:
        files += 1
    what = "matches" if query.multiline else "matching lines"
    least = "" if found.complete else "at least "
    return (
        f"{least}{more:,} more {what} in {counted(files, 'file')}; "
        "narrow the query, the path or the globs, or raise max_results"
    )


def _in_last(found: Found, shown: Counter[str]) -> int:
    """How many places of the last file that is shown are not."""
    place = len(shown) - 1
    return found.counts[place][1] - shown[found.hits[-1].file]
