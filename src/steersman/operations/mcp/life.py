"""One life of a server: from its start to its end, in one task that owns all that is open."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED

from steersman.operations.mcp.eras import Era
from steersman.operations.mcp.launch import Start
from steersman.operations.mcp.sentences import exit_text, status_text
from steersman.operations.mcp.session import McpSession, fault, follow_changes, greet
from steersman.operations.mcp.sign_in_auth import Hints, sign_in_auth
from steersman.operations.mcp.traffic import Traffic
from steersman.operations.mcp.transport import Hearing, Saying, over_http
from steersman.operations.mcp.wishes import Granting
from steersman.operations.running.companions import Companion
from steersman.records.errors import SteersmanError

OWN_END = 0.5  # seconds in which a program that closed its output usually has ended, too
LEAVING = 10.0
KNOWING = 2.0  # seconds to find out why something ended
GRACE = 2.0  # seconds for a program to end when it learns so
NO_GRACE = 0.2  # for one that is of no use


class Life:
    """A server that runs, or did."""

    def __init__(self, start: Start, era: Era | None) -> None:
        self.era = era
        self.traffic = Traffic(start.changed)
        self.greeted = False
        self.code: int | None = None  # with which it ended by itself
        self.words = ""  # the last it printed as errors
        self.error: BaseException | None = None
        self.late = False  # it did not greet in time
        self.stopped = False  # it did not end by itself
        self.told = asyncio.Event()  # it is over, and why is known
        self.session: McpSession | None = None
        self._start = start
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._companion: Companion | None = None
        self._task = asyncio.create_task(self._live(), name=f"mcp-{start.server.name}")

    @property
    def lives(self) -> bool:
        """True when it can be used."""
        companion = self._companion
        return (
            self.greeted
            and not self.told.is_set()
            and not self.traffic.ended.is_set()
            and not self._stop.is_set()
            and not (companion is not None and companion.ended)
        )

    @property
    def pid(self) -> int | None:
        """The process, when it is one of ours."""
        return self._companion.pid if self._companion is not None else None

    async def ready(self) -> bool:
        """Wait until it can be used; False when it never could."""
        await self._ready.wait()
        return self.greeted

    def reason(self) -> str:
        """Why it is over, as far as it is known."""
        if self.traffic.trouble:
            return self.traffic.trouble
        if self.code is not None:
            return exit_text(self.code)
        if self.stopped:
            return "It was stopped."
        if isinstance(self.error, SteersmanError):
            return str(self.error)
        if self.traffic.status >= 400:
            return status_text(self.traffic.status)
        if isinstance(self.error, MCPError) and self.error.code != CONNECTION_CLOSED:
            return f"It answered: {self.error.error.message}"
        return _described(self.error)

    def doom(self) -> None:
        """It is of no more use; it ends by itself from here."""
        self.stopped = self.stopped or not self.told.is_set()
        self._stop.set()

    def abort(self) -> None:
        """End it although it has not begun."""
        self.doom()
        if not self._ready.is_set():
            self._task.cancel()

    async def settled(self) -> None:
        """Wait a moment: what cut the line off may be about to end it all."""
        with suppress(TimeoutError):
            async with asyncio.timeout(OWN_END):
                await self.told.wait()

    async def over(self) -> None:
        """Wait until it is known why it is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(KNOWING):
                await self.told.wait()

    async def end(self) -> None:
        """End it, and wait until nothing is left."""
        self.doom()
        done, _ = await asyncio.wait({self._task}, timeout=LEAVING)
        if not done:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=LEAVING)

    async def _live(self) -> None:
        start = self._start
        granting = Granting(start.server.name, start.wishes, start.pause)
        try:
            async with (
                self._streams() as (read, write),
                McpSession(read, write, **granting.callbacks()) as session,
            ):
                await self._talk(session)
        except* (Exception, asyncio.CancelledError) as group:
            self.error = self.error or _first(group)
        finally:
            self.traffic.close()
            self.told.set()
            self._ready.set()

    async def _talk(self, session: McpSession) -> None:
        """Greet the server and keep the session open until one side has enough."""
        over = {asyncio.create_task(self._stop.wait()), asyncio.create_task(self._gone())}
        greeting = asyncio.create_task(greet(session, self.era))
        tasks: set[asyncio.Task[Any]] = {greeting, *over}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if greeting.done():
                self.era = greeting.result()
                self.session = session
                self.greeted = True
                self._ready.set()
                tasks.add(asyncio.create_task(follow_changes(session, self._start.changed)))
                await asyncio.wait(over, return_when=asyncio.FIRST_COMPLETED)
        except Exception as error:
            self.error = error
            raise
        finally:
            with anyio.CancelScope(shield=True):
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                for task in tasks:
                    _ = task.cancelled() or task.exception()  # looked at, so nobody complains
                await self._autopsy()

    async def _gone(self) -> None:
        """Wait until the server is gone, by what it sends or by its process."""
        ended = asyncio.create_task(self.traffic.ended.wait())
        tasks: set[asyncio.Task[Any]] = {ended}
        if self._companion is not None:
            tasks.add(asyncio.create_task(self._companion.wait()))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():  # what it said last may still be on its way
                await asyncio.wait({ended}, timeout=OWN_END)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _autopsy(self) -> None:
        """Find out how it ended, when it ended by itself."""
        companion = self._companion
        if companion is not None and not self._stop.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(OWN_END):
                    self.code = await companion.wait()
            self.words = companion.last_words()
            self.told.set()  # of a server elsewhere, it is known when all is closed
            self._ready.set()

    def _wanted(self, reason: str) -> None:
        self.traffic.sign_in = reason

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[tuple[Any, Any]]:
        start = self._start
        if start.server.transport != "stdio":
            auth = sign_in_auth(start.server, start.sign_ins, Hints(self._wanted, start.learn))
            async with over_http(start.server, self.traffic, auth) as streams:
                yield streams
            return
        argv = [start.server.command, *start.server.arguments]
        companion = await start.companions.start(
            argv, start.cwd, start.environ, confined=start.confine or False
        )
        self._companion = companion
        try:
            yield Hearing(companion, self.traffic), Saying(companion, self.traffic)
        finally:
            self.traffic.close()
            kind = self.stopped and self.greeted
            await asyncio.shield(companion.stop(GRACE if kind else NO_GRACE))
            self.words = self.words or companion.last_words()


def _described(error: BaseException | None) -> str:
    """An error of the line in words."""
    if error is None or isinstance(error, MCPError | asyncio.CancelledError):
        return "It closed the connection."
    if isinstance(error, httpx2.TransportError | OSError):
        away = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | OSError)
        said = (str(error) or type(error).__name__).rstrip(".")
        return f"{'It cannot be reached' if away else 'The connection was lost'}: {said}."
    return fault(error)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error of a group that says something."""
    errors = list(_leaves(group))
    for error in errors:
        if isinstance(error, SteersmanError | MCPError):
            return error
    return next((one for one in errors if not isinstance(one, asyncio.CancelledError)), errors[0])


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for one in error.exceptions for leaf in _leaves(one)]
    return [error]
