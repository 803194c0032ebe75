"""One connection between a host and an agent, of those that carry a line one after the other."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from steersman.threads.remote.frames import Frame, frame_of, framed, length_of

PART = 16 * 1024  # bytes of one message
SILENCE = 20.0  # seconds after which a connection on which no byte comes is taken for cut


class Wire(Protocol):
    """One connection."""

    async def read(self) -> Frame | None:
        """The next frame, or None where the connection has ended.

        Raises `TimeoutError` where nothing comes.
        """
        ...

    async def write(self, frame: Frame) -> None:
        """Send a frame; raises `OSError` where that cannot be."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


Dial = Callable[[], Awaitable[Wire]]


class ByteWire(ABC):
    """Frames as they come in bytes, wherever these come from."""

    async def read(self) -> Frame | None:
        """The next frame, or None where the connection has ended."""
        try:
            length = length_of(await self._bytes(4))
            return frame_of(await self._bytes(length))
        except TimeoutError:
            raise
        except (EOFError, OSError):
            return None

    async def _bytes(self, many: int) -> bytes:
        """So many bytes, however slowly they come, as long as some do."""
        got = bytearray()
        while len(got) < many:
            async with asyncio.timeout(SILENCE):
                more = await self._some(many - len(got))
            if not more:
                raise EOFError
            got += more
        return bytes(got)

    @abstractmethod
    async def _some(self, most: int) -> bytes:
        """Some bytes; none where there will be no more."""


class StreamWire(ByteWire):
    """A connection over two streams of bytes: a socket, or the ends of a program."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def _some(self, most: int) -> bytes:
        return await self._reader.read(most)

    async def write(self, frame: Frame) -> None:
        """Send a frame."""
        self._writer.write(framed(frame))
        await self._writer.drain()

    def close(self) -> None:
        """End the connection."""
        self._writer.close()


class MessageWire(ByteWire):
    """A connection over messages, as WebSockets have them: the same bytes in small parts, so that
    a slow connection shows that it lives."""

    def __init__(
        self,
        receive: Callable[[], Awaitable[bytes]],
        send: Callable[[bytes], Awaitable[None]],
        end: Callable[[], Awaitable[None]],
    ) -> None:
        self._receive = receive
        self._send = send
        self._end = end
        self._ending: asyncio.Task[None] | None = None
        self._left = b""

    async def _some(self, most: int) -> bytes:
        if not self._left:
            self._left = await self._receive()
        some, self._left = self._left[:most], self._left[most:]
        return some

    async def write(self, frame: Frame) -> None:
        """Send a frame."""
        data = framed(frame)
        for at in range(0, len(data), PART):
            await self._send(data[at : at + PART])

    def close(self) -> None:
        """End the connection."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._ended())

    async def _ended(self) -> None:
        with suppress(Exception):  # whatever keeps it from ending politely, it is not used again
            async with asyncio.timeout(SILENCE):
                await self._end()
