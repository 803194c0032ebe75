"""What the operations and the streams need of ASGI, and no more: answers, sockets, paths.

A web framework brings forms, cookies, sessions, files, templates and two ways to run tasks, and
tries the paths one by one. All of that took a fifth of a server's start, and some of each request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

JSON = "application/json"
PART = 1 << 16  # bytes of a stream that are sent at once


def header(scope: Scope, wanted: bytes) -> str:
    """The first header of a name."""
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), "")


# Answers


class Response:
    """Bytes as an answer; to a socket that is not open yet, too."""

    def __init__(self, body: bytes, status: int = 200, kind: str = JSON, **headers: str) -> None:
        self.body, self.status, self.kind, self.headers = body, status, kind, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        kind = "websocket.http" if scope["type"] == "websocket" else "http"
        length = str(len(self.body))
        await send(self.start(f"{kind}.response.start", {"content-length": length}))
        await send({"type": f"{kind}.response.body", "body": self.body})

    def start(self, kind: str, more: Mapping[str, str]) -> Message:
        """The beginning of it."""
        headers = [(b"content-type", self.kind.encode("latin-1"))]
        for name, value in {**self.headers, **more}.items():
            headers.append((name.replace("_", "-").encode(), value.encode("latin-1")))
        return {"type": kind, "status": self.status, "headers": headers}


class Streamed(Response):
    """An answer that is made while it is sent, for as long as someone reads it."""

    def __init__(self, pieces: Iterator[bytes], kind: str) -> None:
        super().__init__(b"", kind=kind)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, part by part; they are made beside the event loop."""
        await send(self.start("http.response.start", {}))
        left = asyncio.ensure_future(gone(receive))
        try:
            wanted = scope["method"] != "HEAD"
            while wanted and not left.done() and (part := await asyncio.to_thread(self._part)):
                await send({"type": "http.response.body", "body": part, "more_body": True})
        finally:
            left.cancel()
        await send({"type": "http.response.body", "body": b""})

    def _part(self) -> bytes:
        part = bytearray()
        for piece in self._pieces:
            part += piece
            if len(part) >= PART:
                break
        return bytes(part)


async def gone(receive: Receive) -> str:
    """Wait until whoever asked is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    return "gone"


async def body_of(receive: Receive) -> bytes:
    """All that a request sends after its head; raises `Disconnected` when it ends before."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


# Sockets


class Disconnected(Exception):
    """The other end is gone."""


class Socket:
    """A WebSocket."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self._receive, self._send = receive, send

    async def accept(self) -> None:
        """Open it."""
        await self._receive()  # that it wants to connect
        await self._put({"type": "websocket.accept"})

    async def refuse(self, answer: Response) -> None:
        """Answer as to a request, and do not open it."""
        await answer(self.scope, self._receive, self._send)

    async def receive(self) -> Message:
        """What it sends next, `text` or `bytes`."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            raise Disconnected
        return message

    async def receive_text(self) -> str:
        """The text that it sends next; bytes are a `KeyError`."""
        return str((await self.receive())["text"])

    async def send_text(self, text: str) -> None:
        """Send text."""
        await self._put({"type": "websocket.send", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes."""
        await self._put({"type": "websocket.send", "bytes": data})

    async def close(self, code: int) -> None:
        """Close it."""
        await self._put({"type": "websocket.close", "code": code, "reason": ""})

    async def _put(self, message: Message) -> None:
        try:
            await self._send(message)
        except OSError as error:
            raise Disconnected from error


def with_socket(served: Callable[[Socket], Awaitable[None]]) -> App:
    """What serves a socket, as an application."""

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(Disconnected):  # whoever is gone, also before it was opened, needs nothing
            await served(Socket(scope, receive, send))

    return run


# Paths


class Paths:
    """Which application serves a path, by method; one part of a path may be a name, as `{this}`.

    A path without one goes first: `/threads/import` is no thread. A socket begins as a `GET`.
    """

    def __init__(self, missing: App, wrong_method: Callable[[list[str]], App]) -> None:
        self._missing, self._wrong_method = missing, wrong_method
        self._plain: dict[str, dict[str, App]] = {}
        self._named: dict[int, dict[tuple[str, ...], tuple[str, dict[str, App]]]] = {}

    def add(self, method: str, path: str, app: App) -> None:
        """Serve a path."""
        parts = path.split("/")
        place = next((at for at, part in enumerate(parts) if part.startswith("{")), None)
        if place is None:
            methods = self._plain.setdefault(path, {})
        else:
            rest = (*parts[:place], *parts[place + 1 :])
            named = self._named.setdefault(place, {})
            _, methods = named.setdefault(rest, (parts[place][1:-1], {}))
        methods[method] = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request served."""
        method = scope.get("method", "GET")
        wanted = "GET" if method == "HEAD" else method
        others: list[str] = []
        for methods, params in self._candidates(scope["path"]):
            if (app := methods.get(wanted)) is not None:
                scope["path_params"] = params
                await app(scope, receive, send)
                return
            others = others or [*methods]
        answer = self._wrong_method(others) if others else self._missing
        await answer(scope, receive, send)

    def _candidates(self, path: str) -> Iterator[tuple[dict[str, App], dict[str, str]]]:
        if (plain := self._plain.get(path)) is not None:
            yield plain, {}
        parts = path.split("/")
        for place, named in self._named.items():
            if place < len(parts) and parts[place]:
                found = named.get((*parts[:place], *parts[place + 1 :]))
                if found is not None:
                    yield found[1], {found[0]: parts[place]}
