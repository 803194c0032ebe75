"""Compares what a backend says about uses of a name with where the name is in the text.

A language server that leaves out folders, or has not read everything yet, answers as if it had.
The text does not lie about names; it only does not know which of them are the same symbol.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from steersman.operations.code.records import Agreement, Reference, Symbol
from steersman.operations.code.shapes import Sight
from steersman.operations.code.spots import columns
from steersman.operations.finding import Found, Query, SearchPlace, find, patterns
from steersman.operations.finding.showing import narrow
from steersman.operations.workspace import Workspace
from steersman.records.counting import counted
from steersman.records.errors import ToolProblem

MOST_SHOWN = 20
MOST_HITS = 400
MOST_FILES = 400
MOST_PARSED = 150
# Files that hold code; a name in prose or data is no use of it.
CODE = (
    "py", "pyi", "pyx", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "go",
    "rs", "java", "kt", "kts", "scala", "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "m", "mm",
    "cs", "fs", "rb", "php", "swift", "lua", "sh", "bash", "zsh", "pl", "pm", "r", "jl", "ex",
    "exs", "erl", "hs", "ml", "mli", "clj", "dart", "zig", "nim", "sql", "proto", "graphql",
)  # fmt: skip
_WORD = re.compile(r"\w")


class Check(Struct, frozen=True):
    """Whether text and backend name the same files; `text_only` are places of the text alone."""

    agreement: Agreement
    text_only: tuple[Reference, ...] = ()
    note: str = ""


def pattern(name: str) -> str:
    """A pattern, in the dialect of searches, for a name as a whole word."""
    left = r"\b" if _WORD.match(name[:1]) else ""
    right = r"\b" if _WORD.match(name[-1:]) else ""
    return f"{left}{patterns.literal(name)}{right}"


async def occurrences(
    name: str, workspace: Workspace, environ: Mapping[str, str], most: int = MOST_HITS
) -> Found:
    """Where a name is in files of code, below the folder that may be searched."""
    place = SearchPlace(workspace.root, workspace.below(workspace.root), secret=workspace.secret)
    globs = tuple(f"*.{ending}" for ending in CODE)
    return await find(place, Query(pattern(name), globs=globs, most=most), environ)


async def compare(
    symbol: Symbol,
    uses: Sequence[Reference],
    workspace: Workspace,
    environ: Mapping[str, str],
    sight: Sight,
) -> Check:
    """The uses of a symbol compared with the text, file by file."""
    if symbol.name.startswith("__") and symbol.name.endswith("__"):
        return Check("unchecked", note=f"a text search for {symbol.name} would show nothing useful")
    try:
        found = await occurrences(symbol.name, workspace, environ, most=0)
    except ToolProblem as problem:
        return Check("unchecked", note=f"not compared with the text: {problem.what}")
    if not found.complete or len(found.counts) > MOST_FILES:
        return Check("unchecked", note=f"{symbol.name} appears in too many files to compare")
    place = SearchPlace(workspace.root, workspace.root)
    text = {place.shown(path) for path, _ in found.counts}
    known = {use.path for use in uses} | {symbol.path}
    missing = known - text
    places, filtered = await asyncio.to_thread(_in_code, symbol.name, sorted(text - known), sight)
    only = {place.path for place in places}
    return Check(
        "differs" if only or missing else "same",
        tuple(places[:MOST_SHOWN]),
        _remark(symbol.name, len(places), only, missing, filtered),
    )


def _in_code(name: str, paths: Sequence[str], sight: Sight) -> tuple[list[Reference], bool]:
    """The places that are not in comments or strings, and whether that could be known of all."""
    found: list[Reference] = []
    told = True
    for number, path in enumerate(paths):
        lines = sight.lines(path)
        code = _lines_of_code(name, path, lines) if number < MOST_PARSED else None
        told = told and code is not None
        for at, line in enumerate(lines, 1):
            if name in line and (code is None or at in code) and (here := columns(name, line)):
                found.append(Reference(path, at, here[0], narrow(line.strip())))
    return found, told


def _lines_of_code(name: str, path: str, lines: Sequence[str]) -> set[int] | None:
    """The lines of a file in which a name is as code; None where there is no grammar."""
    from steersman.operations.code.trees.languages import is_known, of_path

    language = of_path(path)
    if language is None or not language.grammar or not is_known(language):
        return None
    from tree_sitter import Parser

    from steersman.operations.code.trees.grammar import grammar
    from steersman.operations.code.trees.places import places

    source = "\n".join(lines).encode("utf-8", "replace")
    try:
        # A parser of its own: this runs in a thread, and parsers are not to be shared.
        tree = Parser(grammar(language).syntax).parse(source)
    except ToolProblem:
        return None
    return {place.row + 1 for place in places(tree.root_node, source, name)}


def _remark(name: str, places: int, only: set[str], missing: set[str], filtered: bool) -> str:
    said = []
    if only:
        what = "imports" if filtered else "imports, comments, strings"
        count = counted(len(only), "more file")
        shown = f", {MOST_SHOWN} places of {places:,} shown" if places > MOST_SHOWN else ""
        said.append(f"the text has {name} in {count}{shown}: they may be {what} or other symbols")
    if missing:
        named = ", ".join(sorted(missing)[:3])
        said.append(f"used under another name, or not in text that is searched, in {named}")
    return "; ".join(said)
