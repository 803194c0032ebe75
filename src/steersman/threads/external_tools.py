"""What a thread reaches beyond its own tools: MCP servers, and what there is to know of the code.

Nothing here is started before it is used.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from steersman.identity.mcp_servers import Configured
from steersman.operations.code.facade import Facade
from steersman.operations.running.companions import Companions
from steersman.operations.tool import Tool
from steersman.operations.tools.find_declaration import FindDeclaration
from steersman.operations.tools.find_references import FindReferences
from steersman.operations.tools.find_symbol import FindSymbol
from steersman.operations.tools.get_diagnostics import GetDiagnostics
from steersman.operations.tools.get_symbols_overview import GetSymbolsOverview
from steersman.operations.tools.ranked_context import RankedContext
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Wishes
from steersman.records.message import Audit, Message, ToolCall
from steersman.threads.resources import WorkspaceResources

if TYPE_CHECKING:
    from steersman.operations.code.backend import Backend
    from steersman.operations.code.servers import ServerBackends
    from steersman.operations.mcp.connection import Connection
    from steersman.operations.mcp.gateway import Gateway
    from steersman.operations.tools.mcp_remote import Remotes

AnyTool = Tool[Any]
MOST_TOLD = 20


class ExternalTools:
    """The MCP servers of a thread, and its knowledge of code.

    Servers that keep something of their clients are `companions` of the thread, the others of the
    workspace. `wishes` says what servers may ask of the host, given whom to tell that a list has
    changed.
    """

    def __init__(
        self,
        workspace: WorkspaceResources,
        companions: Companions,
        configured: Configured,
        wishes: Callable[[Callable[[str], None]], Wishes],
        prefer: Sequence[str] = (),
    ) -> None:
        self._prefer = prefer
        self._workspace = workspace
        self._companions = companions
        self._wishes = wishes
        self._root = workspace.terms.root
        self.problems = configured.problems
        self.gateway: Gateway | None = None
        self._remotes: Remotes | None = None
        self._of_servers: ServerBackends | None = None
        if any(server.enabled for server in configured.servers):
            self._reach(configured.servers)
        self.facade = Facade(self._backends, workspace.terms.environ)

    def _reach(self, servers: Sequence[Server]) -> None:
        """What is needed where there are servers, and nowhere else."""
        from steersman.operations.code.servers import ServerBackends
        from steersman.operations.mcp.gateway import Gateway
        from steersman.operations.tools.mcp_remote import Remotes

        workspace = self._workspace
        self.gateway = Gateway(
            servers, self._connect, workspace.lists, workspace=self._root, shared=workspace.slot
        )
        self._remotes = Remotes(self.gateway)
        self._of_servers = ServerBackends(self.gateway, self._root)

    def tools(self) -> list[AnyTool]:
        """The tools for what is reached."""
        facade = self.facade
        found: list[AnyTool] = [
            GetSymbolsOverview(facade), FindSymbol(facade), FindDeclaration(facade),
            FindReferences(facade), GetDiagnostics(facade),
            RankedContext(self._workspace.keepers),
        ]  # fmt: skip
        if self.gateway is not None:
            from steersman.operations.tools.mcp_call_tool import CallTool
            from steersman.operations.tools.mcp_list_tools import ListTools

            found += [ListTools(self.gateway), CallTool(self.gateway)]
        if self._of_servers is not None and self._of_servers.serena() is not None:
            from steersman.operations.tools.propose_refactoring import ProposeRefactoring

            found.append(ProposeRefactoring(self._proposer(self._of_servers)))
        return found

    async def prepare(self, secret: str) -> None:
        """Bring an index that people use up to date, while a model thinks."""
        keepers = self._workspace.keepers
        if await asyncio.to_thread(keepers.kept, self._root):
            (await asyncio.to_thread(keepers.of, self._root, secret)).start()

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
        from steersman.operations.tools.mcp_list_tools import ListTools

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
        """End the servers that are the thread's own."""
        if self.gateway is not None:
            await self.gateway.close()

    def _connect(self, server: Server) -> "Connection":
        return self._workspace.connect(server, self._companions, self._wishes(self._changed))

    def _changed(self, server: str) -> None:
        if self.gateway is not None:
            self.gateway.changed(server)

    def _backends(self) -> "Sequence[Backend]":
        """Those of servers first, which may be others every time, then what is here.

        What the user prefers goes before all of them.
        """
        of_servers = self._of_servers() if self._of_servers else []
        return preferred([*of_servers, *self._workspace.local_backends()], self._prefer)

    def _proposer(self, servers: "ServerBackends") -> Any:
        from steersman.operations.code.proposals import Proposer

        scratch = os.path.join(self._workspace.machine.state, "scratch")
        return Proposer(servers.serena, self._connect, scratch, self._workspace.terms.environ)


def preferred(backends: "Sequence[Backend]", names: Sequence[str]) -> "Sequence[Backend]":
    """The backends, those first that are named, in the order of their names."""
    if not names:
        return backends
    ranks = {name.lower(): rank for rank, name in enumerate(names)}
    return sorted(backends, key=lambda one: ranks.get(one.name.lower(), len(ranks)))
