"""`workspace_list_files`."""

import asyncio
import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from steersman.operations.finding import Names, SearchPlace
from steersman.operations.finding.records import in_order, readable
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import List
from steersman.records.counting import counted
from steersman.records.errors import ToolProblem
from steersman.records.gitignore import Globs

if TYPE_CHECKING:
    from steersman.operations.finding.ignoring import Judge

MOST = 1000
MOST_NAMED = 20
DEPTH = 3


class Listing(Struct, frozen=True, omit_defaults=True):
    """Names below a folder: files with a tab and their bytes, folders with a slash.

    `total_files` counts what is not ignored, at every depth; `left_out` says what is not shown.
    """

    files: list[str]
    total_files: int
    left_out: list[str] = []


class ListFilesArgs(Arguments, frozen=True):
    """Which folder, how deep, which names."""

    path: Annotated[str, Meta(description="folder, relative to the workspace")] = "."
    depth: (
        Annotated[int, Meta(ge=1, le=100, description=f"levels below, {DEPTH} if there is no glob")]
        | UnsetType
    ) = UNSET
    glob: Annotated[
        str, Meta(description="only files like this, as in .gitignore: src/**/*.py")
    ] = ""
    include_ignored: Annotated[bool, Meta(description="also what .gitignore leaves out")] = False


class ListFiles(Tool[ListFilesArgs]):
    """List files (with their size in bytes) and folders in the workspace. What .gitignore leaves
    out is only named; hidden files are shown.
    """

    name = "workspace_list_files"
    family = Family.READ
    Args = ListFilesArgs

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ

    async def plan(self, args: ListFilesArgs, workspace: PlanningWorkspace) -> Plan[ListFilesArgs]:
        """List that folder."""
        return Plan(args, [List(workspace.locate(args.path))])

    async def perform(self, plan: Plan[ListFilesArgs], bench: Bench) -> Listing:
        """The names, as many as fit in an answer."""
        from steersman.operations.finding import list_names
        from steersman.operations.finding.ignoring import Judge

        args = plan.args
        top = bench.workspace.below(bench.workspace.locate(args.path))
        _check_folder(args.path, top)
        place = SearchPlace(bench.workspace.root, top)
        globs = Globs([args.glob.removeprefix("./")] if args.glob else [])
        found = await list_names(place, args.include_ignored, self._environ)
        if args.glob:
            depth = 0 if args.depth is UNSET else args.depth
            return await asyncio.to_thread(_matching, place, found, globs, depth)
        depth = DEPTH if args.depth is UNSET else args.depth
        judge = None if args.include_ignored else Judge(place.root, top)
        return await asyncio.to_thread(_Tree(bench.workspace, place, found, judge).listing, depth)


def _check_folder(name: str, path: str) -> None:
    if not os.path.lexists(path):
        raise ToolProblem(f"{name} does not exist.", try_this="List the folder above it.")
    if not os.path.isdir(path):
        raise ToolProblem(f"{name} is not a folder.", try_this="Read it with workspace_read_file.")


def _matching(place: SearchPlace, found: Names, globs: Globs, depth: int) -> Listing:
    """The files a glob names, at any depth unless one is given."""
    names = [
        name for name in found.names if globs.take(name) and (not depth or name.count(b"/") < depth)
    ]
    folder = os.fsencode(place.folder)
    shown = [f"{readable(name)}\t{_size(os.path.join(folder, name))}" for name in names[:MOST]]
    more = len(names) - len(shown)
    left_out = [f"{more:,} more: narrow the glob or list a folder below"] if more else []
    return Listing(shown, len(names), left_out + _incomplete(found))


def _size(path: bytes) -> str:
    try:
        return str(os.lstat(path).st_size)
    except OSError:
        return "gone"


def _incomplete(found: Names) -> list[str]:
    said = [f"{found.unreadable:,} could not be read"] if found.unreadable else []
    return said if found.complete else [*said, "there are too many files to count them all"]


class _Tree:
    """The levels of a folder that are shown, and what there is but is not."""

    def __init__(
        self, workspace: Workspace, place: SearchPlace, found: Names, judge: "Judge | None"
    ) -> None:
        self._workspace = workspace
        self._place = place
        self._found = found
        self._judge = judge
        self._ignored: list[str] = []
        self._deep = self._told = 0

    def listing(self, depth: int) -> Listing:
        """The first levels, as many entries as fit."""
        shown: list[str] = []
        for line in self._walk("", depth):
            if len(shown) == MOST:
                return Listing(shown, len(self._found.names), self._left_out(full=True))
            shown.append(line)
        return Listing(shown, len(self._found.names), self._left_out(full=False))

    def _walk(self, folder: str, depth: int) -> Iterator[str]:
        """Entries as they are shown; one counts as shown once the next is asked for."""
        path = os.path.join(self._place.top, folder) if folder else self._place.top
        for entry in self._entries(path):
            name = os.path.join(folder, entry.name)
            if entry.name == ".git":
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            below = self._below(os.fsencode(name)) if is_folder else 0
            if not below and self._is_ignored(name, is_folder):
                self._ignored.append(readable(os.fsencode(name)) + "/" * is_folder)
            elif not is_folder:
                yield _line(entry, name)
                self._told += entry.is_file(follow_symlinks=False)
            elif depth > 1:
                yield readable(os.fsencode(name)) + "/"
                yield from self._walk(name, depth - 1)
            else:
                files = f"\t{counted(below, 'file')}"
                yield readable(os.fsencode(name)) + "/" + files
                self._deep += below

    def _entries(self, path: str) -> list[os.DirEntry[str]]:
        try:
            return self._workspace.listing(path)
        except ToolProblem:
            if path == self._place.top:
                raise
            return []

    def _below(self, folder: bytes) -> int:
        """How many files there are below a folder."""
        names, start = self._found.names, in_order(folder)
        first = bisect_left(names, start + b"\0", key=in_order)
        return bisect_left(names, start + b"\1", lo=first, key=in_order) - first

    def _is_ignored(self, name: str, is_folder: bool) -> bool:
        return self._judge is not None and self._judge.ignored(os.fsencode(name), is_folder)

    def _left_out(self, *, full: bool) -> list[str]:
        said = []
        if full:
            more = len(self._found.names) - self._told - self._deep
            files = counted(more, "more file")
            said.append(f"{files}: list a folder below, or pass a glob or a smaller depth")
        if self._ignored:
            named = ", ".join(self._ignored[:MOST_NAMED])
            rest = len(self._ignored) - MOST_NAMED
            said.append(f"ignored: {named}" + (f" and {rest:,} more" if rest > 0 else ""))
        if self._deep:
            said.append(f"deeper: {counted(self._deep, 'file')}; raise depth")
        return said + _incomplete(self._found)


def _line(entry: os.DirEntry[str], name: str) -> str:
    shown = readable(os.fsencode(name))
    try:
        if entry.is_symlink():
            return f"{shown} -> {readable(os.fsencode(os.readlink(entry.path)))}"
        if not entry.is_file(follow_symlinks=False):
            return f"{shown}\tnot a regular file"
        return f"{shown}\t{entry.stat(follow_symlinks=False).st_size}"
    except OSError:
        return f"{shown}\tgone"
