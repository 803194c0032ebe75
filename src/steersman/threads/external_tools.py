"""What a thread reaches beyond its own tools: MCP servers, and what there is to know of the code.

Nothing here is started before it is used.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steersman.identity.mcp_servers import find as configured
from steersman.operations.code.facade import Facade
from steersman.operations.code.index.keepers import IndexKeepers
from steersman.operations.code.servers import ServerBackends
from steersman.operations.mcp.cache import Cache
from steersman.operations.mcp.eras import Eras
from steersman.operations.mcp.gateway import Gateway
from steersman.operations.mcp.tokens import SignIns
from steersman.operations.running.companions import Companions
from steersman.operations.tool import Tool
from steersman.operations.tools.find_declaration import FindDeclaration
from steersman.operations.tools.find_references import FindReferences
from steersman.operations.tools.find_symbol import FindSymbol
from steersman.operations.tools.get_diagnostics import GetDiagnostics
from steersman.operations.tools.get_symbols_overview import GetSymbolsOverview
from steersman.operations.tools.mcp_call_tool import CallTool
from steersman.operations.tools.mcp_list_tools import ListTools
from steersman.operations.tools.mcp_remote import Remotes
from steersman.operations.tools.propose_refactoring import ProposeRefactoring
from steersman.operations.tools.ranked_context import RankedContext
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Wishes
from steersman.records.message import Audit, Message, ToolCall
from steersman.records.settings import Settings

if TYPE_CHECKING:
    from steersman.operations.code.backend import Backend
    from steersman.operations.mcp.connection import Connection

AnyTool = Tool[Any]
MOST_TOLD = 20


class ExternalTools:
    """The MCP servers of a thread, and its knowledge of code.

    `environ` is that of commands, `surroundings` the whole environment, which configurations name.
    `wishes` says what servers may ask of the host, given whom to tell that a list has changed.
    """

    def __init__(
        self,
        settings: Settings,
        surroundings: Mapping[str, str],
        environ: Mapping[str, str],
        state: str,
        companions: Companions,
        wishes: Callable[[Callable[[str], None]], Wishes],
        *,
        root: str,
        trusted: bool,
    ) -> None:
        self._settings = settings
        self._surroundings = surroundings
        self._environ = environ
        self._state = state
        self._companions = companions
        self._wishes = wishes
        self._root = root
        self._eras = Eras(os.path.join(state, "mcp"))
        self._sign_ins = SignIns(os.path.join(state, "mcp"))
        found = configured(root, surroundings, trusted=trusted)
        self.problems = found.problems
        self.gateway: Gateway | None = None
        if any(server.enabled for server in found.servers):
            lists = Cache(os.path.join(state, "mcp"))
            self.gateway = Gateway(found.servers, self._connect, lists, workspace=root)
        self._remotes = Remotes(self.gateway) if self.gateway else None
        self._of_servers = ServerBackends(self.gateway, root) if self.gateway else None
        self._local: list[Backend] | None = None
        self._keepers = IndexKeepers(Path(state), environ)
        self.facade = Facade(self._backends, environ)

    def tools(self) -> list[AnyTool]:
        """The tools for what is reached."""
        facade = self.facade
        found: list[AnyTool] = [
            GetSymbolsOverview(facade), FindSymbol(facade), FindDeclaration(facade),
            FindReferences(facade), GetDiagnostics(facade), RankedContext(self._keepers),
        ]  # fmt: skip
        if self.gateway is not None:
            found += [ListTools(self.gateway), CallTool(self.gateway)]
        if self._of_servers is not None and self._of_servers.serena() is not None:
            found.append(ProposeRefactoring(self._proposer(self._of_servers)))
        return found

    def prepare(self, secret: str) -> None:
        """Bring an index that people use up to date, while a model thinks."""
        if self._keepers.kept(self._root):
            self._keepers.of(self._root, secret).start()

    def audits(self) -> list[Audit]:
        """What is wrong with the configuration of servers."""
        told = [Audit("mcp", problem) for problem in self.problems]
        if self._of_servers is not None:
            self._of_servers()
            told += [Audit("mcp", problem) for problem in self._of_servers.broken.values()]
        return told[:MOST_TOLD]

    def recall(self, messages: Iterable[Message]) -> None:
        """Offer the tools again that the model chose before; no server is started for it."""
        if self.gateway is None:
            return
        for message in messages:
            body = message.body
            if isinstance(body, ToolCall) and body.tool == ListTools.name:
                for name in body.arguments.get("select") or ():
                    if isinstance(name, str) and self.gateway.tool(name) is not None:
                        self.gateway.select([name])

    def joined(self) -> Sequence[AnyTool]:
        """Tools of servers that the model has chosen."""
        return self._remotes.tools() if self._remotes else ()

    async def fetch(self, name: str) -> AnyTool | None:
        """A tool of a server by the name a model calls it, chosen or not."""
        if self.gateway is None or self._remotes is None or "__" not in name:
            return None
        await self.gateway.describe([name])
        return self._remotes.get(name)

    async def close(self) -> None:
        """End everything that was started."""
        for backend in self._local or ():
            await backend.close()
        await self._keepers.close()
        if self.gateway is not None:
            await self.gateway.close()

    def _connect(self, server: Server) -> "Connection":
        from steersman.operations.mcp.connection import Connection
        from steersman.operations.mcp.templates import prepare

        prepare(server, self._state, self._surroundings, self._root)
        wishes = self._wishes(self._changed)
        return Connection(
            server, self._companions, self._eras, wishes, self._surroundings, self._root,
            self._sign_ins,
        )  # fmt: skip

    def _changed(self, server: str) -> None:
        if self.gateway is not None:
            self.gateway.changed(server)

    def _backends(self) -> "Sequence[Backend]":
        """Those of servers first, which may be others every time, then what is here."""
        of_servers = self._of_servers() if self._of_servers else []
        if self._local is None:
            from steersman.operations.code.local import local_backends

            self._local = local_backends(
                self._root,
                self._companions,
                self._environ,
                self._settings.language_servers,
                self._keepers.of(self._root).current,
            )
        return [*of_servers, *self._local]

    def _proposer(self, servers: ServerBackends) -> Any:
        from steersman.operations.code.proposals import Proposer

        scratch = os.path.join(self._state, "scratch")
        return Proposer(servers.serena, self._connect, scratch, self._environ)
