"""A socket that shows what changes in the repositories a thread works in.

    GET /api/v0/threads/{thread}/git/watch

The page may send `{"type": "refresh"}`. A reader that does not read for a while is cut.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress

import msgspec
from msgspec import Raw, Struct

from steersman.host.desk import Desk
from steersman.host.git_watch import Failed, GitWatch, Listener, News
from steersman.host.tokens import Holder
from steersman.ports.http.asgi import Disconnected, Socket
from steersman.ports.http.door import UNAUTHORIZED
from steersman.ports.http.frames import Frame
from steersman.ports.http.layer import problem, status_of
from steersman.ports.http.streams import STALLED, Streams
from steersman.records.errors import SteersmanError
from steersman.records.problem import Problem
from steersman.records.validation import sentence

OWN = "git"  # the event of frames that say their type themselves


class Refresh(Struct, frozen=True, tag="refresh", forbid_unknown_fields=True):
    """Look again now."""


_asked = msgspec.json.Decoder(Refresh)


class Watching:
    """All sockets of one server that watch repositories."""

    def __init__(self, desk: Desk, streams: Streams) -> None:
        self._desk = desk
        self._streams = streams
        self._watch = GitWatch(desk.host, desk.environ)

    async def socket(self, socket: Socket) -> None:
        """Show a page the repositories of a thread."""
        caller: Holder = socket.scope["state"]["holder"]
        try:
            thread = await self._desk.thread(socket.scope["path_params"]["thread"], caller)
        except SteersmanError as error:
            await socket.refuse(problem(status_of(error), Problem.of(error)))
            return
        await socket.accept()
        listener = Listener(self._watch, thread, caller.workspace)

        async def put(frame: Frame) -> None:
            text = bytes(frame.data)
            if frame.event != OWN:  # about the stream itself
                text = msgspec.json.encode({"type": frame.event, **msgspec.json.decode(text)})
            async with asyncio.timeout(STALLED):
                await socket.send_text(text.decode())

        with suppress(TimeoutError, Disconnected):
            hearing = asyncio.ensure_future(_hear(socket, listener, put))
            await self._streams.serve(_frames(listener), put, hearing, caller)
        with suppress(RuntimeError, Disconnected):
            await socket.close(1001 if await self._streams.still(caller) else UNAUTHORIZED)


async def _frames(listener: Listener) -> AsyncGenerator[Frame, None]:
    """What is new, encoded; a problem that ends the watching is the last of it."""
    try:
        async with aclosing(listener.news()) as items:
            async for item in items:
                yield _frame(item)
    except SteersmanError as error:
        yield _frame(Failed(error.what))
    await asyncio.Event().wait()  # until the page leaves: it would only come back at once


async def _hear(socket: Socket, listener: Listener, put: Callable[[Frame], Awaitable[None]]) -> str:
    """Hear what the page wants, until it is gone."""
    with suppress(Disconnected, TimeoutError, KeyError):
        while True:
            try:
                _asked.decode(await socket.receive_text())
                listener.refresh()
            except (msgspec.DecodeError, RecursionError) as error:
                await put(_frame(Failed(sentence(error))))
    return "gone"


def _frame(item: News) -> Frame:
    return Frame(OWN, Raw(msgspec.json.encode(item)))
