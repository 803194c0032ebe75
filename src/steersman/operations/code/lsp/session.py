"""A language server that runs: its greeting, the files it was shown, and its end.

What it knows of a file is what was on the disk when it was last asked: files that changed since are
sent again, and it learns of changes in files it reads by itself.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from steersman.operations.code.backend import Unable
from steersman.operations.code.lsp.greeting import greeting
from steersman.operations.code.lsp.peer import ENDED, Gone, Peer, Silent, Unserved
from steersman.operations.code.lsp.positions import OFFERED, Encoding, path_of, uri_of
from steersman.operations.code.lsp.reach import Signature, Text, Texts, signature_of
from steersman.operations.code.lsp.servers import LanguageServer
from steersman.operations.code.lsp.watching import Watch
from steersman.operations.code.lsp.wire import WireDiagnostic, each, listed
from steersman.operations.running.companions import Companion

PATIENCE = 30.0
OPEN = 64
_NEWS = 2_000
_FAREWELL = 1.0
_SOON = 1.0
_SILENCES = 2


class LanguageSession:
    """One server in one folder, from its greeting to its end."""

    def __init__(
        self, server: LanguageServer, folder: str, companion: Companion, texts: Texts
    ) -> None:
        self.folder = folder
        self.encoding: Encoding = "utf-16"
        self.capabilities: Mapping[str, Any] = {}
        self._server = server
        self._companion = companion
        self._texts = texts
        self._watch = Watch(server, folder)
        self._opened: OrderedDict[str, tuple[Signature, int]] = OrderedDict()
        self._syncing = asyncio.Lock()
        self._busy: set[str] = set()
        self._news = asyncio.Event()
        self._published: OrderedDict[str, tuple[int, list[WireDiagnostic]]] = OrderedDict()
        self._count = 0
        self._stirred = -1
        self._silences = 0
        self.peer = Peer(server.name, companion, self._serve, self._heed)

    @property
    def stuck(self) -> bool:
        """Whether it let several questions in a row go unanswered; one may only have been large."""
        return self._silences >= _SILENCES

    @property
    def over(self) -> bool:
        """Whether it can be asked no more."""
        return self.peer.over or self._companion.ended

    async def greet(self) -> None:
        """Agree on what each side can do; the watch begins before the server reads anything."""
        await asyncio.to_thread(self._watch.look)
        said = await self.peer.request(
            "initialize", greeting(self._server, self.folder), self._server.patience
        )
        answer = said if isinstance(said, dict) else {}
        found = answer.get("capabilities")
        self.capabilities = found if isinstance(found, dict) else {}
        encoding = self.capabilities.get("positionEncoding")
        self.encoding = next((known for known in OFFERED if known == encoding), "utf-16")
        await self.peer.notify("initialized", {})
        if self._server.settings:
            told = {"settings": self._server.settings}
            await self.peer.notify("workspace/didChangeConfiguration", told)

    def offers(self, ability: str) -> bool:
        """Whether the server said that it can do something: `referencesProvider` and the like."""
        return self.capabilities.get(ability) not in (None, False)

    async def ask(self, method: str, params: Any, patience: float = PATIENCE) -> Any:
        """The answer to a request; what went wrong is reported with the server's last words."""
        try:
            answer = await self.peer.request(method, params, patience)
        except Gone as gone:
            raise Gone(gone.what, gone.why or self._companion.last_words()[-500:]) from gone
        except Silent:
            self._silences += 1
            raise
        self._silences = 0
        return answer

    async def sync(self, *paths: str) -> list[str]:
        """Show files to the server as they are on the disk, and tell it what else changed.

        The answer is which of them it did not know so.
        """
        async with self._syncing:
            before = {path: self._opened.get(path) for path in paths}
            changes = await asyncio.to_thread(self._watch.changes)
            if changes:
                self._stirred = self._count
                told = [{"uri": uri_of(path), "type": kind} for path, kind in changes]
                await self.peer.notify("workspace/didChangeWatchedFiles", {"changes": told})
            for path in [*self._opened]:
                if path not in paths and signature_of(path) != self._opened[path][0]:
                    await self._show(path)
            for path in paths:
                if not await self._show(path):
                    raise Unable(f"{os.path.basename(path)} is not there, or too large.")
            return [path for path in paths if self._opened.get(path) != before[path]]

    async def settled(self, patience: float) -> None:
        """Wait, but not for ever, until a server that indexes says that it is done."""
        if self._server.indexes:
            await self._until(lambda: not self._busy, patience)

    async def parsed(self, paths: Iterable[str], since: int, patience: float) -> None:
        """Wait, but not for ever, until a server that publishes has said something of files."""

        def all_said() -> bool:
            return all(self._published.get(path, (-1, []))[0] > since for path in paths)

        await self._until(all_said, patience)

    def heard(self) -> int:
        """How much news of diagnostics came so far."""
        return self._count

    async def diagnosing(self, path: str, sent: bool, since: int, patience: float) -> bool:
        """Wait until the server can be asked about a file, which is True, or has published what it
        knows; some say only after their greeting that they can be asked.

        What was published before holds for a file that was not `sent` again. If others changed
        meanwhile, it is given a moment to be published again.
        """

        def published(after: int) -> bool:
            return self._published.get(path, (-1, []))[0] > after

        def can_be_asked() -> bool:
            return self.offers("diagnosticProvider")

        known = not sent and published(-1)
        if known and not published(self._stirred):
            await self._until(lambda: can_be_asked() or published(since), _SOON)
        elif not known:
            await self._until(lambda: can_be_asked() or published(since), patience)
        if not known and not can_be_asked() and not published(since):
            name = os.path.basename(path)
            raise Unable(f"{self._server.name} said nothing about {name} in time.")
        return can_be_asked()

    def published(self, path: str) -> list[WireDiagnostic]:
        """What the server last published about a file."""
        return self._published.get(path, (0, []))[1]

    async def close(self) -> None:
        """Say good-bye, wait a moment, then end it and all it started."""
        try:
            if not self.over:
                await self.peer.request("shutdown", None, _FAREWELL)
                await self.peer.notify("exit", None, _FAREWELL)
        except Unable:
            pass  # then without manners
        finally:
            await self.peer.close()
            await self._companion.stop(_FAREWELL)

    async def _show(self, path: str) -> bool:
        """Send a file that is new or changed; one that is gone is closed."""
        text = await asyncio.to_thread(self._texts.get, path)
        uri = uri_of(path)
        if text is None:
            if self._opened.pop(path, None) is not None:
                closed = {"textDocument": {"uri": uri}}
                await self.peer.notify("textDocument/didClose", closed)
            return False
        before = self._opened.get(path)
        if before is None:
            await self._open(path, text)
        elif before[0] != text.signature:
            version = before[1] + 1
            self._opened[path] = (text.signature, version)
            changed = {
                "textDocument": {"uri": uri, "version": version},
                "contentChanges": [{"text": text.text}],
            }
            await self.peer.notify("textDocument/didChange", changed)
        self._opened.move_to_end(path)
        return True

    async def _open(self, path: str, text: Text) -> None:
        document = {
            "uri": uri_of(path),
            "languageId": self._server.language(path) or "plaintext",
            "version": 1,
            "text": text.text,
        }
        await self.peer.notify("textDocument/didOpen", {"textDocument": document})
        self._opened[path] = (text.signature, 1)
        if len(self._opened) > OPEN:
            oldest = next(iter(self._opened))
            del self._opened[oldest]
            closed = {"textDocument": {"uri": uri_of(oldest)}}
            await self.peer.notify("textDocument/didClose", closed)

    def _serve(self, method: str, params: Any) -> Any:
        """Answer what the server asks of us; it is never let change anything."""
        fields = params if isinstance(params, dict) else {}
        match method:
            case "workspace/configuration":
                return [self._setting(item) for item in listed(fields.get("items"))]
            case "workspace/workspaceFolders":
                return [{"uri": uri_of(self.folder), "name": "workspace"}]
            case "workspace/applyEdit":
                return {"applied": False, "failureReason": "the workspace is only looked at"}
            case "window/showMessageRequest":
                return None
            case "window/showDocument":
                return {"success": False}
            case ("client/registerCapability" | "client/unregisterCapability") as change:
                if change == "client/registerCapability":
                    self._register(fields)
                return None
            case "window/workDoneProgress/create":
                return None
            case _ if method.startswith("workspace/") and method.endswith("/refresh"):
                return None
        raise Unserved

    def _setting(self, item: Any) -> Any:
        """A part of the server's settings, by its dotted name."""
        section = item.get("section") if isinstance(item, dict) else None
        found: Any = self._server.settings
        for part in section.split(".") if isinstance(section, str) and section else ():
            found = found.get(part) if isinstance(found, Mapping) else None
        return found if found not in ({}, None) else None

    def _register(self, fields: Mapping[str, Any]) -> None:
        """Take what a server offers only after its greeting."""
        for item in listed(fields.get("registrations")):
            if isinstance(item, dict) and item.get("method") == "textDocument/diagnostic":
                options = item.get("registerOptions") or {}
                self.capabilities = {**self.capabilities, "diagnosticProvider": options}
                self._wake()

    def _heed(self, method: str, params: Any) -> None:
        fields = params if isinstance(params, dict) else {}
        if method == "$/progress":
            self._progress(fields)
        elif method == "textDocument/publishDiagnostics":
            self._take(fields)
        elif method != ENDED:
            return
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _take(self, fields: Mapping[str, Any]) -> None:
        """Keep what was published about a file."""
        self._count += 1
        path = path_of(str(fields.get("uri")))
        self._published[path] = (self._count, each(WireDiagnostic, fields.get("diagnostics")))
        self._published.move_to_end(path)
        while len(self._published) > _NEWS:
            self._published.popitem(last=False)

    def _progress(self, params: Mapping[str, Any]) -> None:
        token, value = str(params.get("token")), params.get("value")
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind == "begin" and len(self._busy) < _NEWS:
            self._busy.add(token)
        elif kind == "end":
            self._busy.discard(token)

    async def _until(self, ready: Callable[[], bool], patience: float) -> None:
        """Wait for news until something holds, the server is gone or time is up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while not ready() and not self.over:
                    await self._news.wait()
