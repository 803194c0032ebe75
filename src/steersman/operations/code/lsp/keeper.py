"""The running servers of one kind: started when they are needed, again when they crashed, and
stopped when nobody has asked for a while."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from steersman.operations.code.backend import Unable
from steersman.operations.code.lsp.peer import Gone, Silent
from steersman.operations.code.lsp.programs import Program, located, start
from steersman.operations.code.lsp.reach import Texts
from steersman.operations.code.lsp.servers import LanguageServer, project
from steersman.operations.code.lsp.session import LanguageSession
from steersman.operations.running.companions import Companions

FAILURES = 3
WINDOW = 600.0
MOST = 3


class Keeper:
    """Sessions of one server, one for each project folder of the workspace."""

    def __init__(
        self,
        server: LanguageServer,
        root: str,
        companions: Companions,
        environ: Mapping[str, str],
        texts: Texts,
    ) -> None:
        self._server = server
        self._root = root
        self._companions = companions
        self._environ = environ
        self._texts = texts
        self._program: Program | None = None
        self._sessions: dict[str, LanguageSession] = {}
        self._users: dict[LanguageSession, int] = defaultdict(int)
        self._starting: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._failures: list[float] = []
        self._retiring: dict[LanguageSession, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    def program(self) -> Program | None:
        """What would be started, if it is installed."""
        if self._program is None:
            self._program = located(self._server, self._root, self._environ)
        return self._program

    @property
    def tired(self) -> bool:
        """Whether it failed so often lately that it is not tried again yet."""
        now = time.monotonic()
        self._failures = [at for at in self._failures if now - at < WINDOW]
        return len(self._failures) >= FAILURES

    @asynccontextmanager
    async def session(self, path: str, provider: str = "") -> AsyncIterator[LanguageSession]:
        """The session for a path, started if need be, and not stopped while it is used.

        `provider` is what the server must have said that it offers.
        """
        session = await self._ready(project(self._server, path, self._root))
        self._users[session] += 1
        if (retiring := self._retiring.pop(session, None)) is not None:
            retiring.cancel()
        try:
            if provider and not session.offers(provider):
                raise Unable(f"{self._server.name} does not offer that.")
            yield session
        except (Gone, Silent):
            if session.over or session.stuck:
                self._give_up(session)
            raise
        finally:
            self._users[session] -= 1
            if not self._users[session]:
                del self._users[session]
                if session in self._sessions.values():
                    self._retiring[session] = asyncio.create_task(self._retire(session))

    async def close(self) -> None:
        """End every session."""
        self._closed = True
        for task in self._retiring.values():
            task.cancel()
        for session in [*self._sessions.values()]:
            self._drop(session)
        if self._ending:
            await asyncio.wait(self._ending)

    async def _ready(self, folder: str) -> LanguageSession:
        async with self._starting[folder]:
            session = self._sessions.get(folder)
            if session is not None and not session.over:
                self._sessions[folder] = self._sessions.pop(folder)  # the last used is the last
                return session
            if session is not None:
                self._give_up(session)
            if self._closed:
                raise Unable(f"{self._server.name} is being closed.")
            if self.tired:
                raise Unable(
                    f"{self._server.name} failed {FAILURES} times and is not used for a while."
                )
            self._make_room()
            try:
                session = await self._start(folder)
            except Unable:
                self._failures.append(time.monotonic())
                raise
            if self._closed:
                self._drop(session)
                raise Unable(f"{self._server.name} is being closed.")
            self._sessions[folder] = session
            return session

    async def _start(self, folder: str) -> LanguageSession:
        program = self.program()
        if program is None:
            raise Unable(f"{self._server.name} is not installed.")
        companion = await start(
            self._server, program, program.argv, folder, self._companions, self._environ
        )
        session = LanguageSession(self._server, folder, companion, self._texts)
        try:
            await session.greet()
        except BaseException as error:
            self._program = None  # it may have been taken away or replaced
            self._drop(session)
            if isinstance(error, Gone):
                words = companion.last_words().splitlines()
                raise Gone(f"{self._server.name} ended at once.", "\n".join(words[:3])) from error
            raise
        return session

    def _make_room(self) -> None:
        """Let the session go that has not been used for longest, if there are too many."""
        idle = [session for session in self._sessions.values() if session not in self._users]
        if len(self._sessions) >= MOST and idle:
            self._drop(idle[0])

    async def _retire(self, session: LanguageSession) -> None:
        await asyncio.sleep(self._server.idle)
        self._drop(session)

    def _give_up(self, session: LanguageSession) -> None:
        """End a session that failed, and count it once, however many were asking."""
        if session in self._sessions.values():
            self._failures.append(time.monotonic())
            self._drop(session)

    def _drop(self, session: LanguageSession) -> None:
        """Forget a session; its end takes a moment and nobody waits for it but `close`."""
        retiring = self._retiring.pop(session, None)
        if retiring is not None and retiring is not asyncio.current_task():
            retiring.cancel()
        self._sessions = {f: s for f, s in self._sessions.items() if s is not session}
        ending = asyncio.create_task(session.close())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
