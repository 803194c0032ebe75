"""A handle over a thread of this process, until every thread has one."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from steersman.records.errors import Exit, ThreadBusy
from steersman.records.message import Message, TurnEnd
from steersman.records.thread import Activity, Process, Thread, ThreadState

if TYPE_CHECKING:
    from steersman.host.application import Host


class Interim:
    def __init__(self, host: "Host", thread: Thread) -> None:
        self._host = host
        self.thread = thread
        self.id = thread.id

    def __getattr__(self, name: str) -> Any:
        return getattr(self.thread, name)

    @property
    def here(self) -> bool:
        return self.id in self._host._open

    @property
    def busy(self) -> bool:
        return self._host.busy(self.id)

    async def state(self) -> ThreadState:
        owner = None if self.here else Process("p", "elsewhere", 4711)
        return ThreadState("running" if self.busy else "idle", owner, Activity())

    async def send(self, text: str, images: Any = ()) -> int:
        return await self._host.send(self.id, text, images)

    async def steer(self, text: str) -> str:
        return await self._host.steer(self.id, text)

    async def queue(self, text: str) -> str:
        return await self._host.queue(self.id, text)

    async def withdraw(self, corr: str) -> None:
        await self._host.withdraw(self.id, corr)

    async def answer(self, corr: str, answer: Any) -> None:
        self._host.answer(self.id, corr, answer)

    async def cancel(self) -> None:
        await self._host.cancel(self.id)

    async def go_on(self) -> bool:
        return await self._host.go_on(self.id)

    async def call(self, tool: str, arguments: dict[str, Any]) -> Message:
        return await self._host.call(self.id, tool, arguments)

    async def plan_undo(self, *, turn: int | None = None, to: int | None = None) -> Any:
        return self._host.way_back.plan_undo(self.id, turn=turn, to=to)

    async def plan_redo(self) -> Any:
        return self._host.way_back.plan_redo(self.id)

    async def undo(self, plan: Any, *, force: bool = False) -> None:
        await self._host.take_back(self.id, plan, force=force)

    async def compact(self, *, undo: bool = False) -> bool:
        return await self._host.compact(self.id, undo=undo)

    async def set(self, **values: str) -> None:
        import msgspec

        session, _ = self._host._open[self.id]
        settings = msgspec.structs.replace(session.setup.settings, **values)
        await self._host.close(self.id, Exit.DONE)
        await self._host.open(self.id, settings, attended=True)

    async def events(self, after: int = 0) -> AsyncIterator[Message]:
        import asyncio

        while True:
            async for message in self._host.subscribe(self.id, after):
                after = max(after, message.seq)
                yield message
            await asyncio.sleep(0.05)
            if not self.here:
                return

    async def wait(self) -> TurnEnd | None:
        return await self._host.wait(self.id)

    def last_words(self) -> str:
        return self._host.last_words(self.id)

    async def detach(self) -> None:
        pass

    async def close(self) -> None:
        await self._host.close(self.id, Exit.DONE)


async def attach(host: "Host", thread_id: str, settings: Any, **how: Any) -> Interim:
    thread = host.find(thread_id)
    try:
        await host.open(thread_id, settings, **how)
    except ThreadBusy:
        pass
    return Interim(host, thread)
