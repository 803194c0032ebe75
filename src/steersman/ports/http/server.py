"""The application that a server runs: the door, the operations, the streams."""

import asyncio
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

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
from steersman.ports.http.door import App, Door
from steersman.ports.http.layer import PREFIX, by_name, problem, routes_of
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
        routes: list[Any] = routes_of(OPERATIONS, self._desk)
        routes += [
            Route(f"{PREFIX}/threads/{{thread}}/events", _Raw(self.streams.sse), methods=["GET"]),
            Route(f"{PREFIX}/events", _Raw(self.streams.sse), methods=["GET"]),
            WebSocketRoute(f"{PREFIX}/socket", self.streams.socket),
            WebSocketRoute(f"{PREFIX}/threads/{{thread}}/git/watch", self._watched),
            WebSocketRoute(f"{PREFIX}/terminals/{{terminal}}/attach", self._attaching.socket),
            Route("/openapi.json", self._described, methods=["GET"]),
            Route("/healthz", self._health, methods=["GET"]),
            Route("/readyz", self._ready, methods=["GET"]),
        ]
        handlers: Any = {404: _missing, 405: _wrong_method}
        return Starlette(routes=routes, exception_handlers=handlers)

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

    async def _watched(self, socket: WebSocket) -> None:
        await self._watching.socket(socket)

    @cached_property
    def _document(self) -> bytes:
        """The description of the API; to make it takes longer than to start, and few ask for it."""
        from steersman.ports.http.openapi import described

        return msgspec.json.encode(described(OPERATIONS))

    async def _described(self, request: Request) -> Response:
        return Response(self._document, media_type="application/json")

    async def _health(self, request: Request) -> Response:
        return _json({"status": "ok", "version": __version__})

    async def _ready(self, request: Request) -> Response:
        try:
            await asyncio.to_thread(self._desk.host.store.setting, "host", "ready")
        except SteersmanError as error:
            return problem(503, Problem.of(error))
        return _json({"status": "ok"})


class _Raw:
    """An application for a route, where a function would be called with a request."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)


def _json(told: Any) -> Response:
    return Response(msgspec.json.encode(told), media_type="application/json")


async def _missing(request: Request, error: Exception) -> Response:
    return problem(404, Problem("There is nothing at this address."))


async def _wrong_method(request: Request, error: Exception) -> Response:
    told = problem(405, Problem(f"{request.method} cannot be used here."))
    told.headers.update(getattr(error, "headers", None) or {})
    return told
