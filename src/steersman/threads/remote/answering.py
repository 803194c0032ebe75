"""What a host answers an agent, and the line that it does so on: its gate's word, its log."""

import asyncio
from collections.abc import Iterator
from itertools import dropwhile, islice
from types import NoneType
from typing import Any, Protocol

from msgspec import Raw

from steersman.governance.gate import Gate, Permit
from steersman.records.errors import SteersmanError
from steersman.records.message import Question
from steersman.records.thread import Thread
from steersman.store.contract import Row, Store
from steersman.store.log import ThreadLog, to_message
from steersman.systems import Edited
from steersman.threads.remote.calling import Caller
from steersman.threads.remote.entries import Entries
from steersman.threads.remote.far_log import PAGE
from steersman.threads.remote.frames import Garbled
from steersman.threads.remote.line import Line
from steersman.threads.remote.place import Place
from steersman.threads.remote.wires import SILENCE
from steersman.threads.remote.words import (
    NO_SENSE,
    Admit,
    Admitted,
    Asking,
    Drafted,
    Entered,
    Flagged,
    Leave,
    Reading,
    Stored,
    heard,
    spoken,
    stored,
    understood,
)


class Answers(Protocol):
    """Whoever answers an agent."""

    async def answer(self, method: str, body: Raw) -> Any:
        """Do what it asks."""
        ...

    def hear(self, method: str, body: Raw) -> None:
        """Take what it tells."""
        ...

    async def close(self) -> None:
        """Let go of what answering needs; the line is over."""
        ...


class Books:
    """What the agent of an address may read of the store: the threads that work there."""

    def __init__(self, store: Store, address: str) -> None:
        self._store = store
        self._address = address

    def thread(self, thread_id: str) -> Thread | None:
        """A thread that works there."""
        found = self._store.thread(thread_id)
        return found if found is not None and found.workspace == self._address else None

    def read(self, asked: Reading) -> list[Stored]:
        """A page of its messages."""
        if self.thread(asked.thread) is None:
            raise SteersmanError(f"Thread {asked.thread} does not work there.")
        rows: Iterator[Row]
        if asked.back:
            rows = self._store.read_back(asked.thread)
            if (until := asked.until) is not None:
                rows = dropwhile(lambda row: row.seq >= until, rows)
        else:
            rows = self._store.read(
                asked.thread, after=asked.after, until=asked.until, kinds=asked.kinds
            )
        return [stored(to_message(asked.thread, row)) for row in islice(rows, PAGE)]


class BookDesk:
    """Answers an agent that only looks at logs."""

    def __init__(self, store: Store, address: str) -> None:
        self._books = Books(store, address)

    async def answer(self, method: str, body: Raw) -> Any:
        """A part of a log."""
        match method:
            case "read":
                asked = understood(body, Reading)
                return await asyncio.to_thread(self._books.read, asked)
            case "thread":
                wanted = understood(body, str)
                return await asyncio.to_thread(self._books.thread, wanted)
        raise SteersmanError(f"The host does not know “{method}”.")

    def hear(self, method: str, body: Raw) -> None:
        """Nothing that is said matters here."""

    async def close(self) -> None:
        """Nothing: the store is another's to close."""


class Reach:
    """A line to an agent, and who answers there for the thread."""

    def __init__(self, name: str, address: str, dial: Any) -> None:
        self.address = address
        self.line = Line(name, self._handle, self._hear)
        self._caller = Caller(dial, self.line)
        self.entered = Entered("", "")
        self.desk: Answers | None = None

    async def open(self) -> None:
        """Reach the agent; raises why that cannot be."""
        await self._caller.open()
        try:
            async with asyncio.timeout(SILENCE):
                self.entered = await self.line.ask("enter", None, Entered)
        except TimeoutError as error:
            await self._caller.close()  # who says nothing is not told that it is left
            raise SteersmanError(
                "The workspace agent does not answer.",
                "It has greeted, and does not say which folder it works in.",
            ) from error
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Leave the agent."""
        if self.line.over is None and self.line.connected:
            try:
                async with asyncio.timeout(10):
                    await self.line.ask("leave", None, NoneType)
            except (SteersmanError, TimeoutError):
                pass
        await self._caller.close()
        if self.desk is not None:
            await self.desk.close()

    async def _handle(self, method: str, body: Raw) -> Any:
        if self.desk is None:
            raise SteersmanError("No thread is open on this line.")
        try:
            return await self.desk.answer(method, body)
        except Garbled as problem:
            self.line.end(problem)  # who says such things is not worked with
            raise

    def _hear(self, method: str, body: Raw) -> None:
        if self.desk is not None:
            self.desk.hear(method, body)


class FarDesk(BookDesk):
    """Answers what an agent asks for a thread: its gate's word, its log."""

    def __init__(self, log: ThreadLog, gate: Gate, place: Place, address: str) -> None:
        super().__init__(log.store, address)
        self._log = log
        self._gate = gate
        self._place = place
        self._entries = Entries(log)

    async def answer(self, method: str, body: Raw) -> Any:
        """Do what the agent asks."""
        match method:
            case "admit" | "glance" | "expect":
                return await self._judged(method, understood(body, Admit))
            case "append":
                return await self._append(understood(body, list[Drafted]))
            case "question":
                asking = understood(body, Asking)
                question = heard(asking.said)
                if not isinstance(question, Question):
                    raise Garbled(NO_SENSE, f"{asking.said.kind} is no question.")
                lane = await self._entries.lane(asking.path, asking.turn)
                return spoken(await self._gate.question(question, lane))
        return await super().answer(method, body)

    async def close(self) -> None:
        """Let go of the threads that waited for the machine."""
        self._entries.close()
        await self._place.close()

    async def _judged(self, method: str, asked: Admit) -> Admitted | None:
        """The verdict on actions; the agent may do these, for this call, and nothing else."""
        self._place.learn(asked.actions, asked.facts)
        lane = await self._entries.lane(asked.path, asked.turn)
        about = (asked.call, asked.tool, asked.actions, lane)
        if method == "expect":
            await self._gate.foresee(*about)
            return None
        said: Permit | Edited | Any
        if method == "glance":
            said = await self._gate.glance(*about)
        else:
            said = await self._gate.admit(*about, edited=asked.edited, whole=asked.whole)
        head = self._log.head
        if isinstance(said, Permit):
            return Admitted(head, leave=Leave(said.profile, said.secret))
        if isinstance(said, Edited):
            return Admitted(head, edited=said)
        return Admitted(head, verdict=said)

    async def _append(self, drafts: list[Drafted]) -> list[Stored]:
        made = [await self._entries.written(one) for one in drafts]
        return [stored(message) for message in await self._log.append(*made)]

    def hear(self, method: str, body: Raw) -> None:
        """Take what the agent tells."""
        if method == "broadcast":
            self._log.broadcast(self._entries.shown(understood(body, Drafted)))
            return
        flag = understood(body, Flagged)
        match method:
            case "hold":
                self._gate.hold(flag.call, flag.why)
            case "hook":
                self._gate.mark_hook(flag.call)
            case "unasked":
                self._gate.ask_nobody(flag.call)
