"""What outlives a thread, and whose it is: the host's, or a workspace's.

The host has one process guardian. A workspace has what knows its files: the finder of secret files,
the index, language servers and checkers, how well commands can be confined, and MCP servers that
keep nothing of their clients. Threads in it share all that and count as its users; what is not used
any more is ended. Whatever else a thread needs is its own.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from steersman.governance.confinement import Confinement
from steersman.governance.secret_finder import Finder
from steersman.operations.code.index.keepers import IndexKeepers
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.mcp.cache import Cache
from steersman.operations.mcp.eras import Eras
from steersman.operations.mcp.server_slot import ServerSlot
from steersman.operations.mcp.tokens import SignIns
from steersman.operations.running.command_run import CommandRun
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.companions import Companions
from steersman.operations.running.containment import Probe
from steersman.operations.running.guardian import Guardian
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Wishes
from steersman.threads.server_sandbox import ServerSandbox

if TYPE_CHECKING:
    from steersman.operations.code.backend import Backend
    from steersman.operations.mcp.connection import Connection


class Machine(Struct, frozen=True):
    """What is the same for every thread of a host: where state is kept, and the environment.

    `private` are the host's own folders and `home` the user's; programs do not see secrets there.
    `covers` says whether a person agreed to what a folder's MCP server starts, as it is now.
    """

    state: str
    surroundings: Mapping[str, str]
    home: str = ""
    private: tuple[str, ...] = ()
    covers: Callable[..., bool] = lambda *_, **__: False


class Terms(Struct, frozen=True):
    """On what terms a workspace is used; threads share what they use on the same terms.

    `environ` is that of commands, `unreadable` what rules keep from being read, `trusted` whether
    what the folder comes with is used, `language_servers` those of the settings.
    """

    root: str
    environ: Mapping[str, str] = {}
    unreadable: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    trusted: bool = False
    language_servers: Mapping[str, Any] = {}

    @property
    def key(self) -> str:
        """The same for equal terms."""
        return repr(msgspec.to_builtins(self, order="deterministic"))


class WorkspaceResources:
    """What all threads share that use a workspace on the same terms. Nothing is started early."""

    def __init__(self, machine: Machine, terms: Terms, guardian: Guardian) -> None:
        self.machine = machine
        self.terms = terms
        self.finder = Finder(terms.root, terms.unreadable, terms.exceptions)
        self.probe = Probe(terms.root, os.path.join(machine.state, "scratch"))
        self.companions = Companions(guardian, terms.root, self.beside)
        self.keepers = IndexKeepers(Path(machine.state), terms.environ)
        self.lists = Cache(os.path.join(machine.state, "mcp"))
        self._eras = Eras(os.path.join(machine.state, "mcp"))
        self._sign_ins = SignIns(os.path.join(machine.state, "mcp"))
        journal = Journal(terms.root, Objects(Path(machine.state, "objects")))
        self._runs = CommandRuns(journal, machine.state, self.probe)
        self._confinement = Confinement({}, home=machine.home, state=machine.private, cache="")
        self._servers = ServerSandbox(
            terms.root, self._runs, self.finder, self._confinement,
            os.path.join(machine.state, "mcp", "homes"), machine.covers,
        )  # fmt: skip
        self._local: list[Backend] | None = None
        self._making = threading.Lock()
        self._slots: dict[str, ServerSlot] = {}

    async def beside(self, environ: Mapping[str, str]) -> CommandRun:
        """Where a program of the host's own runs that only looks."""
        _, secrets = await self.finder.look(deep=True)
        profile = await asyncio.to_thread(self._confinement.beside, self.terms.root, secrets)
        return await self._runs.beside(msgspec.structs.replace(profile, environ=environ))

    def local_backends(self) -> "Sequence[Backend]":
        """What knows code here when no MCP server does; may be called from any thread."""
        with self._making:
            if self._local is None:
                from steersman.operations.code.local import local_backends

                terms = self.terms
                index = self.keepers.of(terms.root).current
                self._local = local_backends(
                    terms.root, self.companions, terms.environ, terms.language_servers, index
                )
            return self._local

    def connect(self, server: Server, companions: Companions, wishes: Wishes) -> "Connection":
        """A connection to an MCP server, which is started when it is used."""
        from steersman.operations.mcp.connection import Connection
        from steersman.operations.mcp.starting import ground
        from steersman.operations.mcp.templates import prepare

        machine, root = self.machine, self.terms.root
        prepare(server, machine.state, machine.surroundings, root)
        where = ground(server, machine.state, machine.surroundings, root)
        where = self._servers.around(server, where)
        return Connection(server, companions, self._eras, wishes, where, self._sign_ins)

    def slot(self, server: Server) -> ServerSlot:
        """The place of a server that all threads share; it can ask nothing of any of them."""
        key = repr(msgspec.to_builtins(server, order="deterministic"))
        if key not in self._slots:
            self._slots[key] = ServerSlot(server, self._shared_connection, self.lists)
        return self._slots[key]

    def _shared_connection(self, server: Server) -> "Connection":
        slot = self.slot(server)
        return self.connect(server, self.companions, Wishes(changed=lambda _: slot.changed()))

    async def close(self) -> None:
        """End everything that was started."""
        await asyncio.gather(*(slot.close() for slot in self._slots.values()))
        for backend in self._local or ():
            await backend.close()
        await self.keepers.close()
        await self.companions.close()
        await self._runs.close()
        await self.finder.close()


class HostResources:
    """What all threads of one host share, and the workspaces they are in."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.guardian = Guardian()
        self._used: dict[str, tuple[WorkspaceResources, int]] = {}

    def enter(self, terms: Terms) -> WorkspaceResources:
        """Use a workspace; whoever does has to leave it."""
        key = terms.key
        known = self._used.get(key)
        found, users = known or (WorkspaceResources(self.machine, terms, self.guardian), 0)
        self._used[key] = found, users + 1
        return found

    async def leave(self, workspace: WorkspaceResources) -> None:
        """Use a workspace no more; the last one to leave ends what was started there."""
        key = workspace.terms.key
        found, users = self._used.get(key, (None, 0))
        if found is not workspace:
            return
        if users > 1:
            self._used[key] = workspace, users - 1
            return
        del self._used[key]
        await workspace.close()

    async def close(self) -> None:
        """End everything, used or not."""
        used, self._used = list(self._used.values()), {}
        for workspace, _ in used:
            await workspace.close()
        await asyncio.to_thread(self.guardian.close)
