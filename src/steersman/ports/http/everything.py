"""One stream over all threads that a caller may see: the frames, by position."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from steersman.host.desk import Desk
from steersman.host.following import PAGE, Positioned
from steersman.host.tokens import Holder
from steersman.ports.http.frames import Encoder, Frame, plain
from steersman.records.message import Message

Frames = AsyncGenerator[Frame, None]


async def everything(desk: Desk, encoder: Encoder, caller: Holder, after: int) -> Frames:
    """The frames of all threads that a caller may see, after a position."""
    await desk.host.newsroom.open()
    seen = _Seen(desk, caller)
    hidden = 0
    async with aclosing(desk.host.watch_all(after)) as items:
        async for item in items:
            match item:
                case Positioned():
                    after = item.position
                    if seen.now(item.thread, item.workspace):
                        hidden = 0
                        yield encoder.placed(item)
                    elif (hidden := hidden + 1) % PAGE == 0:
                        yield plain("position", position=after)
                case Message():
                    if await seen.thread(item.thread):
                        yield encoder.frame(item)
                case _:  # joined in the middle, or too slow
                    for one in getattr(item, "partial", ()):
                        if await seen.thread(one.thread):
                            yield encoder.partial(one)
                    if getattr(item, "dropped", 0):
                        yield plain("gap", after=after)


class _Seen:
    """Which threads a reader sees; where a thread works is known with its messages."""

    def __init__(self, desk: Desk, caller: Holder) -> None:
        self._desk, self._caller = desk, caller
        self._known: dict[str, bool] = {}

    def now(self, thread: str, workspace: str) -> bool:
        """Whether they see one that works in a folder now."""
        if not self._caller.workspace:
            return True
        self._known[thread] = self._caller.sees(workspace)
        return self._known[thread]

    async def thread(self, thread: str) -> bool:
        """Whether they see one of which only pieces came."""
        if not self._caller.workspace:
            return True
        if thread not in self._known:
            found = await asyncio.to_thread(self._desk.host.store.thread, thread)
            return found is not None and self.now(thread, found.workspace)
        return self._known[thread]
