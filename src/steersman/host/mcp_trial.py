"""MCP servers as they are known without starting one, and one of them tried out: its tools, and
what each would count as; signing in at one, and out."""

import math
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, Struct, UnsetType

from steersman.governance.secrets import secret_values
from steersman.identity.mcp_servers import files
from steersman.identity.settings import data_folder
from steersman.operations.mcp.authority import hidden
from steersman.operations.mcp.cache import Cache
from steersman.operations.mcp.catalogue import first_sentence
from steersman.operations.mcp.discretion import Discretion, address
from steersman.operations.mcp.gateway import Gateway
from steersman.operations.mcp.templates import GETTING, line_of
from steersman.operations.mcp.tokens import SignIns, signs_in, summary
from steersman.operations.running.programs import found as found_program
from steersman.records.errors import SteersmanError
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import RemoteTool, Wishes
from steersman.records.message import MASK

if TYPE_CHECKING:
    from steersman.operations.mcp.connection import Connection
    from steersman.threads.permissions import Permissions


class ServerFacts(Struct, frozen=True):
    """What is known of a server without starting it; of environment and headers only the names."""

    name: str
    enabled: bool
    transport: str
    runs: str
    env: tuple[str, ...]
    headers: tuple[str, ...]
    description: str
    source: str
    tools: int | None
    failure: str | None
    sign_in: str | UnsetType | None = UNSET


class ToolFacts(Struct, frozen=True):
    """A tool that a server offers, and what a call of it would count as."""

    name: str
    effect: Literal["reads", "writes", "hidden"]
    description: str
    repaired: str


class Trial(Struct, frozen=True):
    """What came of starting a server; `fix` is how to get its program when that is missing."""

    server: str
    ok: bool
    reason: str
    fix: str
    sign_in: str | None
    version: str
    seconds: float
    tools: tuple[ToolFacts, ...]


class KnownServers:
    """What is known of the servers of a folder, without any secret of theirs."""

    def __init__(self, folder: str, environ: Mapping[str, str]) -> None:
        state = data_folder(environ) / "mcp"
        self._cache = Cache(str(state))
        self._sign_ins = SignIns(state)
        configs = (Path(path) for path in files(folder, environ, trusted=True))
        self._secrets = sorted(secret_values(environ, configs), key=len, reverse=True)

    def facts(self, server: Server) -> ServerFacts:
        """What is known of one."""
        kept = self._cache.kept(server)
        return ServerFacts(
            name=server.name,
            enabled=server.enabled,
            transport=server.transport,
            runs=self._what(server),
            env=tuple(sorted(server.environ)),
            headers=tuple(sorted(server.headers)),
            sign_in=(self.signed(server) or None) if signs_in(server) else UNSET,
            description=line_of(server),
            source=server.source,
            tools=len(kept.listing.tools) if kept.listing else None,
            failure=self.masked(kept.failure.reason, server) if kept.failure else None,
        )

    def listed(self, server: Server) -> float | None:
        """When its tools were listed, in seconds since 1970."""
        kept = self._cache.kept(server)
        return kept.listing.time if kept.listing else None

    def signed(self, server: Server) -> str:
        """Whether someone has signed in there; empty when nobody needs to, as far as is known."""
        return summary(self._sign_ins.of(server)) if signs_in(server) else ""

    def masked(self, text: str, server: Server) -> str:
        """A text without any secret of the server or of the environment."""
        for value in self._secrets:
            text = text.replace(value, MASK)
        return Discretion(server).sentence(text)

    def _what(self, server: Server) -> str:
        if server.transport != "stdio":
            return f"{server.transport} {self.masked(address(server.url), server)}"
        return self.masked(" ".join((server.command, *server.arguments)), server)


async def try_out(
    server: Server, folder: str, environ: Mapping[str, str], permissions: "Permissions"
) -> Trial:
    """Start a server, list its tools, and stop it again."""
    started = time.monotonic()
    known = KnownServers(folder, environ)
    async with _alone(server, folder, environ, permissions) as gateway:
        try:
            found = await gateway.find(server=server.name, refresh=True)
            reason = found.skipped.get(server.name, "")
        except SteersmanError as error:
            reason = str(error)
        tools = gateway.tools_of(server.name) if not reason else ()
        names = {tool.name for tool in tools}
        return Trial(
            server=server.name,
            ok=not reason,
            reason=known.masked(reason, server),
            fix=missing_program(server, folder, environ) if reason else "",
            sign_in=known.signed(server) or None,
            version=gateway.conditions()[0].version,
            seconds=round(time.monotonic() - started, 2),
            tools=tuple(_told(tool, server, gateway, names) for tool in tools),
        )


def missing_program(server: Server, folder: str, environ: Mapping[str, str]) -> str:
    """How to get a server's program that is not there; empty when it is."""
    if server.transport != "stdio":
        return ""
    command = server.command
    if "/" in command:
        there = os.access(Path(server.cwd or folder, command), os.X_OK)
        return "" if there else f"fix its command in {server.source}"
    path = server.environ.get("PATH", environ.get("PATH", ""))
    if found_program(command, {**environ, "PATH": path}, folder) is not None:
        return ""
    return GETTING.get(command, f"install {command}, or fix its command in {server.source}")


async def sign_in(
    server: Server,
    environ: Mapping[str, str],
    show: Callable[[str], Awaitable[None]],
    *,
    port: int = 0,
    patience: float = 300.0,
) -> None:
    """Sign in at a server; `show` gets the address a browser should open."""
    from steersman.operations.mcp import signing_in

    kept = SignIns(data_folder(environ) / "mcp")
    await signing_in.sign_in(server, kept, show, port=port, patience=patience)


async def sign_out(server: Server, environ: Mapping[str, str]) -> bool:
    """Forget a sign-in and end it at the server if that can be done; False when there was none."""
    from steersman.operations.mcp import signing_in

    return await signing_in.sign_out(server, SignIns(data_folder(environ) / "mcp"))


@asynccontextmanager
async def _alone(
    server: Server, folder: str, environ: Mapping[str, str], permissions: "Permissions"
) -> AsyncIterator[Gateway]:
    """A gateway to one server; whatever was started has ended when the block has."""
    from steersman.host.alone import alone

    async with alone(folder, environ, permissions) as (resources, _):

        def connect(one: Server) -> "Connection":
            return resources.connect(one, resources.companions, Wishes())

        # Whoever tries one server out waits as long as it takes; its connection keeps the time.
        gateway = Gateway([server], connect, resources.lists, workspace=folder, patience=math.inf)
        try:
            yield gateway
        finally:
            await gateway.close()


def _told(tool: RemoteTool, server: Server, gateway: Gateway, names: set[str]) -> ToolFacts:
    away = bool(hidden(tool.name, server, names))
    return ToolFacts(
        name=tool.call_name,
        effect="hidden" if away else gateway.effect(tool.server, tool.name),
        description=first_sentence(tool.description),
        repaired=tool.repaired,
    )
