"""Lines that a person types, one at a time, while other things are printed.

The terminal itself edits lines here. Whoever asks a question gets the next line; every other line
goes to the queue. Where the input is no terminal, its lines are read as they are.
"""

import asyncio
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from steersman.ports.cli.asking import MOST, forget_typed, with_paste


class Lines:
    """Standard input. `None` in the queue is its end."""

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self.interactive = os.isatty(self._input)
        self._rest = b""
        self._asked: asyncio.Future[str | None] | None = None
        self.queue: asyncio.Queue[str | None] = asyncio.Queue()

    @property
    def gone(self) -> bool:
        """Whether there was a terminal, and it was closed."""
        try:
            return self.interactive and not termios.tcgetattr(self._input)
        except termios.error:
            return True

    def start(self) -> None:
        """Listen."""
        try:
            asyncio.get_running_loop().add_reader(self._input, self._take)
        except PermissionError:  # a plain file has all its lines at once
            with os.fdopen(os.dup(self._input), "rb") as file:
                for line in file.read(MOST).splitlines():
                    self._put(line.decode(errors="replace"))
            self._put(None)

    def stop(self) -> None:
        """Listen no more."""
        asyncio.get_running_loop().remove_reader(self._input)

    def pause(self) -> None:
        """Let someone else read; what is half typed was not meant for them and is dropped."""
        self.stop()
        forget_typed()

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Do not show what is typed."""
        if not self.interactive:
            yield
            return
        before = termios.tcgetattr(self._input)
        hidden = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        termios.tcsetattr(self._input, termios.TCSADRAIN, hidden)
        try:
            yield
        finally:
            termios.tcsetattr(self._input, termios.TCSADRAIN, before)

    async def next(self) -> str | None:
        """The next line, for a question that was just put."""
        if not self.interactive:
            return await self.queue.get()
        self._asked = asyncio.get_running_loop().create_future()
        try:
            return await self._asked
        finally:
            self._asked = None

    def _take(self) -> None:
        try:
            data = os.read(self._input, 65536)
        except OSError:  # the terminal is gone
            self.stop()
            data = b""
        if not self.interactive:
            self._take_piece(data)
            return
        line, self._rest = self._rest + data, b""
        if data and not line.endswith(b"\n"):  # Ctrl+D after some letters is no Enter
            self._rest = line
            return
        if data and not line.startswith(b"/"):
            line = with_paste(self._input, line)
        self._put(line.decode(errors="replace").rstrip("\n") if data else None)

    def _take_piece(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data:
            self.stop()
            lines, self._rest = ([self._rest] if self._rest else []), b""
        for line in lines:
            self._put(line.decode(errors="replace").rstrip("\r"))
        if not data:
            self._put(None)

    def _put(self, line: str | None) -> None:
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(line)
        else:
            self.queue.put_nowait(line)
