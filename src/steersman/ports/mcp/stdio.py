"""Serving on standard input and output, where nothing but the protocol may be written.

While it serves, descriptor 0 leads nowhere and descriptor 1 to standard error, so that nothing the
host or its programs print gets between the lines. Reading and writing have threads of their own
that end with the process: a client that neither speaks nor listens cannot keep it alive.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, BinaryIO, cast

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def serve(server: Server[Any]) -> None:
    """Serve one client until it closes its end."""
    with _claimed() as (reading, writing):
        lines = cast(Any, Lines(reading))
        written = cast(Any, Written(writing))
        async with stdio_server(stdin=lines, stdout=written) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


class Lines:
    """The lines of a file, as they come."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, name="mcp-in", daemon=True).start()

    def _read(self) -> None:
        try:
            for line in self._file:
                text = line.decode("utf-8", "replace")
                self._loop.call_soon_threadsafe(self._lines.put_nowait, text)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)
        except (RuntimeError, OSError, ValueError):
            return  # the loop has ended, or the file was closed

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            if line.strip():
                yield line


class Written:
    """A file that is written to without waiting for whoever reads it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._texts: SimpleQueue[tuple[str, Callable[[], None]]] = SimpleQueue()
        threading.Thread(target=self._write, name="mcp-out", daemon=True).start()

    def _write(self) -> None:
        while True:
            text, done = self._texts.get()
            try:
                self._file.write(text.encode("utf-8", "replace"))
                self._file.flush()
            except (OSError, ValueError):
                pass  # nobody reads it any more; the end of the input is what ends the work
            try:
                self._loop.call_soon_threadsafe(done)
            except RuntimeError:
                return

    async def write(self, text: str) -> None:
        """Write a text and wait until it is out."""
        ready = asyncio.Event()
        self._texts.put((text, ready.set))
        await ready.wait()

    async def flush(self) -> None:
        """Everything is written at once."""


@contextmanager
def _claimed() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Both ends of the conversation, taken away from everybody else."""
    reading, writing = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    # Never closed: a thread may still wait at them when the process ends.
    yield os.fdopen(reading, "rb", closefd=False), os.fdopen(writing, "wb", closefd=False)
