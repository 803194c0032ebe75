"""A connection to one MCP server: started when used, started again when it died, kept in bounds.

The protocol library is loaded with the first start and not before. A call is sent once: it is sent
again only when it surely did not reach the server. What is said of a server never holds a value of
its environment or headers.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from steersman.operations.mcp.calls import Clock, ProgressRelay
from steersman.operations.mcp.discretion import Discretion
from steersman.operations.mcp.eras import Eras
from steersman.operations.mcp.launch import GivenUp, Launch, Start, passed_on
from steersman.operations.mcp.outcome import MOST_TEXT, WHOLE, outcome_of
from steersman.operations.mcp.patience import Patience
from steersman.operations.mcp.sentences import Sentences
from steersman.operations.mcp.starting import Ground
from steersman.operations.mcp.tokens import SignIns, SignInWanted
from steersman.operations.running.companions import Companions
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Outcome, RemoteTool, ServerProblem, Wishes

if TYPE_CHECKING:
    from steersman.operations.mcp.life import Life

MOST_DESCRIPTION = 20_000
MOST_INSTRUCTIONS = 20_000
GATHERED = 0.05  # seconds in which changes of a list count as one
SILENT = 2  # calls in a row without a sign of life after which a server is started again


class Connection:
    """One server. Calls may be made at the same time; nobody needs to start it first."""

    def __init__(
        self,
        server: Server,
        companions: Companions,
        eras: Eras,
        wishes: Wishes,
        ground: Ground,
        sign_ins: SignIns | None = None,
    ) -> None:
        self.server = server
        self._wishes = wishes
        self._patience = Patience(time.monotonic)
        self._discretion = Discretion(server)
        self._say = Sentences(server, self._discretion)
        start = Start(
            server,
            companions,
            passed_on(ground.environ, server),
            ground.folder,
            wishes,
            self._waiting,
            self._changed,
            sign_ins or SignIns(None),
            self._discretion.learn,
            ground.confine,
        )
        self._launch = Launch(start, eras, self._say)
        self._life: Life | None = None
        self._starting = asyncio.Lock()
        self._clocks: set[Clock] = set()
        self._silent = 0
        self._changing: asyncio.TimerHandle | None = None
        self._changed_again = False
        self._last: ServerProblem | None = None
        self._version = self._protocol = self._instructions = ""

    def __repr__(self) -> str:
        return f"<Connection {self.server.name} {'alive' if self.alive else 'not running'}>"

    @property
    def alive(self) -> bool:
        """True when the server runs and has greeted."""
        return self._life is not None and self._life.lives

    @property
    def busy(self) -> bool:
        """True while a call is made."""
        return bool(self._clocks)

    @property
    def pid(self) -> int | None:
        """The process of a server that we started."""
        return self._life.pid if self._life is not None else None

    @property
    def version(self) -> str:
        """The server's name and version as it said them."""
        return self._version

    @property
    def protocol(self) -> str:
        """The version of the protocol that is spoken."""
        return self._protocol

    @property
    def instructions(self) -> str:
        """What the server says of its use."""
        return self._instructions

    @property
    def problem(self) -> ServerProblem | None:
        """Why it does not run, when it failed last."""
        return None if self.alive else self._last

    @property
    def remarks(self) -> Mapping[str, str]:
        """What was wrong with what it sent, by the name of the tool; "" stands for its list."""
        return dict(self._life.traffic.remarks) if self._life is not None else {}

    async def start(self) -> None:
        """Start it, unless it runs; raises a `ServerProblem` that says why it cannot be."""
        await self._living()

    async def stop(self) -> None:
        """End it; it is started again when it is used next."""
        if self._changing is not None:
            self._changing.cancel()
            self._changing = None
        self._launch.give_up()
        async with self._starting:
            life, self._life = self._life, None
            if life is not None:
                await life.end()

    async def tools(self) -> list[RemoteTool]:
        """All its tools, fixed where they need it."""
        life = await self._living()
        try:
            return await self._tools(life)
        except _Lost:  # a list has no effects, so it may be asked for twice
            return await self._tools(await self._living())

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: Callable[[str], None] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - it is one of silence, not of the whole
        whole: bool = False,
    ) -> Outcome:
        """Call a tool. An error that is an answer is an outcome; others are a `ServerProblem`.

        `timeout` is how long the server may be silent: progress gives it more time, and while it
        waits for an answer of the host no time passes.
        """
        limit = self.server.timeout if timeout is None else timeout
        life = await self._living()
        try:
            return await self._call(life, name, arguments, progress, limit, whole)
        except _Lost as lost:
            if lost.delivered:
                raise
        return await self._call(await self._living(), name, arguments, progress, limit, whole)

    async def _tools(self, life: "Life") -> list[RemoteTool]:
        from steersman.operations.mcp.session import list_tools

        session, heard = life.session, life.traffic.heard
        doing = "its tools were listed"
        assert session is not None
        try:
            async with asyncio.timeout(self.server.timeout):
                found = await list_tools(session)
        except TimeoutError:
            self._note_silence(life, heard)
            raise self._say.silent(doing, self.server.timeout) from None
        except Exception as error:
            raise await self._failure(life, error, doing, delivered=False) from None
        self._silent = 0
        clean = self._discretion.result
        return [
            RemoteTool(
                server=self.server.name,
                name=tool.name,
                description=clean(tool.description or tool.title or "")[:MOST_DESCRIPTION],
                parameters=clean(tool.input_schema),
                hints=tool.annotations.model_dump(by_alias=True, exclude_none=True)
                if tool.annotations
                else {},
                repaired=life.traffic.remarks.get(tool.name, ""),
            )
            for tool in found
        ]

    async def _call(
        self,
        life: "Life",
        name: str,
        arguments: Mapping[str, Any],
        progress: Callable[[str], None] | None,
        limit: float,
        whole: bool,
    ) -> Outcome:
        from steersman.operations.mcp.session import call_tool, refusal, said
        from steersman.operations.mcp.traffic import following

        session, heard = life.session, life.traffic.heard
        doing = f"it worked on “{name}”"
        assert session is not None
        clock: Clock | None = None
        refused: dict[str, Any] | None = None
        with following() as delivery:
            try:
                async with asyncio.timeout(limit) as timer:
                    clock = Clock(timer, limit)
                    self._clocks.add(clock)
                    told = ProgressRelay(clock, progress, self._discretion.result)
                    result = await call_tool(session, name, dict(arguments), told)
            except TimeoutError:
                self._note_silence(life, heard)
                raise self._say.silent(doing, limit) from None
            except Exception as error:
                unheard = not life.lives or life.traffic.sign_in
                text = None if unheard else refusal(error)
                if text is None:
                    raise await self._failure(
                        life, error, doing, delivered=delivery.begun
                    ) from None
                text = self._discretion.sentence(text)
                result = {"content": [{"type": "text", "text": text}], "isError": True}
                refused = said(error)
            finally:
                self._clocks.discard(clock)
        self._silent = 0
        outcome = outcome_of(result, self._discretion.result, WHOLE if whole else MOST_TEXT)
        sent = {**result, "error": refused} if refused else result
        return replace(outcome, whole=self._discretion.result(sent))

    async def _living(self) -> "Life":
        """The server, started if it does not run."""
        if self._life is not None and self._life.lives:
            return self._life
        async with self._starting:
            if self._life is not None and self._life.lives:
                return self._life
            if self._life is not None:
                await self._bury(self._life)
            if (seconds := self._patience.remaining()) > 0:
                raise self._say.paused(seconds, self._last)
            self._patience.begin()
            try:
                life = await self._launch.begin()
            except GivenUp:
                raise
            except SignInWanted as problem:  # nothing is wrong with the server
                self._last = problem
                raise
            except ServerProblem as problem:
                self._patience.fail()
                self._last = problem
                raise
            self._meet(life)
            return life

    def _meet(self, life: "Life") -> None:
        """Keep what a server that was just started says of itself."""
        session = life.session
        assert session is not None
        about = session.server_info
        clean = self._discretion.result
        self._version = clean(f"{about.name} {about.version}".strip())[:200] if about else ""
        self._protocol = session.protocol_version or ""
        self._instructions = clean(session.instructions or "")[:MOST_INSTRUCTIONS]
        self._life = life
        self._silent = 0

    async def _failure(
        self, life: "Life", error: Exception, doing: str, *, delivered: bool
    ) -> ServerProblem:
        """What to say of an error; the server is gone when nothing more can be done with it."""
        from steersman.operations.mcp.session import cut_off, fault, forgotten

        wanted, life.traffic.sign_in = life.traffic.sign_in, ""
        if wanted:
            return self._say.wants_sign_in(wanted)
        if not life.lives or forgotten(error) or cut_off(error):
            reason = ""
            if life.lives:
                await life.settled()
            if life.lives:
                reason = (
                    "The connection was cut."
                    if cut_off(error)
                    else "It no longer knows this session."
                )
                life.doom()
            await life.over()
            reason = reason or life.reason()
            delivered = delivered and not forgotten(error)
            problem = self._say.lost(doing, reason, life.words, maybe_done=delivered)
            self._last = problem
            return _Lost(problem, delivered)
        status, life.traffic.status = life.traffic.status, 0
        if status >= 400:
            return self._say.refused(doing, status)
        return self._say.unreadable(doing, fault(error))

    def _note_silence(self, life: "Life", heard: int) -> None:
        """A server that gives no sign of life repeatedly is started again when it is used next."""
        self._silent = self._silent + 1 if life.traffic.heard == heard else 0
        if self._silent >= SILENT:
            life.doom()

    async def _bury(self, life: "Life") -> None:
        """A server that is over; that it ended counts against it."""
        await life.end()
        self._patience.fail()
        self._life = None

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """While the server waits for the host, no call of it runs out of time."""
        clocks = list(self._clocks)
        for clock in clocks:
            clock.pause()
        try:
            yield
        finally:
            for clock in clocks:
                clock.resume()

    def _changed(self) -> None:
        """Its tools are others now: reported at once, and what follows closely once more."""
        if self._wishes.changed is None:
            return
        if self._changing is not None:
            self._changed_again = True
            return
        self._wishes.changed(self.server.name)
        self._changing = asyncio.get_running_loop().call_later(GATHERED, self._gathered)

    def _gathered(self) -> None:
        self._changing = None
        if self._changed_again:
            self._changed_again = False
            self._changed()


class _Lost(ServerProblem):
    """The server went away; `delivered` when it may have heard what was asked."""

    def __init__(self, problem: ServerProblem, delivered: bool) -> None:
        super().__init__(problem.what, problem.why, problem.try_this)
        self.delivered = delivered
