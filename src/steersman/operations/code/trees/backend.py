"""Code intelligence from syntax trees alone: always there, without a server, and never sure of
types. It serves every file that a grammar is installed for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from steersman.operations.code import naming
from steersman.operations.code.backend import Ability, Spot, Target, Unable, Wanted
from steersman.operations.code.index.store import Index
from steersman.operations.code.index.walk import listed
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.code.trees import languages, resolving
from steersman.operations.code.trees.bodies import body
from steersman.operations.code.trees.complaints import complaints
from steersman.operations.code.trees.definition import nested
from steersman.operations.code.trees.files import Files, holding
from steersman.operations.code.trees.uses import File, same_family, uses
from steersman.operations.tool import Bench
from steersman.operations.workspace import Workspace
from steersman.records.errors import ToolProblem

# How many files are looked into for one question.
MOST_OUTLINED = 20_000
MOST_PARSED = 20_000
MOST_CHECKED = 2_000
DEEPEST = 64
T = TypeVar("T")


class TreeBackend:
    """Outlines, definitions, uses and syntax errors by tree-sitter.

    `index` gives the index of the workspace when there is one; without, files are parsed again.
    """

    name = "tree-sitter"

    def __init__(
        self,
        root: str,
        environ: Mapping[str, str] | None = None,
        index: Callable[[], Index | None] = lambda: None,
    ) -> None:
        self.root = root
        self._environ = os.environ if environ is None else environ
        self._index = index

    def serves(self, ability: Ability, path: str) -> bool:
        """Every folder, and files in a language that can be read here."""
        language = languages.of_path(path)
        if language is None:
            return os.path.isdir(path) or languages.may_be_script(path)
        if not languages.is_known(language):
            return False
        return bool(language.grammar) or ability in ("overview", "find")

    async def overview(self, path: str, depth: int, bench: Bench) -> list[Symbol]:
        """The symbols of a file."""
        files = self._files(bench.workspace)
        found = await asyncio.to_thread(files.outline, path)
        return nested(found, files.shown(path), depth)

    async def find(self, wanted: Wanted, bench: Bench) -> list[Symbol]:
        """Definitions: files that hold the name are found by text, then read or known."""
        name = naming.last_part(wanted.name)
        if not name:
            raise Unable("A symbol must have a name.")
        if os.path.isfile(wanted.within):
            paths = [wanted.within]
        else:
            sought = name.replace("|", "/") if "|" in name else name
            paths = await holding(sought, wanted.within, bench.workspace, self._environ)
        return await asyncio.to_thread(self._find, wanted, paths, self._files(bench.workspace))

    async def declaration(self, spot: Spot, bench: Bench) -> list[Symbol]:
        """Where the name at a place is defined, as far as scopes, imports and names tell."""
        files = self._files(bench.workspace)
        file = await asyncio.to_thread(files.parsed, spot.path)
        there = resolving.place_at(file, spot.line, spot.column, spot.name)
        if there is None:
            raise Unable(f"There is no name at {file.path}:{spot.line}:{spot.column}.")
        word, place = there
        bound = resolving.local(file, word, place)
        if bound is not None:
            return [bound]
        known = resolving.in_file(file, word, place)
        if known:
            return [one.symbol(file.path) for one in known]
        said, original = resolving.imported_as(file, word)
        root = bench.workspace.root
        found = await self._anywhere(original, root, bench, files)
        found = [s for s in found if same_family(_language(s.path), file.language)]
        if said and place.owner is None:
            return resolving.by_import(found, said, file)
        return resolving.by_name(found, place, file)

    async def references(self, target: Target, bench: Bench) -> list[Reference]:
        """Uses: every place of the name that scopes do not rule out."""
        symbol = target.symbol
        language = languages.of_path(symbol.path)
        if language is not None and not language.grammar:
            raise Unable(f"Uses of a {symbol.kind} cannot be found from a syntax tree.")
        paths = await holding(symbol.name, target.within, bench.workspace, self._environ)
        own = os.path.join(bench.workspace.root, symbol.path)
        paths.sort(key=lambda path: path != own)
        name = language.name if language is not None else ""
        files = self._files(bench.workspace)
        return await asyncio.to_thread(_all_uses, symbol, paths, name, files)

    async def diagnostics(self, paths: tuple[str, ...], bench: Bench) -> list[Diagnostic]:
        """What does not parse."""
        files = self._files(bench.workspace)
        wanted: list[str] = []
        for path in paths:
            if os.path.isdir(path):
                wanted += await self._below(path, bench.workspace)
            else:
                wanted.append(path)
        alone = len(wanted) == 1
        return await asyncio.to_thread(_check, wanted[:MOST_CHECKED], files, alone)

    async def close(self) -> None:
        """Nothing is held."""

    def _files(self, workspace: Workspace) -> Files:
        return Files(workspace, self._index())

    async def _below(self, folder: str, workspace: Workspace) -> list[str]:
        """The files below a folder that may hold code."""
        top = workspace.below(folder)
        found = await listed(workspace.root, workspace.secret, self._environ, top)
        return [os.path.join(workspace.root, path) for path in found]

    async def _anywhere(self, name: str, root: str, bench: Bench, files: Files) -> list[Symbol]:
        try:
            paths = await holding(name, root, bench.workspace, self._environ)
        except ToolProblem:  # leave was given for the one file alone
            return []
        return await asyncio.to_thread(self._find, Wanted(name, root), paths, files)

    def _find(self, wanted: Wanted, paths: Sequence[str], files: Files) -> list[Symbol]:
        found: list[Symbol] = []
        parts, _ = naming.split(wanted.name)
        for path in paths[:MOST_OUTLINED]:
            try:
                if len(paths) > 1 and not files.may_define(path, parts, wanted.substring):
                    continue
                outline = nested(files.outline(path), files.shown(path), DEEPEST)
            except ToolProblem:
                if len(paths) == 1:
                    raise
                continue
            fitting = [s for s in _all(outline) if _fits(s, wanted)]
            if wanted.body and fitting:
                fitting = _with_bodies(fitting, files.parsed(path))
            found += [_cut(symbol, wanted.depth) for symbol in fitting]
            if len(found) >= wanted.most:
                break
        return found


def _fits(symbol: Symbol, wanted: Wanted) -> bool:
    of_kind = not wanted.kinds or symbol.kind in wanted.kinds
    return of_kind and naming.matches(wanted.name, symbol.name_path, wanted.substring)


def _all(symbols: Iterable[Symbol]) -> Iterable[Symbol]:
    waiting = list(symbols)[::-1]
    while waiting:
        symbol = waiting.pop()
        yield symbol
        waiting += symbol.children[::-1]


def _cut(symbol: Symbol, depth: int) -> Symbol:
    """A symbol with what is in it, to a depth; 0 is the symbol alone."""
    children = tuple(_cut(child, depth - 1) for child in symbol.children) if depth > 0 else ()
    return msgspec.structs.replace(symbol, children=children)


def _with_bodies(symbols: Iterable[Symbol], file: File) -> list[Symbol]:
    return [msgspec.structs.replace(symbol, body=body(file, symbol)) for symbol in symbols]


def _all_uses(symbol: Symbol, paths: Sequence[str], language: str, files: Files) -> list[Reference]:
    found: list[Reference] = []
    for path in paths[:MOST_PARSED]:
        known = _language(path)
        if language and known and not same_family(known, language):
            continue
        try:
            if files.shown(path) == symbol.path or files.may_use(path, symbol):
                found += uses(files.parsed(path), symbol)
        except ToolProblem:
            continue
    return found


def _check(paths: Sequence[str], files: Files, alone: bool) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for path in paths:
        try:
            found += complaints(files.parsed(path))
        except ToolProblem:
            if alone:
                raise
    return found


def _language(path: str) -> str:
    found = languages.of_path(path)
    return found.name if found is not None else ""
