"""Where an MCP server runs that is not started as it is: in a sandbox with what it was given."""

import asyncio
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from steersman.governance.confinement import Confinement
from steersman.governance.environment import cache_environ
from steersman.governance.secret_finder import Finder
from steersman.operations.mcp.starting import Ground, asks_for, bounds_of, brought, starts_away
from steersman.operations.running.command_runs import CommandRuns, NoSandbox
from steersman.operations.running.programs import found
from steersman.records.errors import ToolProblem
from steersman.records.mcp_server import Bounds, Server
from steersman.records.profile import Profile
from steersman.records.protection import inside

if TYPE_CHECKING:
    from steersman.operations.running.command_run import CommandRun


class ServerSandbox:
    """Confines the MCP servers of one workspace.

    `covers` says whether the user agreed to what a server of the folder starts, as it is now;
    `homes` is where each server has a home folder of its own.
    """

    def __init__(
        self,
        root: str,
        runs: CommandRuns,
        finder: Finder,
        confinement: Confinement,
        homes: str,
        covers: Callable[..., bool],
    ) -> None:
        self._root = root
        self._runs = runs
        self._finder = finder
        self._confinement = confinement
        self._homes = homes
        self._covers = covers

    def around(self, server: Server, where: Ground) -> Ground:
        """The ground of a server, confined if it is to be."""
        theirs = brought(server, self._root)
        if server.transport != "stdio" or not (theirs or bounds_of(server, self._root).sandbox):
            return where

        async def confine(environ: Mapping[str, str]) -> "CommandRun | None":
            return await self._run(server, where.folder, environ)

        return msgspec.structs.replace(where, confine=confine)

    async def _run(
        self, server: Server, folder: str, environ: Mapping[str, str]
    ) -> "CommandRun | None":
        """Where it runs; none when it runs as it is, to which the user agreed."""
        bounds, theirs = bounds_of(server, self._root), brought(server, self._root)
        if theirs and asks_for(server, self._root):
            await self._check(server, confined=bounds.sandbox)
        if not bounds.sandbox:
            return None
        _, secrets = await self._finder.look(deep=True)
        profile = await asyncio.to_thread(
            self._profile, server, bounds, folder, environ, tuple(secrets)
        )
        try:
            return await self._runs.beside(profile, bounds.hosts)
        except NoSandbox:
            if not theirs:
                raise
            await self._check(server, confined=False)
            return None

    async def _check(self, server: Server, *, confined: bool) -> None:
        """Raise unless the user agreed to what it starts."""
        covered = await asyncio.to_thread(self._covers, self._root, server.name, confined=confined)
        if not covered:
            raise ToolProblem(
                "What the folder starts changed since you trusted it.",
                f"The files of {server.name} or the configuration of the folder changed since "
                "you were asked.",
                "Review them with `steer policy trust`.",
            )

    def _profile(
        self,
        server: Server,
        bounds: Bounds,
        folder: str,
        environ: Mapping[str, str],
        secrets: tuple[str, ...],
    ) -> Profile:
        from steersman.governance.grants import secrets_below

        command = server.command
        program = os.path.join(folder, command) if "/" in command else None
        program = program or found(command, environ, self._root) or command
        theirs = brought(server, self._root)
        if away := starts_away(server, self._root) if theirs else "":
            secrets = (*secrets, *secrets_below(away, self._root))
        profile = self._confinement.server(self._root, secrets, bounds, (program,))
        home = self._home(server.name)
        near = () if theirs or inside(folder, self._root) else (folder,)
        usual = {name: text for name, text in environ.items() if not name.startswith("XDG_")}
        return msgspec.structs.replace(
            profile,
            granted=(*profile.granted, home),
            readable=(*profile.readable, *near),
            environ={**usual, **cache_environ(home), "HOME": home, **server.environ},
        )

    def _home(self, name: str) -> str:
        """A home folder for a server, which nobody else writes."""
        key = sha256(os.fsencode(f"{self._root}\0{name}")).hexdigest()[:16]
        home = os.path.join(os.path.realpath(self._homes), f"{name}-{key}")
        os.makedirs(home, mode=0o700, exist_ok=True)
        return home
