"""A language server as a backend of code intelligence: every answer in the one shape."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from steersman.operations.code.backend import Ability, Spot, Target, Unable, Wanted
from steersman.operations.code.lsp.answers import (
    below,
    column_of,
    could_be,
    diagnostic_of,
    is_wanted,
    name_at,
    position,
    unlisted,
    use_of,
)
from steersman.operations.code.lsp.candidates import first_file, with_name
from steersman.operations.code.lsp.keeper import Keeper
from steersman.operations.code.lsp.positions import path_of, uri_of
from steersman.operations.code.lsp.reach import Reach, Signature, Text, Texts
from steersman.operations.code.lsp.servers import LanguageServer, configured
from steersman.operations.code.lsp.session import LanguageSession
from steersman.operations.code.lsp.symbols import Found, body_of, cut, document_symbols
from steersman.operations.code.lsp.wire import (
    Location,
    WireDiagnostic,
    WorkspaceSymbol,
    each,
    locations,
)
from steersman.operations.code.naming import last_part
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.running.companions import Companions
from steersman.operations.tool import Bench

MOST_FILES = 80
MOST_CHECKED = 50
MOST_OPENED = 24
SETTLING = 15.0
PUBLISHING = 15.0
WIDE = 60.0  # seconds for what needs the whole project
_KEPT = 256
_PROVIDERS: dict[Ability, str] = {
    "overview": "documentSymbolProvider",
    "find": "documentSymbolProvider",
    "declaration": "definitionProvider",
    "references": "referencesProvider",
}


def language_servers(
    root: str,
    companions: Companions,
    environ: Mapping[str, str],
    table: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[LspBackend]:
    """A backend for every server of the table and of the user's own; none of them is started."""
    texts = Texts()
    return [
        LspBackend(server, root, companions, environ, texts) for server in configured(table or {})
    ]


