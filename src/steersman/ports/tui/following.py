"""Following the log: one task feeds the story, and what changed is shown a few times a second.

However fast messages come, the screen is drawn at most `RATE` times a second; however many come at
once, keys are heard in between.
"""

import asyncio
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any, Protocol

from steersman.records.errors import SteersmanError
from steersman.views.blocks import Block
from steersman.views.seat import Seat
from steersman.views.story import Story

RATE = 30
SLICE = 0.02  # seconds of reading before keys are heard again
WATCH = 2.0  # seconds between looks at who runs a thread that does not run here
PATIENCE = 1.0  # seconds before a log that could not be read is tried again


class Running(Protocol):
    """Work that was begun and can be ended."""

    def cancel(self) -> object:
        """End it."""
        ...


Spawn = Callable[[Coroutine[Any, Any, None]], Running]


class Follower:
    """Reads the thread that the seat is at. `show` gets the story and what changed in it.

    `trouble` gets what could not be read, and what to do about it.
    """

    def __init__(
        self,
        seat: Seat,
        show: Callable[[Story, list[Block]], None],
        trouble: Callable[[str, str], None],
        spawn: Spawn,
    ) -> None:
        self._seat = seat
        self._show = show
        self._trouble = trouble
        self._spawn = spawn
        self.story = Story()
        self._changed: dict[int, Block] = {}
        self._news = asyncio.Event()
        self._tasks: list[Running] = []
        self._at = ""
        self._stale = False  # who runs the thread, and whether a turn does, may be otherwise now

    def start(self) -> None:
        """Follow from the beginning of whatever thread there is, or the next one that begins."""
        self._end()
        self.story = Story()
        self._changed.clear()
        self._news.clear()
        self._at = self._seat.id
        work = (self._read(self.story), self._draw(self.story), self._watch())
        self._tasks = [self._spawn(one) for one in work]

    def moved(self) -> bool:
        """The seat may be elsewhere: follow it there; True when it is."""
        if self._seat.id == self._at and self._tasks:
            return False
        if not self._at and self._seat.id and self.story.seq:
            self._at = self._seat.id  # the first words made this thread, and it is followed
            return False
        self.start()
        return True

    def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks = []

    async def _read(self, story: Story) -> None:
        """Feed the story; what cannot be read is reported once and tried again: nothing is lost."""
        told = ""
        while True:
            try:
                await self._take_in(story)
                return
            except SteersmanError as problem:
                if str(problem) != told:
                    told = str(problem)
                    self._trouble(problem.facts, problem.try_this)
            await asyncio.sleep(PATIENCE)

    async def _take_in(self, story: Story) -> None:
        since = monotonic()
        async for message in self._seat.follow(story.seq):
            self._at = message.thread
            self._stale |= self._seat.heard(message)
            for block in story.feed(message):
                self._changed[id(block)] = block
            self._news.set()
            if monotonic() - since > SLICE:
                await asyncio.sleep(0)
                since = monotonic()

    async def _watch(self) -> None:
        """See that another process still runs the thread: one that is killed says nothing."""
        while True:
            await asyncio.sleep(WATCH)
            if self._seat.owner is not None:
                await self._look()

    async def _look(self) -> None:
        try:
            await self._seat.look()
        except SteersmanError as problem:
            self._trouble(problem.facts, problem.try_this)

    async def _draw(self, story: Story) -> None:
        while True:
            await self._news.wait()
            if self._stale:
                self._stale = False
                await self._look()
            self._news.clear()  # from here on nothing is awaited: the story is what is shown
            changed = list(self._changed.values())
            self._changed.clear()
            self._show(story, changed)
            await asyncio.sleep(1 / RATE)
