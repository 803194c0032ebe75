"""What the outside may do to a command that prints while it works: not read its output, and ask it
to end. Neither stops the work."""

import asyncio
import io
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

UNREAD_SECONDS = 2.0  # once asked to end, so long the output may still be read


class Outlet(io.BufferedIOBase):
    """Standard output: what is printed is kept until `drain`, which writes as there is room."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._kept = bytearray()
        self._turn = asyncio.Lock()
        self._roomy = select.poll()
        self._roomy.register(descriptor, select.POLLOUT)

    def writable(self) -> bool:
        """Yes."""
        return True

    def fileno(self) -> int:
        """The real output."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether the real output is a terminal."""
        return os.isatty(self._descriptor)

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Keep it."""
        self._kept += data
        return len(data)

    async def drain(self) -> None:
        """Write all that was printed."""
        async with self._turn:
            while self._kept:
                await self._room()
                # A pipe that has any room has room for so much.
                written = os.write(self._descriptor, self._kept[: select.PIPE_BUF])
                del self._kept[:written]

    async def _room(self) -> None:
        if self._roomy.poll(0):
            return  # as nearly always, and always in a file
        loop, room = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(self._descriptor, room.set)
        try:
            await room.wait()
        finally:
            loop.remove_writer(self._descriptor)


@contextmanager
def outlet() -> Iterator[Outlet]:
    """Keep what is printed meanwhile; whoever lets it be printed drains it."""
    whole = sys.stdout
    whole.flush()
    kept = Outlet(whole.fileno())
    sys.stdout = io.TextIOWrapper(
        kept, encoding=whole.encoding, errors=whole.errors, newline="\n", write_through=True
    )
    try:
        yield kept
    finally:
        sys.stdout.detach()
        sys.stdout = whole


async def shown(showing: "asyncio.Task[object]", asked: asyncio.Event) -> None:
    """Wait until all is read; once the process was asked to end, not for long."""
    ending = asyncio.create_task(asked.wait())
    await asyncio.wait({showing, ending}, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if not showing.done():
        await asyncio.wait({showing}, timeout=UNREAD_SECONDS)
    showing.cancel()
    await asyncio.wait({showing})
    if not showing.cancelled():
        showing.result()  # what went wrong with it


def polite() -> list[signal.Signals]:
    """The signals that ask a process to end."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # as by `nohup`
    return [signal.SIGINT, signal.SIGTERM, *([] if ignored else [signal.SIGHUP])]
