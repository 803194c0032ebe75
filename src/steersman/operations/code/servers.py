"""The MCP servers of a thread as backends: found again for each question, because they come and go.

No server is started to see whether it knows code: Serena is known by its name, command or tools
that are known already, any other by the table in its entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from steersman.operations.mcp.authority import is_serena
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Condition, Effect, Outcome, RemoteTool

if TYPE_CHECKING:
    from steersman.operations.code.backend import Backend


class Servers(Protocol):
    """What is needed of the gateway."""

    @property
    def servers(self) -> tuple[Server, ...]:
        """All that are configured, in order."""
        ...

    def conditions(self) -> list[Condition]:
        """How every server is doing."""
        ...

    def tools_of(self, server: str) -> tuple[RemoteTool, ...]:
        """The tools of a server as far as they are known without asking it."""
        ...

    def effect(self, server: str, tool: str) -> Effect:
        """Whether a call counts as looking or as changing; what is not known may change things."""
        ...

    async def find(self, words: str = "", server: str = "") -> object:
        """Ask a server for its tools, if they are not known yet."""
        ...

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        progress: Callable[[str], None] | None = None,
        *,
        internal: bool = False,
    ) -> Outcome:
        """Call a tool; `internal` when the answer is for the host and not for a model."""
        ...


def usable(servers: Servers, name: str) -> bool:
    """Whether a server may be asked: one that failed too, as it may have come back since."""
    return any(one.server == name and one.state != "disabled" for one in servers.conditions())


async def effect_of(servers: Servers, server: str, tool: str) -> Effect:
    """What a call counts as, by the server's own word where that is believed."""
    if not servers.tools_of(server):
        await servers.find(server=server)
    return servers.effect(server, tool)


class ServerBackends:
    """Serena first, then others that have a table; `broken` says which tables are wrong."""

    def __init__(self, servers: Servers, root: str) -> None:
        self._servers = servers
        self._root = root
        self._serenas: dict[str, Backend] = {}
        self._mapped: dict[str, Backend | None] = {}
        self.broken: dict[str, str] = {}

    def __call__(self) -> list[Backend]:
        """The backends there are now."""
        serenas: list[Backend] = []
        mapped: list[Backend] = []
        for server in self._servers.servers:
            if not server.enabled:
                continue
            if (by_table := self._by_table(server)) is not None:
                mapped.append(by_table)
            elif is_serena(server, {tool.name for tool in self._servers.tools_of(server.name)}):
                serenas.append(self._serena(server))
        return [*serenas, *mapped]

    def serena(self) -> Server | None:
        """The first Serena that is configured."""
        for server in self._servers.servers:
            tools = {tool.name for tool in self._servers.tools_of(server.name)}
            if server.enabled and is_serena(server, tools):
                return server
        return None

    def _serena(self, server: Server) -> Backend:
        from steersman.operations.code.serena import SerenaBackend

        if server.name not in self._serenas:
            made = SerenaBackend(self._servers, server, self._root)
            return self._serenas.setdefault(server.name, made)
        return self._serenas[server.name]

    def _by_table(self, server: Server) -> Backend | None:
        if not server.code_tools:
            return None
        if server.name not in self._mapped:
            from steersman.operations.code.mapped import MappedBackend, table_of

            made: Backend | None = None
            try:
                table = table_of(server.code_tools, server.name)
                made = MappedBackend(self._servers, server, self._root, table)
            except UsageProblem as problem:
                self.broken[server.name] = problem.what
            return self._mapped.setdefault(server.name, made)
        return self._mapped[server.name]