class LspBackend:
    """One kind of language server in one workspace (a real path)."""

    def __init__(
        self,
        server: LanguageServer,
        root: str,
        companions: Companions,
        environ: Mapping[str, str],
        texts: Texts | None = None,
    ) -> None:
        self._server = server
        self._root = root
        self._environ = environ
        self._texts = texts or Texts()
        self._keeper = Keeper(server, root, companions, environ, self._texts)
        self._symbols: OrderedDict[tuple[int, str], tuple[Signature, tuple[Found, ...]]]
        self._symbols = OrderedDict()

    @property
    def name(self) -> str:
        """What the server is called."""
        return self._server.name

    def serves(self, ability: Ability, path: str) -> bool:
        """Whether the server is installed and knows such files; a folder must have some."""
        if self._keeper.program() is None or self._keeper.tired:
            return False
        if os.path.isdir(path):
            return ability in ("find", "references") and bool(first_file(self._server, path))
        return bool(self._server.language(path))

    async def overview(self, path: str, depth: int, bench: Bench) -> list[Symbol]:
        """The symbols of a file, nested to a depth."""
        reach = Reach(bench.workspace, (path,))
        reach.check(path)
        async with self._session("overview", path) as session:
            found = await self._symbols_of(path, session, reach)
        return [cut(one, depth) for one in found]

    async def find(self, wanted: Wanted, bench: Bench) -> list[Symbol]:
        """Definitions by name, in a file or below a folder."""
        reach = Reach(bench.workspace, (wanted.within,))
        async with self._session("find", wanted.within) as session:
            if os.path.isdir(wanted.within):
                paths = await self._candidates(wanted, session, reach, bench)
            else:
                reach.check(wanted.within)
                paths = [wanted.within]
            found: list[Symbol] = []
            for path in paths:
                for one in await self._symbols_of(path, session, reach):
                    found += [
                        self._told(f, path, wanted) for f in one.flat() if is_wanted(f, wanted)
                    ]
                if len(found) >= wanted.most:
                    break
        return found[: wanted.most]

    async def declaration(self, spot: Spot, bench: Bench) -> list[Symbol]:
        """Where the name at a place is defined; outside the workspace only the place is given."""
        reach = Reach(bench.workspace, (spot.path,))
        reach.check(spot.path)
        async with self._session("declaration", spot.path) as session:
            text = await self._shown(spot.path, session)
            column = column_of(text.line(spot.line), spot.name, spot.column)
            where = position(spot.path, text, spot.line, column, session.encoding)
            await session.settled(SETTLING)
            answer = await session.ask("textDocument/definition", where)
            places = [await self._defined(one, session, reach) for one in locations(answer)]
        found = {(s.path, s.line, s.column): s for s in places if s is not None}
        inside = [symbol for symbol in found.values() if not os.path.isabs(symbol.path)]
        return inside or [*found.values()]

    async def references(self, target: Target, bench: Bench) -> list[Reference]:
        """Where a symbol is used."""
        path = os.path.join(self._root, target.symbol.path)
        reach = Reach(bench.workspace, (path, target.within))
        reach.check(path)
        async with self._session("references", path) as session:
            text = await self._shown(path, session)
            await self._open_users(target.symbol.name, session, reach, bench)
            line, column = name_at(text, target.symbol)
            where = position(path, text, line, column, session.encoding)
            await session.settled(SETTLING)
            # Some count imports as declarations; the definition itself is left out below.
            asked = {**where, "context": {"includeDeclaration": True}}
            answer = await session.ask("textDocument/references", asked, WIDE)
            found = [
                (place_path, place)
                for place in locations(answer)
                if below(place_path := path_of(place.uri), target.within) and reach.sees(place_path)
            ]
            uses = await self._uses(found, session, reach)
            own = {(line, column)} | {
                (one.symbol.line, one.symbol.column)  # with its other signatures
                for top in await self._symbols_of(path, session, reach)
                for one in top.flat()
                if one.symbol.name_path == target.symbol.name_path
            }
        here = target.symbol.path
        kept = [use for use in uses if use.path != here or (use.line, use.column) not in own]
        return kept[: target.most]

    async def diagnostics(self, paths: tuple[str, ...], bench: Bench) -> list[Diagnostic]:
        """What the server says about files; folders are for checkers."""
        if len(paths) > MOST_CHECKED or any(not self._server.language(path) for path in paths):
            raise Unable(f"{self.name} checks up to {MOST_CHECKED} files of its languages.")
        reach = Reach(bench.workspace, paths)
        found: list[Diagnostic] = []
        for path in paths:
            reach.check(path)
            async with self._session("diagnostics", path) as session:
                said = await self._checked(path, session)
                text = await asyncio.to_thread(self._texts.get, path)
                found += [
                    diagnostic_of(one, text, reach.shown(path), session.encoding, self.name)
                    for one in said
                ]
        return found

    async def close(self) -> None:
        """End the servers."""
        await self._keeper.close()

    # ------------------------------------------------------------------------- asking

    def _session(self, ability: Ability, path: str) -> AbstractAsyncContextManager[LanguageSession]:
        return self._keeper.session(path, _PROVIDERS.get(ability, ""))

    async def _shown(self, path: str, session: LanguageSession) -> Text:
        """A file's text, which the server knows now."""
        await session.sync(path)
        text = await asyncio.to_thread(self._texts.get, path)
        if text is None:
            raise Unable(f"{os.path.basename(path)} cannot be read.")
        return text

    async def _symbols_of(
        self, path: str, session: LanguageSession, reach: Reach
    ) -> tuple[Found, ...]:
        """The definitions of a file, kept until it changes."""
        key = (id(session), path)
        text = await asyncio.to_thread(self._texts.get, path)
        kept = self._symbols.get(key)
        if text is not None and kept is not None and kept[0] == text.signature:
            self._symbols.move_to_end(key)
            return kept[1]
        text = await self._shown(path, session)
        asked = {"textDocument": {"uri": uri_of(path)}}
        answer = await session.ask("textDocument/documentSymbol", asked)
        found = document_symbols(answer, path, text.lines, session.encoding, reach.shown(path))
        self._symbols[key] = (text.signature, found)
        while len(self._symbols) > _KEPT:
            self._symbols.popitem(last=False)
        return found

    async def _candidates(
        self, wanted: Wanted, session: LanguageSession, reach: Reach, bench: Bench
    ) -> list[str]:
        """Files that may define a name: those the server knows, else those with the word in it."""
        name = last_part(wanted.name)
        found: list[str] = []
        if self._server.opens == "files":
            found = await self._with_name(name, wanted.within, bench, wanted.substring)
        elif session.offers("workspaceSymbolProvider"):
            some = first_file(self._server, wanted.within) if self._server.opens else ""
            await session.sync(*filter(reach.sees, filter(None, (some,))))
            await session.settled(SETTLING)
            answer = await session.ask("workspace/symbol", {"query": name}, WIDE)
            named = [
                one for one in each(WorkspaceSymbol, answer) if could_be(one.name, name, wanted)
            ]
            found = [path_of(one.location.uri) for one in named]
        if not found:
            found = await self._with_name(name, wanted.within, bench, wanted.substring)
        seen = [p for p in dict.fromkeys(found) if below(p, wanted.within) and reach.sees(p)]
        return sorted(seen)[:MOST_FILES]

    async def _with_name(
        self, name: str, within: str, bench: Bench, substring: bool = False
    ) -> list[str]:
        return await with_name(name, within, self._server, bench, self._environ, substring)

    async def _open_users(
        self, name: str, session: LanguageSession, reach: Reach, bench: Bench
    ) -> None:
        """Open files with a name, for a server that knows only open files or their projects."""
        if not self._server.opens:
            return
        found = [p for p in sorted(await self._with_name(name, self._root, bench)) if reach.sees(p)]
        if self._server.opens == "projects":
            found = [*{os.path.dirname(path): path for path in reversed(found)}.values()]
        since = session.heard()
        opened = await session.sync(*found[:MOST_OPENED])
        if self._server.opens == "files":
            await session.parsed(opened, since, SETTLING)

    async def _checked(self, path: str, session: LanguageSession) -> list[WireDiagnostic]:
        """What is wrong in a file: asked for where that is offered, else waited for."""
        since = session.heard()
        sent = bool(await session.sync(path))
        if not await session.diagnosing(path, sent, since, PUBLISHING):
            return session.published(path)
        asked = {"textDocument": {"uri": uri_of(path)}}
        answer = await session.ask("textDocument/diagnostic", asked)
        return each(WireDiagnostic, answer.get("items") if isinstance(answer, dict) else None)

    # ------------------------------------------------------------------------- telling

    def _told(self, found: Found, path: str, wanted: Wanted) -> Symbol:
        symbol = cut(found, wanted.depth)
        text = self._texts.get(path) if wanted.body else None
        return msgspec.structs.replace(symbol, body=body_of(found, text.lines)) if text else symbol

    async def _defined(
        self, place: Location, session: LanguageSession, reach: Reach
    ) -> Symbol | None:
        """The definition at a place."""
        path = path_of(place.uri)
        if not path:
            return None
        if not below(path, self._root):
            start = place.range.start
            name = os.path.basename(path)
            return Symbol(name, name, "module", path, start.line + 1, start.line + 1)
        if not reach.sees(path):
            return None
        found = await self._symbols_of(path, session, reach)
        start = place.range.start
        for one in found:
            for inner in one.flat():
                if inner.name_at.has(start):
                    return inner.symbol
        text = await self._shown(path, session)
        return unlisted(place, text, reach.shown(path), session.encoding, found)

    async def _uses(
        self, found: Sequence[tuple[str, Location]], session: LanguageSession, reach: Reach
    ) -> list[Reference]:
        uses: set[Reference] = set()
        known: dict[str, tuple[Found, ...]] = {}
        for path, place in found:
            text = await asyncio.to_thread(self._texts.get, path)
            if text is None:
                continue
            if path not in known:
                can = session.offers("documentSymbolProvider") and len(known) < MOST_FILES
                known[path] = await self._symbols_of(path, session, reach) if can else ()
            uses.add(use_of(place, text, reach.shown(path), session.encoding, known[path]))
        return sorted(uses, key=lambda use: (use.path, use.line, use.column))
