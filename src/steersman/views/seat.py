"""A person's place at a thread: what keys and commands do, done through the host.

Knows nothing of screens. A seat may be empty (no thread yet: the first words make one), at work on
a thread, or only watching one that another process works on.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any, Literal

import msgspec

from steersman.host import Host
from steersman.records.dialogue import Image
from steersman.records.errors import Exit, ThreadBusy, UsageProblem
from steersman.records.message import Answer, ConfirmResponse, Message
from steersman.records.settings import Settings
from steersman.records.thread import Thread
from steersman.records.undo import UndoPlan

POLL = 0.5  # seconds between looks at a thread that another process works on
Doing = Literal["nothing", "working", "watching"]


class Seat:
    """Where a person sits. `settings` are those of the next words said.

    `yes`: every permission is answered with yes. `left`: the process whose work was watched is
    gone, and one may sit down in its place.
    """

    def __init__(self, host: Host, folder: str, settings: Settings, *, yes: bool = False) -> None:
        self.host = host
        self.folder = folder
        self.settings = settings
        self.yes = yes
        self.thread: Thread | None = None
        self.watching = False
        self.left = False
        self._opened = asyncio.Event()
        self._moving = asyncio.Lock()  # two words said at once begin one thread, not two

    @property
    def id(self) -> str:
        """The thread's id; empty while there is none."""
        return self.thread.id if self.thread else ""

    @property
    def doing(self) -> Doing:
        """Whether a turn runs."""
        if self.watching:
            return "watching"
        return "working" if self.thread and self.host.busy(self.id) else "nothing"

    async def take(self, thread_id: str) -> None:
        """Sit down at a thread; if another process works on it, only watch."""
        await self.leave()
        thread = self.host.find(thread_id)
        model = self.settings.model or self.host.remembered_model(thread.id)
        self.settings = msgspec.structs.replace(self.settings, model=model)
        try:
            await self._open(thread.id, self.settings)
            self.watching = False
        except ThreadBusy:
            self.watching = True
        self.thread = thread
        self.folder = thread.workspace
        self._opened.set()

    async def leave(self) -> None:
        """Get up; a running turn is stopped, and everything is kept."""
        if self.thread is not None and not self.watching:
            await self.host.close(self.id, Exit.DONE)
        self.thread, self.watching, self.left = None, False, False
        self._opened.clear()

    async def say(self, text: str, images: tuple[Image, ...] = ()) -> None:
        """Begin a turn, or steer the one that runs."""
        async with self._moving:
            await self._ready(text)
            if self.host.busy(self.id):
                await self.host.steer(self.id, text)
            else:
                await self.host.send(self.id, text, images)

    async def queue(self, text: str) -> None:
        """Say something for the next turn."""
        async with self._moving:
            await self._ready(text)
            if self.host.busy(self.id):
                await self.host.queue(self.id, text)
            else:
                await self.host.send(self.id, text)

    async def _ready(self, title: str) -> None:
        """A thread to speak in: a new one if there is none, one's own if the other has gone."""
        if self.watching and self.left:
            await self.take(self.id)
        self._check_working()
        if self.thread is None:
            self.thread = await self.host.start(
                self.folder, title, self.settings, attended=True, yes=self.yes
            )
            self._opened.set()

    async def _open(self, thread_id: str, settings: Settings) -> None:
        await self.host.open(thread_id, settings, attended=True, yes=self.yes)

    async def withdraw(self, corr: str) -> None:
        """Take back words that were not delivered."""
        await self.host.withdraw(self.id, corr)

    async def stop(self) -> None:
        """Stop the running turn."""
        if self.doing == "working":
            await self.host.cancel(self.id)

    async def call(self, tool: str, arguments: dict[str, Any]) -> Message:
        """Call a tool oneself, through the same gate."""
        async with self._moving:
            await self._ready(f"{tool} {arguments.get('command', '')}")
        return await self.host.call(self.id, tool, arguments)

    def answer(self, corr: str, answer: ConfirmResponse | Answer) -> None:
        """Answer a request or a question."""
        self.host.answer(self.id, corr, answer)

    async def change(self, **settings: Any) -> None:
        """Go on with other settings: another model, mode, trust or approvals."""
        if self.doing == "working":
            raise UsageProblem(
                "A turn is running.", "Settings change between turns.", "Stop it with Esc, or wait."
            )
        changed = msgspec.structs.replace(self.settings, **settings)
        if self.thread is not None and not self.watching:
            thread = self.thread
            self._opened.clear()
            await self.host.close(thread.id, Exit.DONE)
            try:
                await self._open(thread.id, changed)
            except BaseException:
                await self._open(thread.id, self.settings)
                raise
            finally:
                self._opened.set()
        self.settings = changed

    async def fork(self, at: int | None = None) -> Thread:
        """Go on in a new thread that shares this one's history up to a message."""
        self._check_thread()
        copy = self.host.fork(self.id, at)
        await self.take(copy.id)
        return copy

    def plan_undo(self) -> UndoPlan:
        """What taking back the last turn's changes would do."""
        self._check_thread()
        return self.host.way_back.plan_undo(self.id)

    def plan_redo(self) -> UndoPlan:
        """What taking back the last undo would do."""
        self._check_thread()
        return self.host.way_back.plan_redo(self.id)

    async def take_back(self, plan: UndoPlan, *, force: bool = False) -> None:
        """Carry out an undo or a redo."""
        await self.host.take_back(self.id, plan, force=force)

    async def rewind(self, seq: int, *, force: bool = False) -> Thread:
        """Files as they were at a message, and a new thread that ends there."""
        self._check_thread()
        plan = self.host.way_back.plan_rewind(self.id, seq)
        if plan is not None:
            await self.host.take_back(self.id, plan, force=force)
        return await self.fork(seq)

    async def compact(self, *, undo: bool = False) -> bool:
        """Show the model a digest of what is older, or take that back."""
        self._check_thread()
        return await self.host.compact(self.id, undo=undo)

    def threads(self, *, here: bool = True) -> list[Thread]:
        """Threads one can sit down at, the newest first."""
        folder = os.path.realpath(self.folder) if here else None
        return [one for one in self.host.threads(workspace=folder) if one.origin != "call"]

    async def follow(self, after: int = 0) -> AsyncIterator[Message]:
        """Every message of the thread after `after`, and what happens from then on.

        It goes on when the thread is opened anew with other settings, and ends when the person
        sits somewhere else.
        """
        await self._opened.wait()
        thread_id = self.id
        while self.id == thread_id:
            way = self._watch(after) if self.watching else self.host.subscribe(thread_id, after)
            async for message in way:
                after = max(after, message.seq)
                yield message
            await self._opened.wait()

    async def _watch(self, after: int) -> AsyncIterator[Message]:
        """What another process writes, looked at again and again as long as one only watches."""
        thread_id = self.id
        while self.watching and self.id == thread_id:
            for message in self.host.messages(thread_id, after=after):
                after = message.seq
                yield message
            self.left = self.host.ended(thread_id, after)
            await asyncio.sleep(POLL)

    def _check_thread(self) -> None:
        if self.thread is None:
            raise UsageProblem("There is no thread yet.", try_this="Say something first.")
        self._check_working()

    def _check_working(self) -> None:
        if self.watching:
            raise UsageProblem(
                "Another process works on this thread; here it is only shown.",
                try_this="/fork goes on in a copy.",
            )
