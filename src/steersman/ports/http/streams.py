"""Following the log: server-sent events for programs, one socket for a page; the same frames.

A reader is never waited for: one that does not read for a while is cut, and finds everything that
was stored when it comes back with the number of the last message it had.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any
from urllib.parse import parse_qs

import msgspec
from msgspec import Struct

from steersman.host.desk import Desk, NoSuchThread
from steersman.host.tokens import Guard, Holder, Tokens
from steersman.ports.http.asgi import Disconnected, Receive, Scope, Send, Socket, gone
from steersman.ports.http.door import UNAUTHORIZED
from steersman.ports.http.everything import Frames, everything
from steersman.ports.http.frames import Encoder, Frame, plain
from steersman.ports.http.layer import problem, status_of
from steersman.records.errors import SteersmanError
from steersman.records.message import Message
from steersman.records.problem import Problem
from steersman.records.thread import EVERY
from steersman.records.validation import sentence

HEARTBEAT = 10.0  # seconds
STALLED = 30.0  # seconds after which a reader that takes nothing is cut
MOST_FOLLOWED = 64  # threads on one socket
QUEUE = 256  # frames that wait for a socket
SEQ = 2**53
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
]


class Follow(Struct, frozen=True, tag="follow", forbid_unknown_fields=True):
    """A page wants the frames of a thread, after a message it has; `*` means all threads."""

    thread: str
    after: int = 0


class Unfollow(Struct, frozen=True, tag="unfollow", forbid_unknown_fields=True):
    """A page wants no more frames of a thread."""

    thread: str


_asked = msgspec.json.Decoder(Follow | Unfollow)


class Streams:
    """All readers of one server; they end with it."""

    def __init__(
        self, desk: Desk, still: Callable[[Holder], Awaitable[bool]], heartbeat: float = HEARTBEAT
    ) -> None:
        self._desk = desk
        self.still = still
        self._heartbeat = heartbeat
        self._guard = Guard(Tokens(desk.host))
        self._encoder = Encoder()
        self._readers: set[asyncio.Future[str]] = set()

    @property
    def count(self) -> int:
        """How many readers there are."""
        return len(self._readers)

    def close(self) -> None:
        """Tell every reader that the server stops."""
        for reader in self._readers:
            if not reader.done():
                reader.set_result("closing")

    async def frames(self, thread: str, after: int) -> Frames:
        """The frames of a thread, for as long as someone wants them."""
        host = self._desk.host
        await host.newsroom.open()
        while True:
            async with aclosing(host.watch(thread, after)) as items:
                async for item in items:
                    if isinstance(item, Message):
                        after = max(after, item.seq)
                        yield self._encoder.frame(item)
                    elif partial := getattr(item, "partial", None):
                        for one in partial:
                            yield self._encoder.partial(one)
                    elif getattr(item, "dropped", 0):
                        yield plain("gap", thread, after=after)
            # The thread was closed here; another process may go on with it.

    async def _wanted(self, thread: str, after: int, caller: Holder) -> Frames:
        if thread == EVERY:
            return everything(self._desk, self._encoder, caller, after)
        return self.frames((await self._desk.thread(thread, caller)).id, after)

    # Server-sent events

    async def sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Events; `Last-Event-ID` or `after` is the last message the reader has."""
        caller: Holder = scope["state"]["holder"]
        try:
            after = _after(scope)
            frames = await self._wanted(scope["path_params"].get("thread", EVERY), after, caller)
        except SteersmanError as error:
            await problem(status_of(error), Problem.of(error))(scope, receive, send)
            return
        except ValueError as error:
            await problem(400, Problem(str(error)))(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return

        async def put(frame: Frame) -> None:
            await send({"type": "http.response.body", "body": frame.sse(), "more_body": True})

        with suppress(TimeoutError):
            ended = asyncio.ensure_future(gone(receive))
            await self.serve(frames, put, ended, caller)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def serve(
        self,
        frames: Frames,
        put: Callable[[Frame], Awaitable[None]],
        ended: "asyncio.Future[str]",
        caller: Holder,
    ) -> None:
        """Hand frames to a reader until it is gone, the server stops or its token is revoked."""
        loop = asyncio.get_running_loop()
        stop: asyncio.Future[str] = loop.create_future()
        self._readers.add(stop)
        handed, begun = 0, 0.0
        revoked = asyncio.ensure_future(self._guard.ended(caller))

        async def hand_over() -> None:
            nonlocal handed, begun
            async for frame in frames:
                begun = loop.time()
                await put(frame)
                handed, begun = handed + 1, 0.0
                await asyncio.sleep(0)  # one that is gone takes everything at once, for nothing

        async def tell(frame: Frame) -> None:
            async with asyncio.timeout(STALLED):
                await put(frame)

        handing = asyncio.ensure_future(hand_over())
        either: set[asyncio.Future[Any]] = {handing, ended, stop}
        why: dict[str, Any] = {}
        try:
            while not stop.done():
                before = handed
                await asyncio.wait(
                    either | {revoked},
                    timeout=self._heartbeat,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if ended.done():
                    return
                if begun and loop.time() - begun > STALLED:
                    raise TimeoutError
                if handing.done():
                    handing.result()
                    return
                if not stop.done() and not await self.still(caller):
                    why = {"why": "the token is not valid any more"}
                    break
                if not (stop.done() or begun) and handed == before:
                    await tell(plain("heartbeat"))
            handing.cancel()
            await asyncio.wait({handing})
            await tell(plain("closing", **why))
        finally:
            self._readers.discard(stop)
            for one in (handing, ended, revoked):
                one.cancel()
            await asyncio.gather(handing, ended, revoked, return_exceptions=True)
            await frames.aclose()

    # One socket for a page

    async def socket(self, socket: Socket) -> None:
        """Frames of as many threads as the page follows."""
        caller: Holder = socket.scope["state"]["holder"]
        await socket.accept()
        waiting: asyncio.Queue[Frame] = asyncio.Queue(QUEUE)
        followed: dict[str, asyncio.Task[None]] = {}
        listening = asyncio.ensure_future(self._listen(socket, caller, waiting, followed))

        async def put(frame: Frame) -> None:
            await socket.send_text(msgspec.json.encode(frame).decode())

        try:
            with suppress(TimeoutError, Disconnected):
                await self.serve(_queued(waiting), put, listening, caller)
        finally:
            for task in followed.values():
                task.cancel()
            if followed:
                await asyncio.wait(followed.values())
        with suppress(RuntimeError, Disconnected):
            still = await self.still(caller)
            await socket.close(1001 if still else UNAUTHORIZED)

    async def _listen(
        self,
        socket: Socket,
        caller: Holder,
        waiting: "asyncio.Queue[Frame]",
        followed: dict[str, "asyncio.Task[None]"],
    ) -> str:
        """Hear what the page wants, until it is gone."""
        with suppress(Disconnected, KeyError):
            while True:
                try:
                    asked = _asked.decode(await socket.receive_text())
                    old = followed.pop(asked.thread, None)
                    if old is not None:
                        old.cancel()
                    if isinstance(asked, Follow):
                        if len(followed) >= MOST_FOLLOWED or not 0 <= asked.after <= SEQ:
                            raise NoSuchThread(f"At most {MOST_FOLLOWED} threads a socket.")
                        if followed and EVERY in (asked.thread, *followed):
                            raise NoSuchThread("A socket follows all threads, or single ones.")
                        frames = await self._wanted(asked.thread, asked.after, caller)
                        following = _follow(asked.thread, frames, waiting)
                        followed[asked.thread] = asyncio.create_task(following)
                except (msgspec.DecodeError, RecursionError) as error:
                    await waiting.put(plain("problem", what=sentence(error)))
                except SteersmanError as error:
                    await waiting.put(plain("problem", asked.thread, what=error.what))
        return "gone"


async def _follow(thread: str, frames: Frames, waiting: "asyncio.Queue[Frame]") -> None:
    try:
        async with aclosing(frames):
            async for frame in frames:
                await waiting.put(frame)
    except SteersmanError as error:
        await waiting.put(plain("problem", thread, what=error.what))


async def _queued(waiting: "asyncio.Queue[Frame]") -> Frames:
    while True:
        yield await waiting.get()


def _after(scope: Scope) -> int:
    """The last message a reader has, by its header or the query; the header is the newer one."""
    given = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if unknown := set(given) - {"after", "ticket"}:
        raise ValueError(f"There is no `{min(unknown)}`.")
    header = [value.decode("latin-1") for name, value in scope["headers"]
              if name == b"last-event-id"]  # fmt: skip
    text = (header or given.get("after", ["0"]))[-1]
    if not (text.isascii() and text.isdigit()) or int(text) > SEQ:
        raise ValueError("`after` must be the number of a message.")
    return int(text)
