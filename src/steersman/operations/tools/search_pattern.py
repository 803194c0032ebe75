"""`workspace_search_pattern`."""

import os
from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from steersman.operations.finding import Found, Query, SearchPlace
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.tools.search_files import (
    MOST_FILES,
    CaseSensitive,
    Context,
    Folder,
    Globs,
    IncludeIgnored,
    MaxResults,
    SearchResults,
    cleaned,
    place_of,
    results,
    skipped,
)
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Search
from steersman.records.counting import counted


class FileCount(Struct, frozen=True, omit_defaults=True):
    """A file and how often something was found in it; no count when only files were asked for."""

    file: str
    count: int = 0


class FileCounts(Struct, frozen=True, omit_defaults=True):
    """Files by path; `total` counts matching lines, or matches when multiline."""

    counts: list[FileCount]
    total: int
    files: int
    more: str = ""
    note: str = ""


class SearchPatternArgs(Arguments, frozen=True):
    """What pattern, and where."""

    pattern: Annotated[str, Meta(min_length=1, description="regular expression, Rust dialect")]
    path: Folder = "."
    output: Annotated[
        Literal["matches", "files", "count"],
        Meta(description="the places, only the files, or the files with counts"),
    ] = "matches"
    multiline: Annotated[bool, Meta(description="let the pattern match across lines")] = False
    case_sensitive: CaseSensitive = True
    globs: Globs = ()
    context: Context = 0
    max_results: MaxResults = 100
    include_ignored: IncludeIgnored = False


class SearchPattern(Tool[SearchPatternArgs]):
    """Find a regular expression in files of the workspace: the places, the files, or counts. Files
    that .gitignore leaves out, and binary files, are not searched.
    """

    name = "workspace_search_pattern"
    family = Family.READ
    Args = SearchPatternArgs

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ

    async def plan(
        self, args: SearchPatternArgs, workspace: PlanningWorkspace
    ) -> Plan[SearchPatternArgs]:
        """Search below that path."""
        return Plan(args, [Search(workspace.locate(args.path), args.pattern)])

    async def perform(
        self, plan: Plan[SearchPatternArgs], bench: Bench
    ) -> SearchResults | FileCounts:
        """The first places or files, and how many there are."""
        from steersman.operations.finding import find, patterns

        args = plan.args
        query = Query(
            patterns.prepared(args.pattern, args.multiline),
            args.case_sensitive,
            args.multiline,
            cleaned(args.globs),
            args.context,
            args.max_results if args.output == "matches" else 0,
            args.include_ignored,
        )
        place = place_of(args.path, bench.workspace)
        found = await find(place, query, self._environ)
        if args.output == "matches":
            return results(found, query)
        return _counted(found, place, with_counts=args.output == "count")


def _counted(found: Found, place: SearchPlace, *, with_counts: bool) -> FileCounts:
    shown = [
        FileCount(place.shown(path), count if with_counts else 0)
        for path, count in found.counts[:MOST_FILES]
    ]
    more = len(found.counts) - len(shown)
    least = "" if found.complete else "at least "
    return FileCounts(
        shown,
        sum(count for _, count in found.counts),
        len(found.counts),
        f"{least}{counted(more, 'more file')}" if more else "",
        skipped(found),
    )
