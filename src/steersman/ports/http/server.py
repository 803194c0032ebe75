"""The application that a server runs: the door, the operations, the streams."""

import asyncio
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from steersman import __version__
from steersman.host.desk import Desk
from steersman.host.tokens import Holder, Tokens
from steersman.ports.http import (
    entering,
    files,
    metrics,
    speaking,
    terminals,
    threads,
    undoing,
    workspace,
)
from steersman.ports.http.asgi import (
    App,
    Paths,
    Receive,
    Response,
    Scope,
    Send,
    Socket,
    with_socket,
)
from steersman.ports.http.door import Door
from steersman.ports.http.layer import PREFIX, by_name, problem, served
from steersman.ports.http.lines import WorkspaceLines
from steersman.ports.http.streams import HEARTBEAT, Streams
from steersman.records.errors import SteersmanError
from steersman.records.problem import Problem

if TYPE_CHECKING:
    from steersman.ports.http.watching import Watching

ROOMS = (entering, threads, speaking, undoing, files, workspace, terminals, metrics)
OPERATIONS = [one for room in ROOMS for one in by_name(vars(room))]
KNOWN = 1.0  # seconds for which a token that was valid counts as valid


class Server:
    """One server over one host; `origins` are all the addresses it is known by."""

    def __init__(
        self,
        desk: Desk,
        token: str,
        origins: Sequence[str],
        *,
        heartbeat: float = HEARTBEAT,
    ) -> None:
        self._desk = desk
        self._tokens = Tokens(desk.host)
        self._seen: dict[str, tuple[Holder | None, float]] = {}
        self.streams = Streams(desk, self._still, heartbeat)
        self._attaching = terminals.Attaching(desk, self.streams)
        self.lines = WorkspaceLines(desk)
        desk.readers = lambda: self.streams.count
        desk.host.bus.keeps = True
        self.app: App = Door(
            self._routed(),
            hosts=[one.partition("://")[2] for one in origins],
            origins=origins,
            token=token,
            shown=self._shown,
            still=self._still,
            tickets=desk.tickets,
        )

    def _routed(self) -> App:
        paths, sockets = Paths(_missing, _wrong_method), Paths(_closed, _wrong_method)
        for one in OPERATIONS:
            paths.add(one.method, one.at, served(one, self._desk))
        for path in ("/events", "/threads/{thread}/events"):
            paths.add("GET", f"{PREFIX}{path}", self.streams.sse)
        for path, run in (
            ("/socket", self.streams.socket),
            ("/threads/{thread}/git/watch", self._watched),
            ("/workspace/line", self.lines.socket),
            ("/terminals/{terminal}/attach", self._attaching.socket),
        ):
            sockets.add("GET", f"{PREFIX}{path}", with_socket(run))
        paths.add("GET", "/openapi.json", self._described)
        paths.add("GET", "/healthz", self._health)
        paths.add("GET", "/readyz", self._ready)

        async def routed(scope: Scope, receive: Receive, send: Send) -> None:
            of_its_kind = sockets if scope["type"] == "websocket" else paths
            await of_its_kind(scope, receive, send)

        return routed

    async def _shown(self, text: str) -> Holder | None:
        """Who shows a token; one that was seen a moment ago is not looked up again."""
        found, until = self._seen.get(text, (None, 0.0))
        if until < time.monotonic():
            found = await asyncio.to_thread(self._tokens.shown, text)
            if found is not None:
                self._seen = {
                    name: one for name, one in self._seen.items() if one[1] > time.monotonic()
                }
                self._seen[text] = (found, time.monotonic() + KNOWN)
        return found

    async def _still(self, caller: Holder) -> bool:
        """Whether a token is still valid that was when a stream began."""
        if not caller.token:
            return True
        known = await asyncio.to_thread(self._tokens.all)
        return any(one.id == caller.token and one.valid for one in known)

    @cached_property
    def _watching(self) -> "Watching":
        from steersman.ports.http.watching import Watching

        return Watching(self._desk, self.streams)

    async def _watched(self, socket: Socket) -> None:
        await self._watching.socket(socket)

    @cached_property
    def _document(self) -> bytes:
        """The description of the API; to make it takes longer than to start, and few ask for it."""
        from steersman.ports.http.openapi import described

        return msgspec.json.encode(described(OPERATIONS))

    async def _described(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Response(self._document)(scope, receive, send)

    async def _health(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _json({"status": "ok", "version": __version__})(scope, receive, send)

    async def _ready(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = _json({"status": "ok"})
        try:
            await asyncio.to_thread(self._desk.host.store.setting, "host", "ready")
        except SteersmanError as error:
            told = problem(503, Problem.of(error))
        await told(scope, receive, send)


def _json(told: Any) -> Response:
    return Response(msgspec.json.encode(told))


_missing = problem(404, Problem("There is nothing at this address."))


async def _closed(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "websocket.close", "code": 1000, "reason": ""})


def _wrong_method(allowed: Sequence[str]) -> App:
    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        told = problem(405, Problem(f"{scope['method']} cannot be used here."))
        known = {*allowed, "HEAD"} if "GET" in allowed else allowed
        told.headers["allow"] = ", ".join(sorted(known))
        await told(scope, receive, send)

    return run
