"""Files as the tree backend sees them: read by leave of the gate, parsed or known to the index."""

from __future__ import annotations

import os
from collections.abc import Mapping

from steersman.operations.code.backend import Unable
from steersman.operations.code.index.build import content
from steersman.operations.code.index.store import Entry, Index
from steersman.operations.code.records import Symbol
from steersman.operations.code.trees import glancing, languages, reading
from steersman.operations.code.trees.definition import Definition
from steersman.operations.code.trees.grammar import grammar
from steersman.operations.code.trees.languages import Language
from steersman.operations.code.trees.outline import definitions, outline
from steersman.operations.code.trees.reading import LARGEST, Unreadable
from steersman.operations.code.trees.uses import File
from steersman.operations.finding import Query, SearchPlace, find, patterns
from steersman.operations.workspace import Workspace
from steersman.records.errors import SteersmanError, ToolProblem
from steersman.records.secret_files import SecretFiles

_GLANCE = 200


class Files:
    """The files of a workspace during one question; blocks, so it is used in a thread."""

    def __init__(self, workspace: Workspace, index: Index | None = None) -> None:
        self._workspace = workspace
        self._root = workspace.root
        self._veil = SecretFiles(workspace.root, workspace.secret)
        self._index = index
        self._known: dict[str, Entry] | None = None

    def read(self, path: str) -> bytes:
        """The content of a file (real path) that may be read, or searched with what is around."""
        try:
            self._workspace.below(path)
        except ToolProblem:
            with self._workspace.open_file(path) as file:
                return file.read(LARGEST + 1)
        if self._veil.covers(path):
            raise Unable(f"{self._workspace.shown(path)} is secret.")
        try:
            return content(path, LARGEST + 1)
        except OSError as error:
            why = error.strerror or str(error)
            raise Unable(f"{self._workspace.shown(path)} cannot be read.", why) from error

    def language(self, path: str) -> Language:
        """The language of a file, by its name or its first line."""
        found = languages.of_path(path)
        if found is None and languages.may_be_script(path):
            found = languages.of_first_line(self.read(path)[:_GLANCE])
        if found is None:
            raise Unable(f"No grammar is known for {self._workspace.shown(path)}.")
        return found

    def outline(self, path: str) -> list[Definition]:
        """The definitions of a file (real path): from the index while that knows it as it is."""
        kept = self._kept(path)
        if kept is not None:
            return kept
        try:
            return outline(self.read(path), self.language(path))
        except Unreadable as problem:
            raise self._unable(path, problem) from problem

    def may_define(self, path: str, parts: list[str], substring: bool) -> bool:
        """Whether a file is worth an outline; one that the index knows costs nothing."""
        if self._kept(path) is not None:
            return True
        return glancing.may_define(self.read(path), parts, substring, self.language(path).name)

    def may_use(self, path: str, symbol: Symbol) -> bool:
        """Whether a file is worth parsing for uses of a symbol."""
        return glancing.may_use(self.read(path), symbol, self.language(path).name)

    def parsed(self, path: str) -> File:
        """A file (real path) with its tree."""
        language = self.language(path)
        if not language.grammar:
            raise Unable(f"There is no syntax tree of {self._workspace.shown(path)}.")
        try:
            source = reading.source(self.read(path))
            rules = grammar(language)
        except Unreadable as problem:
            raise self._unable(path, problem) from problem
        tree = rules.parse(source)
        found = definitions(tree, rules, source)
        return File(self.shown(path), language.name, source, tree.root_node, found)

    def shown(self, path: str) -> str:
        """A real path as it is in answers."""
        return self._workspace.shown(path)

    def _unable(self, path: str, problem: Unreadable) -> Unable:
        return Unable(f"{self._workspace.shown(path)} has no outline: {problem.what}.")

    def _kept(self, path: str) -> list[Definition] | None:
        if self._index is None or not self._workspace.contains(path):
            return None
        self._workspace_may(path)
        try:
            if self._known is None:
                self._known = self._index.files()
            entry = self._known.get(os.path.relpath(path, self._root))
            if entry is None or not entry.language or entry.note or not _is_as_it_was(path, entry):
                return None
            return self._index.symbols(entry.path)
        except SteersmanError:
            return None  # the file itself tells as well

    def _workspace_may(self, path: str) -> None:
        """The index must not tell what may not be read."""
        try:
            self._workspace.below(path)
        except ToolProblem:
            self._workspace.exists(path)


def _is_as_it_was(path: str, entry: Entry) -> bool:
    try:
        now = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return entry.describes(now)


async def holding(
    name: str, within: str, workspace: Workspace, environ: Mapping[str, str]
) -> list[str]:
    """The files (real paths) below a path that hold a text and may be looked into."""
    top = workspace.below(within)
    if not os.path.lexists(top):
        raise ToolProblem(f"{workspace.shown(top)} does not exist.")
    is_file = not os.path.isdir(top)
    place = SearchPlace(workspace.root, top, is_file=is_file, secret=workspace.secret)
    query = Query(patterns.literal(name), most=0)
    found = await find(place, query, environ)
    paths = [os.path.join(place.folder, os.fsdecode(path)) for path, _ in found.counts]
    return [path for path in paths if languages.of_path(path) or languages.may_be_script(path)]
