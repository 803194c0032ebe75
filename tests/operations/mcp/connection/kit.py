"""Connections to small real servers, for the tests of this folder."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from steersman.operations.mcp.connection import Connection
from steersman.operations.mcp.eras import Eras
from steersman.operations.mcp.starting import Ground
from steersman.operations.mcp.tokens import SignIns
from steersman.operations.running.companions import Companions
from steersman.operations.running.guardian import Guardian
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Outcome, Wishes

SERVERS = Path(__file__).parent.parent / "servers"
PATIENCE = 120
TOKEN = "tok-4f9a8b7c6d5e"
T = TypeVar("T")


def read(outcome: Outcome) -> Outcome:
    """An answer as the model reads it; as the server sent it, it says the same of its success."""
    assert outcome.whole["isError"] is outcome.failed
    return replace(outcome, whole={})


def rough(*manners: str, environ: Mapping[str, str] | None = None, **more: Any) -> Server:
    """The server in plain lines of JSON, with manners."""
    return Server(
        name="rough",
        transport="stdio",
        command=sys.executable,
        arguments=("-I", "-S", str(SERVERS / "rough.py"), *manners),
        environ={"API_TOKEN": TOKEN, **(environ or {})},
        **{"timeout": 30.0, **more},
    )


class World:
    """A folder with what connections need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.eras = Eras(folder / "state")
        self._companions: Companions | None = None
        self._open: list[Connection] = []

    def connection(
        self, server: Server, wishes: Wishes | None = None, sign_ins: SignIns | None = None
    ) -> Connection:
        assert self._companions is not None
        environ = {**os.environ, "UNRELATED_SECRET": "do-not-inherit"}
        connection = Connection(
            server, self._companions, self.eras, wishes or Wishes(),
            Ground(str(self.folder), environ), sign_ins,
        )  # fmt: skip
        self._open.append(connection)
        return connection

    def run(self, work: Callable[["World"], Awaitable[T]]) -> T:
        """Do something with connections; afterwards none of their servers is left."""
        return asyncio.run(asyncio.wait_for(self._run(work), PATIENCE))

    async def _run(self, work: Callable[["World"], Awaitable[T]]) -> T:
        guardian = Guardian()

        async def unused(environ: Mapping[str, str]) -> Any:
            raise AssertionError("an MCP server is not confined")

        self._companions = Companions(guardian, str(self.folder), unused)
        try:
            return await work(self)
        finally:
            for connection in self._open:
                await connection.stop()
            await self._companions.close()
            guardian.close()


def lives(pid: int | None) -> bool:
    """True when a process is there and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def below(pid: int) -> list[int]:
    """The children of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
