"""One server at the host: started on first use, listed once, stopped when nobody needs it.

How it is spoken with, and how often one that fails is tried again, is the business of its link.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

from steersman.operations.mcp.cache import Cache, Failure, Listing
from steersman.records.errors import SteersmanError
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Condition, Outcome, RemoteTool, ServerProblem

LONGEST, GRACE = 60.0, 30.0  # seconds; what a link may take at the most is made of these
BRIEF = 60.0  # seconds after which a server that was only asked for its list is stopped
Progress = Callable[[str], None]


class Link(Protocol):
    """A way to speak with one server; it may be started again after it has ended."""

    @property
    def alive(self) -> bool:
        """Whether the server can be asked now."""
        ...

    @property
    def version(self) -> str:
        """What it says of its version; empty before it was started."""
        ...

    @property
    def instructions(self) -> str:
        """What it says of itself."""
        ...

    async def start(self) -> None:
        """Start the server and greet it; raises `ServerProblem`."""
        ...

    async def tools(self) -> Sequence[RemoteTool]:
        """All its tools."""
        ...

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: Progress | None = None,
        whole: bool = False,
    ) -> Outcome:
        """Call a tool; the server's own time limit holds.

        `whole` when no model sees the answer, so that it need not be short.
        """
        ...

    async def stop(self) -> None:
        """End it; does nothing when it has ended."""
        ...


class Handle(Protocol):
    """Something that will happen, unless it is cancelled."""

    def cancel(self) -> object:
        """Let it not happen."""
        ...


Later = Callable[[float, Callable[[], None]], Handle]


def later(seconds: float, action: Callable[[], None]) -> Handle:
    """Do something after some seconds, on the running loop."""
    return asyncio.get_running_loop().call_later(seconds, action)


class ServerSlot:
    """A server, what is known of it, and who uses it just now."""

    def __init__(
        self, server: Server, connect: Callable[[Server], Link], cache: Cache, wait: Later = later
    ) -> None:
        self.server = server
        self._connect = connect
        self._cache = cache
        self._later = wait
        self._link: Link | None = None
        self._starting: asyncio.Task[Link] | None = None
        self._asking: asyncio.Task[Listing] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._resting: Handle | None = None
        self._users = 0
        self._called = False
        self._stale = False
        self._looked = False
        self._listing: Listing | None = None
        self._failure: Failure | None = None
        self._earlier: Failure | None = None  # in another session: it is tried again

    @property
    def known(self) -> Listing | None:
        """The list of its tools as far as it is known without asking; any thread may want it."""
        if not self._looked:
            kept = self._cache.kept(self.server)
            if not self._looked:
                self._listing, self._earlier = kept.listing, kept.failure
                self._looked = True
        return self._listing

    @property
    def fresh(self) -> Listing | None:
        """The known list, unless the server has said that it is another now."""
        return None if self._stale else self.known

    def changed(self) -> None:
        """The server says that its tools are others now."""
        self._stale = True
        self._cache.forget(self.server)

    def condition(self) -> Condition:
        """How it is doing."""
        known = self.known
        count = len(known.tools) if known else -1
        link = self._link
        name, version = self.server.name, known.version if known else ""
        if not self.server.enabled:
            return Condition(name, "disabled", tools=count, version=version)
        if self._starting is not None and not self._starting.done():
            return Condition(name, "starting", tools=count, version=version)
        if link is not None and link.alive:
            return Condition(name, "running", tools=count, version=link.version or version)
        if self._failure is not None:
            return Condition(name, "failed", self._failure.reason, count, version)
        earlier = self._earlier.reason if self._earlier is not None else ""
        return Condition(name, "idle", earlier, count, version)

    async def listing(self, *, refresh: bool = False) -> Listing:
        """Its tools: as they are known, else asked for now; those who wait together ask once."""
        known = self.fresh
        if known is not None and not refresh:
            return known
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
            self._asking.add_done_callback(self._asked)
        return await asyncio.shield(self._asking)

    def _asked(self, task: asyncio.Task[Listing]) -> None:
        if self._asking is task:
            self._asking = None
        _looked_at(task)

    async def _ask(self) -> Listing:
        before, self._stale = self._stale, False  # what is said while it answers counts
        try:
            async with self._used() as link, self._bounded("list its tools"):
                tools = tuple(await link.tools())
        except BaseException:
            self._stale |= before
            raise
        listing = Listing(tools, self._cache.clock(), link.version, link.instructions)
        self._looked, self._listing, self._failure, self._earlier = True, listing, None, None
        if not self._stale:
            self._cache.listed(self.server, listing)
        return listing

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: Progress | None = None,
        *,
        whole: bool = False,
    ) -> Outcome:
        """Call one of its tools; the server is started when it does not run."""
        async with self._used() as link:
            self._called = True
            try:
                return await link.call(tool, arguments, progress=progress, whole=whole)
            except SteersmanError as error:
                if not link.alive:
                    self._fail(error)
                raise

    @asynccontextmanager
    async def _used(self) -> AsyncIterator[Link]:
        """The running server, which is not stopped as long as someone is here."""
        self._users += 1
        self._rest(None)
        try:
            yield await self._running()
        finally:
            self._users -= 1
            if self._users == 0:
                idle = self.server.idle
                self._rest(idle if self._called else min(idle, BRIEF))

    async def _running(self) -> Link:
        if self._stopping is not None:
            await asyncio.shield(self._stopping)
        if self._link is not None and self._link.alive:
            return self._link
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._started)
        return await asyncio.shield(self._starting)

    def _started(self, task: asyncio.Task[Link]) -> None:
        if self._starting is task:
            self._starting = None
        _looked_at(task)
        if self._users == 0:  # whoever wanted it has gone
            self._rest(min(self.server.idle, BRIEF))

    async def _start(self) -> Link:
        link = self._link = self._link or self._connect(self.server)
        try:
            async with self._bounded("start"):
                await link.start()
        except SteersmanError as error:
            self._fail(error)
            with suppress(SteersmanError):
                await link.stop()
            raise
        self._failure = None
        return link

    @asynccontextmanager
    async def _bounded(self, what: str) -> AsyncIterator[None]:
        """A link keeps its own time (two tries to start, then its list); should it not, enough."""
        limit = 2 * max(self.server.timeout, LONGEST) + GRACE
        try:
            async with asyncio.timeout(limit):
                yield
        except TimeoutError:
            raise ServerProblem(
                f"The MCP server {self.server.name} did not {what} within {limit:.0f} seconds.",
                try_this=f"`steer mcp test {self.server.name}` shows more.",
            ) from None

    def _fail(self, error: SteersmanError) -> None:
        reason = " ".join(part for part in (error.what, error.why) if part)
        self._looked, self._listing = True, self.known
        self._failure = self._cache.failed(self.server, reason)

    def _rest(self, seconds: float | None) -> None:
        """Stop the server when it has not been used for so long; None: it is used now."""
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        if seconds is not None and self._link is not None and self._link.alive:
            self._resting = self._later(seconds, self._rested)

    def _rested(self) -> None:
        self._resting = None
        if self._users == 0 and self._stopping is None:
            self._stopping = asyncio.create_task(self._stop())
            self._stopping.add_done_callback(self._stopped)

    def _stopped(self, task: asyncio.Task[None]) -> None:
        self._stopping = None
        self._called = False
        _looked_at(task)

    async def _stop(self) -> None:
        if self._link is not None:
            with suppress(SteersmanError):
                await self._link.stop()

    async def close(self) -> None:
        """Stop it, whatever it does, and wait until it is gone."""
        self._rest(None)
        tasks = [task for task in (self._asking, self._starting) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._stopping is not None:
            await asyncio.shield(self._stopping)
        await self._stop()
        self._rest(None)


def _looked_at(task: asyncio.Task[Any]) -> None:
    """Nobody may have waited for it to fail."""
    if not task.cancelled():
        task.exception()
