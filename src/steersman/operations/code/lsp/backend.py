"""A language server as a backend of code intelligence: every answer in the one shape."""

from __future__ import annotations

import asyncio
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from steersman.operations.code.backend import Ability, Spot, Target, Unable, Wanted
from steersman.operations.code.lsp.candidates import first_file, with_name
from steersman.operations.code.lsp.keeper import Keeper
from steersman.operations.code.lsp.kinds import severity_of
from steersman.operations.code.lsp.positions import path_of, to_column, to_units, uri_of
from steersman.operations.code.lsp.reach import Reach, Signature, Text, Texts
from steersman.operations.code.lsp.servers import LanguageServer, configured
from steersman.operations.code.lsp.session import Session
from steersman.operations.code.lsp.symbols import (
    Found,
    body_of,
    cut,
    document_symbols,
    innermost,
    plain,
)
from steersman.operations.code.lsp.wire import (
    Location,
    WireDiagnostic,
    WorkspaceSymbol,
    each,
    locations,
)
from steersman.operations.code.naming import last_part, matches
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.running.companions import Companions
from steersman.operations.tool import Bench

MOST_FILES = 80
MOST_CHECKED = 50
LONGEST = 200
SETTLING = 15.0
PUBLISHING = 15.0
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
    """A backend for every server of the table and of a person's own; none of them is started."""
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
                    found += [self._told(f, path, wanted) for f in one.flat() if _is(f, wanted)]
                if len(found) >= wanted.most:
                    break
        return found[: wanted.most]

    async def declaration(self, spot: Spot, bench: Bench) -> list[Symbol]:
        """Where the name at a place is defined; outside the workspace only the place is told."""
        reach = Reach(bench.workspace, (spot.path,))
        reach.check(spot.path)
        async with self._session("declaration", spot.path) as session:
            text = await self._shown(spot.path, session)
            column = _column(text.line(spot.line), spot.name, spot.column)
            where = self._at(spot.path, text, spot.line, column, session)
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
            if self._server.opens:
                await self._load_projects(target.symbol.name, session, reach, bench)
            line, column = _name_at(text, target.symbol)
            where = self._at(path, text, line, column, session)
            await session.settled(SETTLING)
            # Some count imports as declarations; the definition itself is left out below.
            asked = {**where, "context": {"includeDeclaration": True}}
            answer = await session.ask("textDocument/references", asked)
            found = [
                (place_path, place)
                for place in locations(answer)
                if _below(place_path := path_of(place.uri), target.within)
                and reach.sees(place_path)
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
                found += [self._diagnostic(one, text, reach.shown(path), session) for one in said]
        return found

    async def close(self) -> None:
        """End the servers."""
        await self._keeper.close()

    # ------------------------------------------------------------------------- asking

    def _session(self, ability: Ability, path: str) -> AbstractAsyncContextManager[Session]:
        return _Offering(self._keeper.session(path), self.name, _PROVIDERS.get(ability, ""))

    async def _shown(self, path: str, session: Session) -> Text:
        """A file's text, which the server knows now."""
        await session.sync(path)
        text = await asyncio.to_thread(self._texts.get, path)
        if text is None:
            raise Unable(f"{os.path.basename(path)} cannot be read.")
        return text

    async def _symbols_of(self, path: str, session: Session, reach: Reach) -> tuple[Found, ...]:
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
        self, wanted: Wanted, session: Session, reach: Reach, bench: Bench
    ) -> list[str]:
        """Files that may define a name: those the server knows, else those with the word in it."""
        name = last_part(wanted.name)
        found: list[str] = []
        if session.offers("workspaceSymbolProvider"):
            if self._server.opens and (some := first_file(self._server, wanted.within)):
                await session.sync(some)
            else:
                await session.sync()
            await session.settled(SETTLING)
            answer = await session.ask("workspace/symbol", {"query": name})
            named = [one for one in each(WorkspaceSymbol, answer) if _fits(one.name, name, wanted)]
            found = [path_of(one.location.uri) for one in named]
        if not found:
            found = await with_name(
                name, wanted.within, self._server, bench, self._environ, wanted.substring
            )
        seen = [p for p in dict.fromkeys(found) if _below(p, wanted.within) and reach.sees(p)]
        return sorted(seen)[:MOST_FILES]

    async def _load_projects(self, name: str, session: Session, reach: Reach, bench: Bench) -> None:
        """Open a file with the name in every folder that has some: a server that knows only the
        projects of open files then knows them all."""
        found = await with_name(name, self._root, self._server, bench, self._environ, False)
        folders: dict[str, str] = {}
        for path in sorted(found):
            if reach.sees(path):
                folders.setdefault(os.path.dirname(path), path)
        await session.sync(*[*folders.values()][:16])

    async def _checked(self, path: str, session: Session) -> list[WireDiagnostic]:
        """What is wrong in a file: asked for where that is offered, else waited for."""
        since = session.heard()
        await session.sync(path)
        if not await session.diagnosing(path, since, PUBLISHING):
            return session.published(path)
        asked = {"textDocument": {"uri": uri_of(path)}}
        answer = await session.ask("textDocument/diagnostic", asked)
        return each(WireDiagnostic, answer.get("items") if isinstance(answer, dict) else None)

    # ------------------------------------------------------------------------- telling

    def _told(self, found: Found, path: str, wanted: Wanted) -> Symbol:
        symbol = cut(found, wanted.depth)
        text = self._texts.get(path) if wanted.body else None
        return msgspec.structs.replace(symbol, body=body_of(found, text.lines)) if text else symbol

    async def _defined(self, place: Location, session: Session, reach: Reach) -> Symbol | None:
        """The definition at a place."""
        path = path_of(place.uri)
        if not path:
            return None
        if not _below(path, self._root):
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
        return _local(place, text, reach.shown(path), session, innermost(found, start))

    async def _uses(
        self, found: Sequence[tuple[str, Location]], session: Session, reach: Reach
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
            start = place.range.start
            line = text.line(start.line + 1)
            around = innermost(known[path], start)
            uses.add(
                Reference(
                    reach.shown(path),
                    start.line + 1,
                    to_column(line, start.character, session.encoding),
                    line.strip()[:LONGEST],
                    around.symbol.name_path if around else "",
                )
            )
        return sorted(uses, key=lambda use: (use.path, use.line, use.column))

    def _at(self, path: str, text: Text, line: int, column: int, session: Session) -> Any:
        units = to_units(text.line(line), column, session.encoding)
        place = {"line": line - 1, "character": units}
        return {"textDocument": {"uri": uri_of(path)}, "position": place}

    def _diagnostic(
        self, said: WireDiagnostic, text: Text | None, shown: str, session: Session
    ) -> Diagnostic:
        start, end = said.range.start, said.range.end
        line = text.line(start.line + 1) if text else ""
        return Diagnostic(
            path=shown,
            line=start.line + 1,
            column=to_column(line, start.character, session.encoding),
            severity=severity_of(said.severity),
            message=said.message,
            code="" if said.code is None else str(said.code),
            source=said.source or self.name,
            end_line=end.line + 1 if end.line > start.line else 0,
        )


class _Offering(AbstractAsyncContextManager[Session]):
    """A session that must offer something."""

    def __init__(
        self, session: AbstractAsyncContextManager[Session], name: str, provider: str
    ) -> None:
        self._session = session
        self._name = name
        self._provider = provider

    async def __aenter__(self) -> Session:
        session = await self._session.__aenter__()
        if self._provider and not session.offers(self._provider):
            await self._session.__aexit__(None, None, None)
            raise Unable(f"{self._name} does not offer that.")
        return session

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self._session.__aexit__(*error)


def _is(found: Found, wanted: Wanted) -> bool:
    symbol = found.symbol
    return matches(wanted.name, symbol.name_path, wanted.substring) and (
        not wanted.kinds or symbol.kind in wanted.kinds
    )


def _fits(said: str, name: str, wanted: Wanted) -> bool:
    last = plain(said)[1]
    return name in last if wanted.substring else name == last


def _local(
    place: Location, text: Text, shown: str, session: Session, around: Found | None
) -> Symbol:
    """A definition that the server does not list, such as a parameter."""
    number = place.range.start.line + 1
    line = text.line(number)
    column = to_column(line, place.range.start.character, session.encoding)
    word = re.match(r"[\w$]+", line[column - 1 :])
    name = word[0] if word else line[column - 1 :].strip()[:40]
    above = f"{around.symbol.name_path}/" if around else ""
    signature = line.strip()[:LONGEST]
    return Symbol(name, above + name, "variable", shown, number, number, column, signature)


def _column(line: str, name: str, column: int) -> int:
    """The column of a name near a column; the column itself when no name is given."""
    if not name or line[column - 1 :].startswith(name):
        return column
    places = [hit.start() + 1 for hit in _words(name, line)]
    return min(places, key=lambda place: abs(place - column)) if places else column


def _name_at(text: Text, symbol: Symbol) -> tuple[int, int]:
    """Where the name of a definition stands; whoever found it may have told only the line."""
    if text.line(symbol.line)[symbol.column - 1 :].startswith(symbol.name):
        return symbol.line, symbol.column
    for number in range(symbol.line, max(symbol.line, symbol.end_line) + 1):
        for hit in _words(symbol.name, text.line(number)):
            return number, hit.start() + 1
    return symbol.line, symbol.column


def _words(name: str, line: str) -> Iterable[re.Match[str]]:
    return re.finditer(rf"(?<![\w$]){re.escape(name)}(?![\w$])", line)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
