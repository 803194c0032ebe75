"""Serena as a backend: its tools called over MCP, each call through the gate.

Serena is a program of its own that a person set up; it is known by the tools it offers, whatever
its server is called. Its `get_symbols_overview` says no lines, so outlines come from `find_symbol`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from steersman.operations.code import serena_reading as reading
from steersman.operations.code.backend import Ability, Spot, Target, Unable, Wanted
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.code.servers import Servers, usable
from steersman.operations.code.shapes import Sight
from steersman.operations.finding import Hit
from steersman.operations.mcp.authority import named
from steersman.operations.tool import Bench
from steersman.records.action import McpCall
from steersman.records.mcp_server import Server

LONGEST = 4_000_000  # characters of one answer
MOST_FILES = 20  # checked one by one
MOST_NAMES = 30  # looked up one by one
TOOLS: Mapping[Ability, str] = {
    "overview": "find_symbol",
    "find": "find_symbol",
    "declaration": "find_declaration",
    "references": "find_referencing_symbols",
    "diagnostics": "get_diagnostics_for_file",
}


class SerenaBackend:
    """One Serena that works on the workspace at `root`."""

    def __init__(self, servers: Servers, server: Server, root: str) -> None:
        self._servers = servers
        self._server = server
        self._root = root
        self._elsewhere = project_of(server, root) != root

    @property
    def name(self) -> str:
        """What answers say they came from; with the server's name where that is another."""
        own = self._server.name
        return own if "serena" in own.lower() else f"serena ({own})"

    def serves(self, ability: Ability, path: str) -> bool:
        """Whether Serena works on this workspace, is not known to fail, and has the tool."""
        if self._elsewhere or not usable(self._servers, self._server.name):
            return False
        if ability in ("overview", "declaration", "diagnostics") and os.path.isdir(path):
            return False
        known = {tool.name for tool in self._servers.tools_of(self._server.name)}
        return not known or TOOLS[ability] in known

    async def overview(self, path: str, depth: int, bench: Bench) -> list[Symbol]:
        """The symbols of a file: all whose whole name path is one name."""
        shown, sight = bench.workspace.shown(path), Sight(bench.workspace)
        asked = {"relative_path": shown, "depth": depth}
        everything = {"name_path_pattern": "/", "substring_matching": True, **asked}
        found = reading.symbols(await self._ask("find_symbol", everything, bench), sight.lines)
        if found:
            return found
        said = await self._ask("get_symbols_overview", {"relative_path": shown}, bench)
        names = reading.top_names(said)
        if len(names) > MOST_NAMES:
            raise Unable("it gives no lines for so many symbols")
        for name in names:
            one = {"name_path_pattern": f"/{name}", **asked}
            found += reading.symbols(await self._ask("find_symbol", one, bench), sight.lines)
        return found

    async def find(self, wanted: Wanted, bench: Bench) -> list[Symbol]:
        """Definitions by name."""
        sight = Sight(bench.workspace)
        asked: dict[str, Any] = {"name_path_pattern": wanted.name, "depth": wanted.depth}
        if wanted.within != self._root:
            asked["relative_path"] = bench.workspace.shown(wanted.within)
        if wanted.substring:
            asked["substring_matching"] = True
        said = await self._ask("find_symbol", asked, bench)
        found = reading.symbols(said, sight.lines, body=wanted.body)
        return [s for s in found if not wanted.kinds or s.kind in wanted.kinds]

    async def declaration(self, spot: Spot, bench: Bench) -> list[Symbol]:
        """Where the name at a place is defined; Serena gets the place by a pattern."""
        sight = Sight(bench.workspace)
        shown = bench.workspace.shown(spot.path)
        asked = {"relative_path": shown, "regex": pattern_for(spot, sight.lines(shown))}
        return reading.symbols(await self._ask("find_declaration", asked, bench), sight.lines)

    async def references(self, target: Target, bench: Bench) -> list[Reference]:
        """Uses of a symbol, without lines that only import it: Serena leaves those out."""
        symbol, lines = target.symbol, Sight(bench.workspace).lines
        asked = {"name_path": symbol.name_path, "relative_path": symbol.path}
        try:
            said = await self._ask("find_referencing_symbols", asked, bench)
        except Unable:
            exact = await self._own_name(symbol, bench)
            if exact == symbol.name_path:
                raise
            asked["name_path"] = exact
            said = await self._ask("find_referencing_symbols", asked, bench)
        return reading.references(said, symbol.name, lines)

    async def diagnostics(self, paths: tuple[str, ...], bench: Bench) -> list[Diagnostic]:
        """What its language server says about files."""
        if len(paths) > MOST_FILES or any(map(os.path.isdir, paths)):
            raise Unable("it checks only single files")
        lines = Sight(bench.workspace).lines
        found: list[Diagnostic] = []
        for path in paths:
            asked = {"relative_path": bench.workspace.shown(path), "min_severity": 4}
            said = await self._ask("get_diagnostics_for_file", asked, bench)
            found += reading.diagnostics(said, lines)
        return found

    async def search(self, pattern: str, path: str, bench: Bench) -> list[Hit]:
        """Places of a pattern; here for comparison, our own search is the quicker one."""
        asked = {"substring_pattern": pattern, "relative_path": bench.workspace.shown(path)}
        said = await self._ask("search_for_pattern", asked, bench)
        sight = Sight(bench.workspace)
        return [hit for hit in reading.places(said) if sight.shows(hit.file)]

    async def close(self) -> None:
        """The gateway ends the server."""

    async def _own_name(self, symbol: Symbol, bench: Bench) -> str:
        """A symbol's name path as Serena numbers overloads, by the line nearest to its own."""
        asked = {"name_path_pattern": f"/{symbol.name_path}", "relative_path": symbol.path}
        known = reading.raw_name_paths(await self._ask("find_symbol", asked, bench))
        near = sorted(known, key=lambda one: abs(one[1] - symbol.line))
        return near[0][0] if near else symbol.name_path

    async def _ask(self, tool: str, arguments: dict[str, Any], bench: Bench) -> str:
        """The text of an answer; the gate is asked before the server is."""
        known = {one.name for one in self._servers.tools_of(self._server.name)}
        if known and tool not in known:
            raise Unable(
                f"it does not offer {tool}",
                try_this="Start Serena with --agent-interface tools.",
            )
        if tool != "find_declaration":
            arguments = {**arguments, "max_answer_chars": LONGEST}
        effect = named(tool, self._server) or "reads"
        await bench.admit([McpCall(self._server.name, tool, arguments, effect)])
        asked = self._servers.call(self._server.name, tool, arguments, None, internal=True)
        return reading.answer(await asked)


