"""How a host keeps its line to an agent: it dials, greets, and dials again when it is cut."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from steersman import __version__
from steersman.records.errors import SteersmanError
from steersman.threads.remote.frames import PROTOCOL, Garbled, Hello
from steersman.threads.remote.line import Line, broken
from steersman.threads.remote.wires import SILENCE, Dial, Wire

FIRST, LONGEST = 0.1, 5.0  # seconds between tries to reach an agent again
PATIENCE = 900.0  # seconds without a connection after which a line is given up

Sleep = Callable[[float], Awaitable[None]]


class Hopeless(SteersmanError):
    """The agent, or what leads to it, will not do however often it is dialed."""


async def greet(wire: Wire, line: Line, *, fresh: bool) -> Hello:
    """Say which line this is, and learn what the agent has of it."""
    mine = Hello(line.name, line.received, version=__version__, can=("fresh",) if fresh else ())
    try:
        async with asyncio.timeout(SILENCE):
            await wire.write(mine)
            hello = await wire.read()
    except TimeoutError as error:
        raise SteersmanError("The workspace agent does not answer.") from error
    if hello is None:
        raise ConnectionResetError("the agent ended the connection")
    if not isinstance(hello, Hello):
        raise Garbled("The other side does not speak as a workspace agent does.")
    if hello.problem:
        raise SteersmanError(hello.problem)
    if hello.protocol != PROTOCOL:
        raise Hopeless(
            f"The agent there is Steersman {hello.version}, and this is {__version__}.",
            "They speak to workspaces in different ways.",
            "Install the same version on both machines.",
        )
    if not hello.line:
        raise Hopeless(
            "The workspace agent was restarted.",
            "What was under way there has ended with it.",
            "Continue the thread; what was done is in its log.",
        )
    return hello


class Caller:
    """Keeps one line to an agent, from `open` to `close`."""

    def __init__(
        self,
        dial: Dial,
        line: Line,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dial = dial
        self._line = line
        self._sleep = sleep
        self._clock = clock
        self._keeping: asyncio.Task[None] | None = None

    async def open(self) -> Hello:
        """Reach the agent for the first time; raises why that cannot be."""
        try:
            wire = await self._dial()
            hello = await self._greeted(wire, fresh=True)
        except OSError as error:
            raise SteersmanError(
                "The workspace agent cannot be reached.", error.strerror or str(error)
            ) from error
        self._keeping = asyncio.create_task(self._keep(wire, hello.received))
        return hello

    async def _greeted(self, wire: Wire, *, fresh: bool) -> Hello:
        try:
            return await greet(wire, self._line, fresh=fresh)
        except BaseException:
            wire.close()
            raise

    async def _keep(self, wire: Wire, received: int) -> None:
        try:
            while self._line.over is None:
                await self._line.carry(wire, received)
                if self._line.over is None:
                    wire, received = await self._again()
        except Exception as error:  # nobody else would tell whoever waits for an answer
            self._line.end(broken(error))

    async def _again(self) -> tuple[Wire, int]:
        """Another connection; whatever is wrong may pass, but not for ever."""
        pause, until = FIRST, self._clock() + PATIENCE
        while True:
            try:
                wire = await self._dial()
                return wire, (await self._greeted(wire, fresh=False)).received
            except Hopeless:
                raise
            except (OSError, SteersmanError) as error:
                if self._clock() >= until:
                    raise SteersmanError(
                        "The line to the workspace is cut.", str(error),
                        "Continue the thread when the machine can be reached.",
                    ) from error  # fmt: skip
            await self._sleep(pause)
            pause = min(2 * pause, LONGEST)

    async def close(self) -> None:
        """End the line permanently."""
        await self._line.close(SteersmanError("The line to the workspace was closed."))
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)


class Lines:
    """The lines that an agent has: each is continued by whoever knows its name.

    `begin` makes the agent's end of a new one; there are no more than the `most`.
    """

    def __init__(
        self,
        begin: Callable[[str], Line],
        most: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._begin = begin
        self._most = most
        self._clock = clock
        self._cut: dict[str, float] = {}  # when a line was last seen with a connection
        self.open: dict[str, Line] = {}

    def give_up(self) -> None:
        """End the lines that had no connection for too long: their hosts are gone."""
        for name, line in list(self.open.items()):
            if line.connected:
                self._cut[name] = self._clock()
            elif self._clock() - self._cut[name] >= PATIENCE:
                line.end(SteersmanError("The host was gone for too long."))
            if line.over is not None:
                del self.open[name], self._cut[name]

    def _has_room(self) -> bool:
        """Whether another line can be had, if need be for one that nobody continues."""
        if self._most is None or len(self.open) < self._most:
            return True
        for name, line in self.open.items():
            if not (line.connected or line.busy):
                line.end(SteersmanError("Another line took the place of this one."))
                del self.open[name], self._cut[name]
                return True
        return False

    async def serve(self, wire: Wire) -> None:
        """Use a connection for the line that it names, until it is cut."""
        try:
            hello = await wire.read()
        except TimeoutError:
            hello = None
        if not isinstance(hello, Hello):
            wire.close()
            return
        self.give_up()
        line, problem = self.open.get(hello.line), ""
        if line is None and "fresh" in hello.can and hello.protocol == PROTOCOL:
            if self._has_room():
                line = self.open[hello.line] = self._begin(hello.line)
                self._cut[hello.line] = self._clock()
            else:
                problem = "This token has as many lines to the workspace as one can have."
        try:
            received, name = (line.received, line.name) if line is not None else (0, "")
            await wire.write(Hello(name, received, version=__version__, problem=problem))
        except OSError:
            line = None
        if line is None:
            wire.close()
            return
        await line.carry(wire, hello.received)
