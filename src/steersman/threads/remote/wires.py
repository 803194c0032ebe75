"""One connection between a host and an agent, of those that carry a line one after the other."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from steersman.threads.remote.frames import Frame, frame_of, framed, length_of

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


class StreamWire:
    """A connection over two streams of bytes: a socket, or the ends of a program."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

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
                more = await self._reader.read(many - len(got))
            if not more:
                raise EOFError
            got += more
        return bytes(got)

    async def write(self, frame: Frame) -> None:
        """Send a frame."""
        self._writer.write(framed(frame))
        await self._writer.drain()

    def close(self) -> None:
        """End the connection."""
        self._writer.close()
