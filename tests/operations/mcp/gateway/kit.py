"""Gateways to small real servers, for the tests of this folder."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from steersman.operations.mcp.cache import Cache
from steersman.operations.mcp.connection import Connection
from steersman.operations.mcp.eras import Eras
from steersman.operations.mcp.gateway import Gateway
from steersman.operations.mcp.starting import Ground
from steersman.operations.running.companions import Companions
from steersman.operations.running.guardian import Guardian
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import RemoteTool, Wishes

PROGRAM = Path(__file__).parent / "servers" / "plain.py"
PATIENCE = 60
T = TypeVar("T")


class Clock:
    """A time that only a test moves, and what is to happen then."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self._due: list[tuple[float, Callable[[], None]]] = []

    def __call__(self) -> float:
        return self.now

    def later(self, seconds: float, action: Callable[[], None]) -> "Due":
        entry = (self.now + seconds, action)
        self._due.append(entry)
        return Due(self._due, entry)

    @property
    def waiting(self) -> list[float]:
        """After how many seconds something will happen."""
        return sorted(when - self.now for when, _ in self._due)

    def pass_(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        for entry in [entry for entry in self._due if entry[0] <= self.now]:
            self._due.remove(entry)
            entry[1]()


class Due:
    """Something that will happen."""

    def __init__(self, due: list[Any], entry: Any) -> None:
        self._due, self._entry = due, entry

    def cancel(self) -> None:
        """Let it not happen."""
        if self._entry in self._due:
            self._due.remove(self._entry)


class World:
    """A folder in which servers are started, with a gateway to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self.cache = Cache(str(folder / "lists"), self.clock)
        self._guardian: Guardian | None = None
        self._companions: Companions | None = None
        self.gateways: list[Gateway] = []

    def plain(self, name: str = "plain", *manners: str, **more: Any) -> Server:
        """The definition of a server that notes when it starts."""
        arguments = ("-I", "-S", str(PROGRAM), "--started", str(self._notes(name)), *manners)
        given = {"timeout": 20.0, "source": str(self.folder.parent / "mcp.json"), **more}
        return Server(name, "stdio", command=sys.executable, arguments=arguments, **given)

    def _notes(self, name: str) -> Path:
        return self.folder / f"{name}.started"

    def starts(self, name: str = "plain") -> int:
        """How often a server was started."""
        notes = self._notes(name)
        return len(notes.read_text().splitlines()) if notes.exists() else 0

    def gateway(self, *servers: Server, **more: Any) -> Gateway:
        """A gateway to servers; nothing is started."""

        def connect(server: Server) -> Connection:
            self._guardian = self._guardian or Guardian()
            self._companions = self._companions or Companions(
                self._guardian, str(self.folder), unconfined
            )
            wishes = Wishes(changed=lambda name: gateway.changed(name))
            eras = Eras(str(self.folder / "state"))
            return Connection(server, self._companions, eras, wishes, Ground(str(self.folder), {}))

        given = {"workspace": str(self.folder), "wait": self.clock.later, **more}
        gateway = Gateway(servers, connect, self.cache, **given)
        self.gateways.append(gateway)
        return gateway

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something with gateways; afterwards nothing is left of what it started."""
        return asyncio.run(asyncio.wait_for(self.during(work()), PATIENCE))

    async def during(self, work: Awaitable[T]) -> T:
        """The same, where a loop runs already."""
        try:
            return await work
        finally:
            for gateway in self.gateways:
                await gateway.close()
            self.gateways.clear()
            if self._companions is not None and self._guardian is not None:
                await self._companions.close()
                self._guardian.close()
            self._companions = self._guardian = None


async def unconfined(environ: Mapping[str, str]) -> Any:
    """Nothing is confined here."""
    raise AssertionError


def remote(name: str, description: str = "", server: str = "plain", **more: Any) -> RemoteTool:
    """A tool as a server tells it."""
    return RemoteTool(server, name, description, **more)
