"""A crowd of readers in one process: plain sockets, each cut and connected again at random."""

import asyncio
import base64
import os
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Raw, Struct

PATIENCE = 300.0  # seconds after which a test gives up
COMMAND = "sleep 600"
END = "The end."
LIFE = 24  # stored messages after which a line is cut, at most


class Stored(Struct):
    """What a reader looks at in a message."""

    seq: int
    kind: str
    body: Raw


class Framed(Struct):
    """A frame of a socket."""

    event: str
    data: Raw
    thread: str = ""
    id: int = 0


_stored = msgspec.json.Decoder(Stored)
_framed = msgspec.json.Decoder(Framed)


class Crowd:
    """Where the readers connect to, what they have seen, and how far they are to read."""

    def __init__(self, at: str, token: str) -> None:
        self.at, self.token = at, token
        self.host, _, port = at.rpartition(":")
        self.port = int(port)
        self.up = asyncio.Event()
        self.up.set()
        self.heads: dict[str, int] = {}
        self.working: set[str] = set()  # threads whose command runs
        self.ended: set[str] = set()  # threads that have said everything
        self._said: dict[str, int] = {}
        self.moved = asyncio.Event()
        self.lines = 0  # how many lines there were

    def head(self, method: str, path: str, *more: str) -> bytes:
        """The head of a request."""
        fields = (f"Host: {self.at}", f"Authorization: Bearer {self.token}", *more)
        return "\r\n".join((f"{method} {path} HTTP/1.1", *fields, "", "")).encode()

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What the server answers to a request."""
        data = b"" if body is None else msgspec.json.encode(body)
        more = ["Connection: close"]
        if data:
            more += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(self.head(method, f"/api/v0{path}", *more) + data)
        head, _, told = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        assert head.startswith(b"HTTP/1.1 200 "), head + told
        return msgspec.json.decode(told)

    async def until(self, found: set[str], wanted: set[str]) -> None:
        """Wait until readers have seen something in all of these threads."""
        async with asyncio.timeout(PATIENCE):
            while not wanted <= found:
                self.moved.clear()
                await self.moved.wait()

    def note(self, thread: str, message: Stored) -> None:
        """Someone has seen a message."""
        if message.kind == "tool_call" and COMMAND.encode() in bytes(message.body):
            self.working.add(thread)
            self.moved.set()
        elif message.kind == "assistant" and END.encode() in bytes(message.body):
            self._said[thread] = message.seq
        elif message.kind == "turn_end" and message.seq > self._said.get(thread, message.seq):
            self.ended.add(thread)
            self.moved.set()


class Line(asyncio.Protocol):
    """One connection of a reader; `over` when it is lost, cut, or everything was read."""

    def __init__(self, reader: "Reader", left: int) -> None:
        self._reader = reader
        self._left = left
        self._buffer = bytearray()
        self._begun = False
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say what is wanted."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._reader.crowd.lines += 1
        transport.write(self._reader.greeting())

    def data_received(self, data: bytes) -> None:
        """Take what came, up to the place where the line is cut."""
        self._buffer += data
        if not self._begun:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            assert self._buffer.startswith(self._reader.welcome), bytes(self._buffer[:end])
            del self._buffer[: end + 4]
            self._begun = True
            self.transport.write(self._reader.begin())
        for thread, message in self._reader.taken(self._buffer, self.transport):
            if self.over.done():
                return  # it was on its way when the line was cut
            self._reader.seen[thread].append(message.seq)
            self._reader.crowd.note(thread, message)
            self._left -= 1
            if not self._left or self._reader.has_all:
                self.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        """The server was killed, or it was cut here."""
        self.cut()

    def cut(self) -> None:
        """Let go without a word."""
        self.transport.abort()
        if not self.over.done():
            self.over.set_result(None)


class Reader:
    """Follows a thread, or some on one socket, and comes back with the last numbers it has."""

    def __init__(self, crowd: Crowd, chance: random.Random, *threads: str) -> None:
        self.crowd = crowd
        self.seen: dict[str, list[int]] = {thread: [] for thread in threads}
        self._chance = chance
        self._line: Line | None = None
        self.all_read = asyncio.Event()

    welcome = b"HTTP/1.1 200 "

    @property
    def has_all(self) -> bool:
        """Whether everything was read that is known to be there."""
        heads = self.crowd.heads
        return all(
            heads.get(name) and seen and seen[-1] >= heads[name] for name, seen in self.seen.items()
        )

    def look(self) -> None:
        """How far to read is known now."""
        if self._line is not None and self.has_all:
            self._line.cut()

    async def read(self) -> None:
        """Read to the end, over as many lines as it takes."""
        loop = asyncio.get_running_loop()
        while not self.has_all:
            await self.crowd.up.wait()
            with suppress(ConnectionError):
                _, self._line = await loop.create_connection(
                    lambda: Line(self, self._chance.randint(1, LIFE)),
                    self.crowd.host,
                    self.crowd.port,
                )
                self.look()
                await self._line.over
            await asyncio.sleep(0)
        self.all_read.set()

    def greeting(self) -> bytes:
        """The request of a new line."""
        [(thread, seen)] = self.seen.items()
        last = [f"Last-Event-ID: {seen[-1]}"] if seen else []
        return self.crowd.head("GET", f"/api/v0/threads/{thread}/events", *last)

    def begin(self) -> bytes:
        """What is said once the server has agreed."""
        return b""

    def taken(
        self, buffer: bytearray, transport: asyncio.Transport
    ) -> Iterator[tuple[str, Stored]]:
        """The stored messages in what came, each event in a chunk of its own."""
        [thread] = self.seen
        while (end := buffer.find(b"\r\n")) > 0:
            size = int(buffer[:end], 16)
            if len(buffer) < end + size + 4:
                return
            event = bytes(buffer[end + 2 : end + 2 + size])
            del buffer[: end + size + 4]
            if event.startswith(b"id: "):
                number, kind, data = event.split(b"\n")[:3]
                assert kind == b"event: message", kind
                message = _stored.decode(data.removeprefix(b"data: "))
                assert int(number[4:]) == message.seq
                yield thread, message


class Page(Reader):
    """Follows several threads on one WebSocket."""

    welcome = b"HTTP/1.1 101 "

    def greeting(self) -> bytes:
        """Ask for a socket."""
        key = base64.b64encode(os.urandom(16)).decode()
        upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
        return self.crowd.head("GET", "/api/v0/socket", *upgrade, f"Sec-WebSocket-Key: {key}")

    def begin(self) -> bytes:
        """Name the threads, each after the last message that is known of it."""
        asked = [
            {"type": "follow", "thread": name, "after": seen[-1] if seen else 0}
            for name, seen in self.seen.items()
        ]
        return b"".join(_masked(1, msgspec.json.encode(one)) for one in asked)

    def taken(
        self, buffer: bytearray, transport: asyncio.Transport
    ) -> Iterator[tuple[str, Stored]]:
        """The stored messages in what came."""
        while len(buffer) >= 2:
            size, start = buffer[1], 2
            if size >= 126:
                start = 4 if size == 126 else 10
                size = int.from_bytes(buffer[2:start])
            if len(buffer) < start + size:
                return
            kind, data = buffer[0] & 15, bytes(buffer[start : start + size])
            del buffer[: start + size]
            if kind == 9:
                transport.write(_masked(10, data))
            elif kind == 1:
                frame = _framed.decode(data)
                assert frame.event != "problem", data
                if frame.id:
                    yield frame.thread, _stored.decode(frame.data)


def _masked(kind: int, data: bytes) -> bytes:
    """A short frame of a client; its mask is nought."""
    assert len(data) < 126
    return bytes([0x80 | kind, 0x80 | len(data), 0, 0, 0, 0]) + data


def lazy(crowd: Crowd, thread: str) -> socket.socket:
    """A reader that asks for everything and reads nothing."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.connect((crowd.host, crowd.port))
    made.sendall(crowd.head("GET", f"/api/v0/threads/{thread}/events"))
    return made
