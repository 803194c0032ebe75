"""What is printed of a conversation, and how its questions are put: each on lines of its own."""

import asyncio
import errno
import os
import sys
from collections.abc import Callable
from functools import partial

import click

from steersman.ports.cli.views import PlainView
from steersman.records.in_context import typed
from steersman.records.message import (
    Assistant,
    AssistantDelta,
    Message,
    Steer,
)
from steersman.views.seat import Seat
from steersman.views.text import counted, one_line


class Teller:
    """Prints messages and remarks, each on lines of its own, and knows what was printed.

    `gone` is called when nobody can read it any more: a closed pipe, a closed terminal.
    """

    def __init__(self, seat: Seat, gone: Callable[[], None]) -> None:
        self._seat = seat
        self._gone = gone
        self._view = PlainView()
        self._thread = ""
        self.shown = 0
        self.asked_later = False  # whoever puts a request shows it then
        self._news = asyncio.Event()
        self._open = ""  # what is on the last line, unfinished

    def turn_to(self) -> None:
        """The seat is elsewhere, or there again: what is printed from now on."""
        thread = self._seat.thread
        if thread is None:
            self._thread, self.shown = "", 0
        elif thread.id != self._thread:
            known = thread.parent is not None and thread.parent == self._thread
            self._thread, self.shown = thread.id, thread.head
            if not known:
                self._recall()
        self._view = PlainView(prompts=bool(self._seat.id) and not self._seat.here)
        self._view.asked_later = self.asked_later

    def _recall(self) -> None:
        """The last turn of a thread; all the others are only counted."""
        host = self._seat.host
        turns = [m.seq for m in host.messages(self._thread, kinds={"turn_start"})]
        start = turns[-1] if turns else 1
        if start > 1:
            self.print(f"{counted(start - 1, 'earlier message')}: steer replay {self._thread}")
        view = PlainView(prompts=True)
        for message in host.messages(self._thread, after=start - 1, until=self.shown):
            self._out(partial(view.show, message))

    def take(self, message: Message) -> bool:
        """Print a message; False when it was printed before."""
        if message.seq and message.seq <= self.shown and message.thread == self._thread:
            return False
        self._thread = message.thread
        self.shown = max(self.shown, message.seq)
        match message.body:
            case AssistantDelta(text=text):
                if self._open != "words":
                    self._finish()
                self._out(partial(self._view.show, message))
                self._open = "" if text.endswith("\n") else "words"
            case Assistant():
                self._out(partial(self._view.show, message))
                self._open = ""
            case Steer() as receipt:
                self._receipt(receipt)
            case _:
                self._finish()
                self._out(partial(self._view.show, message))
        self._news.set()
        return True

    def _receipt(self, receipt: Steer) -> None:
        match receipt.state, receipt.how:
            case "waiting", _:
                self.print("· it gets that at its next step")
            case "queued", "queue":
                self.print(f"· queued for the next turn: {one_line(typed(receipt.text), 60)}")
            case "queued", _:
                self.print("· too late for this turn, so it is queued for the next")
            case "withdrawn", _:
                self.print("· withdrawn")

    def print(self, text: str) -> None:
        """Print lines, never behind something else."""
        self._finish()
        self._out(partial(click.echo, text))

    def prompt(self, text: str) -> None:
        """Ask; the answer is typed on the same line."""
        self._finish()
        self._out(partial(click.echo, text, nl=False))

    def invite(self, text: str) -> None:
        """Show the prompt, unless it is there."""
        if self._open != "prompt":
            self.prompt(text)
            self._open = "prompt"

    def typed(self) -> None:
        """The user ended the line."""
        self._open = ""

    def _finish(self) -> None:
        if self._open:
            self._out(click.echo)
        self._open = ""

    def _out(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.EIO):
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for stream in (sys.stdout, sys.stderr):
                os.dup2(nowhere, stream.fileno())
            self._gone()

    async def caught_up(self) -> None:
        """Wait until everything that is in the log now was printed."""
        thread = self._seat.id
        head = self._seat.host.find(thread).head if thread else 0
        while self._seat.id == thread and self._thread in ("", thread) and self.shown < head:
            self._news.clear()
            await self._news.wait()
