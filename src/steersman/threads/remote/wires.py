"""One connection of a line: frames over whatever carries bytes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from steersman.threads.remote.frames import Frame, frame_of, framed, length_of


class Wire(Protocol):
    """One connection."""

    async def read(self) -> Frame | None:
        """The next frame, or None where the connection has ended."""
        ...

    async def write(self, frame: Frame) -> None:
        """Send a frame; raises `OSError` where that cannot be."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


class StreamWire:
    """A connection over two streams of bytes: a socket, or the ends of a program."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> Frame | None:
        """The next frame, or None where the connection has ended."""
        try:
            length = length_of(await self._reader.readexactly(4))
            return frame_of(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, OSError):
            return None

    async def write(self, frame: Frame) -> None:
        """Send a frame."""
        self._writer.write(framed(frame))
        await self._writer.drain()

    def close(self) -> None:
        """End the connection."""
        self._writer.close()


Dial = Callable[[], Awaitable[Wire]]
