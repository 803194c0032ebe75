"""A terminal that a program runs in: what it shows, what is typed into it, how large it is.

The last of what was shown is kept once for all who look; each of them knows how far they have come.
One that is slow misses something and learns how much; the program never waits for anyone.
"""

import asyncio
import errno
import fcntl
import os
import struct
import termios
from typing import Annotated

from msgspec import Meta, Struct

KEPT = 256 * 1024  # bytes that whoever comes later still sees
PIECE = 64 * 1024  # bytes that someone is shown at a time
LINE = 4096  # bytes in which a line should begin, after a gap
Cells = Annotated[int, Meta(ge=1, le=1000)]


class Size(Struct, frozen=True):
    """How many characters fit beside and below one another."""

    columns: Cells = 80
    rows: Cells = 24


class Shown(Struct, frozen=True):
    """A piece of what was shown: where it ends, and how many bytes before it are gone."""

    data: bytes
    end: int
    missed: int = 0


def open_terminal(size: Size) -> tuple[int, int]:
    """The end of the host, which never blocks, and that of the program."""
    ours, theirs = os.openpty()
    os.set_blocking(ours, False)
    _resize(ours, size)
    return ours, theirs


class Terminal:
    """The host's end of a terminal; whoever follows the program owns the descriptor."""

    def __init__(self, descriptor: int, size: Size) -> None:
        self.size = size
        self.end = 0  # how many bytes were shown so far
        self._descriptor = descriptor
        self._kept = bytearray()
        self._news = asyncio.Event()
        self._typing = asyncio.Lock()
        self._over = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether nothing more will be shown."""
        return self._over.is_set()

    def read(self) -> bytes:
        """What is shown next, nothing at the end; raises BlockingIOError when it is not there."""
        piece = bytearray()
        while len(piece) < PIECE:  # the system gives a page at a time
            try:
                got = os.read(self._descriptor, PIECE)
            except OSError as error:
                if piece or _is_over(error):
                    break
                raise
            if not got:
                break
            piece += got
        self.add(piece)
        return bytes(piece)

    def add(self, piece: bytes | bytearray) -> None:
        """Take in what is shown next."""
        self._kept += piece
        self.end += len(piece)
        del self._kept[:-KEPT]
        self._wake()

    def close(self) -> None:
        """Nothing more will be shown, and nobody reads what is typed."""
        self._over.set()
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def after(self, place: int) -> Shown | None:
        """What was shown after a place, once there is something; None when it is over."""
        while self.end <= place:
            if self.over:
                return None
            await self._news.wait()
        first = self.end - len(self._kept)
        begin = max(place, first)
        if begin > place:
            begin += _whole(self._kept)
        piece = bytes(self._kept[begin - first : begin - first + PIECE])
        return Shown(piece, begin + len(piece), begin - place)

    async def type(self, data: bytes) -> None:
        """Type something; waits while the program does not read, as long as it runs."""
        async with self._typing:
            rest = memoryview(data)
            while rest and not self.over:
                try:
                    rest = rest[os.write(self._descriptor, rest) :]
                except BlockingIOError:
                    await self._room()
                except OSError as error:
                    if not _is_over(error):
                        raise
                    return

    async def _room(self) -> None:
        """Wait until something can be typed, or nobody will read it."""
        loop = asyncio.get_running_loop()
        room = asyncio.Event()
        loop.add_writer(self._descriptor, room.set)
        waits = [asyncio.ensure_future(one.wait()) for one in (room, self._over)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
            if not self.over:  # then the descriptor may be another file's by now
                loop.remove_writer(self._descriptor)

    def resize(self, size: Size) -> None:
        """Change the size; the program gets a signal."""
        if not self.over:
            self.size = size
            _resize(self._descriptor, size)


def _is_over(error: OSError) -> bool:
    """Whether an error says that no program has the terminal open any more."""
    return error.errno == errno.EIO


def _resize(descriptor: int, size: Size) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("4H", size.rows, size.columns, 0, 0))


def _whole(kept: bytearray) -> int:
    """How many bytes to pass over to begin with a line, or else with a character."""
    end = kept.find(b"\n", 0, LINE)
    if end >= 0:
        return end + 1
    return next((i for i, byte in enumerate(kept[:4]) if byte & 0xC0 != 0x80), 0)
