"""How a server is started: with little of our environment, and as it was spoken with last time."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.operations.mcp.eras import Era, Eras
from steersman.operations.mcp.sentences import Sentences
from steersman.operations.mcp.tokens import SignIns
from steersman.operations.running.companions import Companions, Confine
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import ServerProblem, Wishes

if TYPE_CHECKING:
    from steersman.operations.mcp.life import Life

INHERITED = {
    "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "TZ", "TMPDIR",
    "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
}  # fmt: skip
LOCALE = "LC_"
NOT_STARTED = (126, 127)  # exit codes that are not about the protocol


class GivenUp(ServerProblem):
    """A start that was ended before the server could be used; it does not count against it."""


class Start(Struct, frozen=True):
    """What it takes to start a server.

    `pause` stops the clocks while it waits for the host, `learn` learns what nobody should see,
    `confine` gives where a program runs that is not started as it is.
    """

    server: Server
    companions: Companions
    environ: Mapping[str, str]
    cwd: str
    wishes: Wishes
    pause: Callable[[], AbstractContextManager[None]]
    changed: Callable[[], None]
    sign_ins: SignIns
    learn: Callable[[Iterable[str]], None]
    confine: Confine | None = None


class Launch:
    """Starts one server, as often as needed, one start at a time."""

    def __init__(self, start: Start, eras: Eras, say: Sentences) -> None:
        self._start = start
        self._eras = eras
        self._say = say
        self._coming: Life | None = None

    async def begin(self) -> "Life":
        """Start it as it is remembered; one that ends at the first word is spoken to otherwise."""
        server = self._start.server
        era = self._eras.of(server)
        life = await self._try(era)
        if not life.greeted and life.code is not None and life.code not in NOT_STARTED:
            life = await self._try("legacy" if era != "legacy" else None)
        if life.greeted:
            assert life.era is not None
            self._eras.remember(server, life.era)
            return life
        if life.traffic.sign_in:
            raise self._say.wants_sign_in(life.traffic.sign_in)
        self._eras.forget(server)
        if life.late:
            raise self._say.never_greeted(server.timeout, life.words)
        problem = self._say.cannot_start(life.reason(), life.words, life.traffic.status)
        if life.stopped:
            raise GivenUp(problem.what, problem.why)
        raise problem

    def give_up(self) -> None:
        """End a start that is under way."""
        if self._coming is not None:
            self._coming.abort()

    async def _try(self, era: Era | None) -> "Life":
        """Start it once; it lives, or is gone with a reason."""
        try:
            from steersman.operations.mcp.life import Life
        except ModuleNotFoundError:
            raise ServerProblem(
                "MCP servers need the package “mcp”, which is not installed.",
                try_this="Install steersman with the extra “mcp”.",
            ) from None
        life = self._coming = Life(self._start, era)
        try:
            async with asyncio.timeout(self._start.server.timeout):
                await life.ready()
        except TimeoutError:
            life.late = True
        except BaseException:
            await asyncio.shield(life.end())
            raise
        finally:
            self._coming = None
        if not life.greeted:
            await life.end()
        return life


def passed_on(environ: Mapping[str, str], server: Server) -> dict[str, str]:
    """The environment of a server: little of ours, and all of its own."""
    ours = {
        name: value
        for name, value in environ.items()
        if name in INHERITED or name.startswith(LOCALE)
    }
    return {**ours, **server.environ}