def project_of(server: Server, root: str) -> str:
    """The folder a Serena works on, as far as its command line shows; `root` when it does not."""
    start = os.path.join(root, server.cwd) if server.cwd else root
    words = list(server.arguments)
    for at, word in enumerate(words):
        value = word.removeprefix("--project=") if word.startswith("--project=") else ""
        if word == "--project" and at + 1 < len(words):
            value = words[at + 1]
        if value:
            # A name of a project that Serena knows is not a path; then nothing is known.
            named = os.path.realpath(os.path.join(start, os.path.expanduser(value)))
            return named if os.path.isdir(named) else root
        if word == "--project-from-cwd":
            return os.path.realpath(start)
    return root


def pattern_for(spot: Spot, lines: Sequence[str]) -> str:
    """A pattern that matches once: the name in its line and column, seen from the file's start.

    Serena takes the column of the match for one of its language server, which counts characters
    beyond the first 65,536 twice; so the match begins as much later as there are such before it.
    """
    text = lines[spot.line - 1] if 0 < spot.line <= len(lines) else ""
    before = spot.column - 1
    start = re.search(r"[\w$]*$", text[:before])
    before = start.start() if start else before
    name = re.match(r"[\w$]+", text[before:])
    if name is None:
        raise Unable("there is no name there")
    twice = sum(ord(letter) > 0xFFFF for letter in text[:before])
    here = rf"\A(?:[^\n]*\n){{{spot.line - 1}}}[^\n]{{{before + twice}}}"
    if not twice:
        return f"{here}({re.escape(name[0])})"
    if before + twice >= len(text):
        raise Unable("it cannot be given the position")
    return f"{here}([^\\n])"
