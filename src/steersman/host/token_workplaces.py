"""Workspaces of this machine for hosts elsewhere that show a token: `steer serve` is their agent.

Each token has an agent of its own, in its one folder. It ends when the token is not valid any more,
when nobody has needed it for a while, and with the server.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from weakref import WeakValueDictionary

from steersman.governance.policy import Book
from steersman.governance.secret_finder import unreadable
from steersman.host.desk import Desk
from steersman.host.tokens import Guard, Holder, Tokens
from steersman.host.workspace_agent import Workplace, unneeded
from steersman.records.action import Action, Verdict
from steersman.records.errors import Denied, SteersmanError
from steersman.records.judgement import Judgement
from steersman.records.settings import Settings
from steersman.threads.permissions import Permissions
from steersman.threads.remote.agent import Agent
from steersman.threads.remote.bench import Opening
from steersman.threads.remote.bound import BoundAgent
from steersman.threads.remote.calling import Lines
from steersman.threads.remote.wires import MessageWire
from steersman.threads.remote.words import Open

MOST_LINES = 32  # of one token
REVOKED = "The token for this workspace is not valid any more."


class Narrowed:
    """The rules of this machine, and of a host's those that keep something from being read."""

    def __init__(self, own: Book, also: tuple[str, ...]) -> None:
        self._own = own
        # A line that begins like this would show what others hide.
        self._also = tuple(one for one in also if one.isprintable() and not one.startswith("!"))

    def unreadable(self) -> tuple[str, ...]:
        """What is not read: here, and for the host."""
        return (*unreadable(self._own), *self._also)

    def verdict(
        self, action: Action, tool: str, judgement: Judgement | None, workspace: str
    ) -> Verdict | None:
        """The word of the rules here."""
        return self._own.verdict(action, tool, judgement, workspace)

    def allows_servers(self) -> bool:
        """Whether a rule here allows any tool of an MCP server."""
        return self._own.allows_servers()

    def names(self, action: Action, workspace: str) -> bool:
        """Whether a rule here allows a change by the very name of the file."""
        return self._own.names(action, workspace)


class TokenWorkplace(Workplace):
    """What an agent needs for the holder of a token: the settings and rules of this machine.

    What it keeps is the token's alone: another one for the same folder has nothing of it.
    """

    def __init__(
        self,
        token: str,
        folder: str,
        environ: Mapping[str, str],
        permissions: Permissions,
        own: Callable[[], Settings],
    ) -> None:
        self._permissions = permissions
        self._own = own
        super().__init__(folder, environ, f"agent/tokens/{token}")

    def _agent(self) -> Agent:
        root, home = self.workspace.root, self._home
        return BoundAgent(
            root, home, self._state, self.prepare, self._own, lambda: unreadable(self._rules())
        )

    def _rules(self) -> Book:
        rules = self._permissions.rules(self.workspace.root, self._own())
        return self._permissions.book(rules)

    def _prepared(self, asked: Open) -> Opening:
        narrowed = Narrowed(self._rules(), asked.unreadable)
        return self._opening(self.agent.within(asked.settings), narrowed)


class Place:
    """One token's agent, its lines and connections."""

    def __init__(self, workplace: Workplace) -> None:
        self.workplace = workplace
        self.lines = Lines(workplace.agent.begin, MOST_LINES)
        self.connected = set[asyncio.Task[None]]()
        self.staying: asyncio.Task[None] | None = None
        self.over = ""  # why, once it has ended

    async def close(self, why: str) -> None:
        """End everything."""
        self.over = why
        for line in list(self.lines.open.values()):
            await line.close(SteersmanError(why))
        for task in self.connected:
            task.cancel()
        await asyncio.gather(*self.connected, return_exceptions=True)
        await self.workplace.close()


class TokenWorkplaces:
    """The agents of one server."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._guard = Guard(Tokens(desk.host))
        self._places: dict[str, Place] = {}
        self._entering = WeakValueDictionary[str, asyncio.Lock]()  # by tokens

    async def enter(self, caller: Holder, wanted: str) -> Place:
        """The agent of a token; raises why it does not lead to the folder."""
        if not caller.may("work"):
            raise Denied("This token may not do that: it lacks the right “work”.")
        if not caller.workspace:
            raise Denied(
                "This token is for no folder.",
                "Whoever works in a folder from another machine needs a token for it.",
                "Make one there: steer token make NAME --may work --workspace DIR",
            )
        folder = await self._desk.bench.folder(wanted, caller)
        async with self._entering.setdefault(caller.token, asyncio.Lock()):
            place = self._places.get(caller.token)
            if place is None:
                made = partial(
                    TokenWorkplace, caller.token, folder, self._desk.environ,
                    self._desk.host.permissions, partial(self._desk.settings_in, folder),
                )  # fmt: skip
                place = self._places[caller.token] = Place(await asyncio.to_thread(made))
                place.staying = asyncio.create_task(self._stay(place, caller))
            return place

    async def serve(
        self,
        place: Place,
        receive: Callable[[], Awaitable[bytes]],
        send: Callable[[bytes], Awaitable[None]],
        end: Callable[[], Awaitable[None]],
    ) -> None:
        """Use a connection until it is cut; its agent may have ended while it was accepted."""
        if place.over:
            await end()
            return
        task = asyncio.create_task(place.lines.serve(MessageWire(receive, send, end)))
        place.connected.add(task)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            place.connected.discard(task)

    async def _stay(self, place: Place, caller: Holder) -> None:
        revoked = asyncio.create_task(self._guard.ended(caller))
        alone = asyncio.create_task(unneeded(place.lines, place.connected, place.workplace))
        why = "The server of the workspace has stopped."
        try:
            await asyncio.wait({revoked, alone}, return_when=asyncio.FIRST_COMPLETED)
            why = REVOKED if revoked.done() else alone.result()
        finally:
            for one in (revoked, alone):
                one.cancel()
            await asyncio.gather(revoked, alone, return_exceptions=True)
            self._places.pop(caller.token, None)
            await place.close(why)

    async def close(self) -> None:
        """End all of them, with the server."""
        staying = [place.staying for place in self._places.values() if place.staying]
        for task in staying:
            task.cancel()
        await asyncio.gather(*staying, return_exceptions=True)
