"""An agent's end of a line: the tools of one thread, run beside the code, for a host elsewhere.

Everything that a call does here was put to the host's gate; what a host that died did not hear of a
call is kept for the one that takes the thread up.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from msgspec import Raw

from steersman.hands import Hands
from steersman.operations.journal.objects import Objects
from steersman.records.errors import Denied, SteersmanError
from steersman.records.settings import Settings
from steersman.records.thread import Activity
from steersman.store.log import Lane, unbroken
from steersman.threads import recalling
from steersman.threads.remote.bench import AgentSystems, Bench, Nobody, Opening
from steersman.threads.remote.far_log import FarLog, FarStore
from steersman.threads.remote.frames import LARGEST
from steersman.threads.remote.line import Held, Large, Line
from steersman.threads.remote.words import (
    Confine,
    Containment,
    Do,
    Done,
    Entered,
    Grounding,
    Guarded,
    Names,
    Open,
    Opened,
    Reverse,
    Way,
)

WAYS = 2  # questions about undo at a time: each keeps a thread of the agent's busy
MOST_LEFT = 256  # threads of which something is kept that no host has heard
Prepare = Callable[[Open], Awaitable[Opening]]


class Agent:
    """Works in one folder for whoever has a line here. `prepare` makes a setup of what is asked.

    Over ssh that is the user of this machine; another's agent is in `bound.py`.
    """

    systems: type[AgentSystems] = AgentSystems

    def __init__(self, root: str, home: str, state: Path, prepare: Prepare) -> None:
        self._entered = Entered(root, home)
        self.state = state
        self.objects = Objects(state / "objects")
        self.hands = Hands(name="agent")  # what a host has done here keeps no other's threads busy
        self.held = Held()  # of all lines
        self._prepare = prepare
        self._serving: dict[str, Serving] = {}  # by threads
        self._taking_up = WeakValueDictionary[str, asyncio.Lock]()  # by threads
        self._left: dict[str, dict[str, Done]] = {}  # what hosts that are gone have not heard

    def begin(self, name: str) -> Line:
        """The agent's end of a new line."""
        return Serving(name, self).line

    def store(self, line: Line) -> FarStore:
        """What can be read of the host's store."""
        return FarStore(line, self._entered.root, self.allowed)

    def allowed(self, said: Any) -> Any:
        """What a host says of files, in a log or a plan, as far as it may; here it may say all."""
        return said

    def within(self, settings: Settings) -> Settings:
        """The settings that a thread gets which asks for some: here those."""
        return settings

    def content(self, digest: str) -> bytes | None:
        """A content that was kept, unless it is too large for a line."""
        path = self.objects.path(digest)
        if not os.path.exists(path) or os.path.getsize(path) > LARGEST // 2:
            return None
        with self.objects.open(digest) as file:
            return file.read()

    def entered(self) -> Entered:
        """Where this is."""
        return self._entered

    async def open(self, serving: "Serving", asked: Open) -> Bench:
        """Take a thread up; a line that still has it is of a host that is gone."""
        async with self._taking_up.setdefault(asked.thread, asyncio.Lock()):
            if (former := self._serving.get(asked.thread)) is not None:
                await unbroken(former.close("Another host has taken the thread up."))
            return await self._opened(serving, asked)

    async def _opened(self, serving: "Serving", asked: Open) -> Bench:
        opening = await self._prepare(asked)
        store = self.store(serving.line)
        log = FarLog(asked.thread, asked.head, serving.line, opening.redactor, store)
        systems = await self.systems.open(log, opening.setup, None, Nobody(), _stay)
        assert isinstance(systems, AgentSystems)
        bench = Bench(systems, log, opening)
        bench.kept = self._left.pop(asked.thread, {})
        self._serving[asked.thread] = serving
        return bench

    def leave(self, thread: str, kept: dict[str, Done]) -> None:
        """A thread is not worked on any more; what was not heard of it is kept."""
        self._serving.pop(thread, None)
        if kept:
            self._left[thread] = kept
        while len(self._left) > MOST_LEFT:
            del self._left[next(iter(self._left))]

    async def leave_gone(self) -> None:
        """End what the hosts have here whose lines are over."""
        for serving in list(self._serving.values()):
            if serving.line.over is not None:
                await serving.close(serving.line.over.what)

    async def close(self) -> None:
        """End everything."""
        for serving in list(self._serving.values()):
            await serving.close("The workspace agent has ended.")
        self.hands.shutdown(wait=False)


async def _stay(_: str) -> None:
    """The host turns threads to other modes."""


class Serving:
    """One line of an agent, and the thread that it is for."""

    def __init__(self, name: str, agent: Agent) -> None:
        self._agent = agent
        self._bench: Bench | None = None
        self._changing = asyncio.Lock()  # which thread it is for
        self._ways = asyncio.Semaphore(WAYS)
        self.line = Line(name, self._handle, self._hear, agent.held)

    @property
    def bench(self) -> Bench:
        """The thread at work."""
        if self._bench is None:
            raise SteersmanError("No thread was opened on this line.")
        return self._bench

    async def _handle(self, method: str, body: Raw) -> Any:
        kind, do = _METHODS.get(method, (None, None))
        if do is None:
            raise SteersmanError(
                f"The workspace agent does not know “{method}”.",
                try_this="Install the same version of Steersman on both machines.",
            )
        self._agent.hands.take_over()
        asked = msgspec.msgpack.decode(body, type=kind)
        await self.check(method, asked)
        return await do(self, asked)

    async def check(self, method: str, asked: object) -> None:
        """Refuse a request that is not the host's to make; here every one is."""

    def _hear(self, method: str, body: Raw) -> None:
        if method == "heard" and self._bench is not None:
            self._bench.kept.pop(msgspec.msgpack.decode(body, type=str), None)

    async def enter(self, _: None) -> Entered:
        """Say where this is."""
        return self._agent.entered()

    async def open(self, asked: Open) -> Opened:
        """Take a thread up."""
        async with self._changing:
            if self._bench is not None:
                raise Denied("A thread is open on this line already.")
            self._bench = bench = await self._agent.open(self, asked)
        return await bench.opened()

    async def results(self, calls: list[str]) -> list[Done | None]:
        """What came of calls that an earlier host had begun, as far as that is known."""
        return [self.bench.kept.get(call) for call in calls]

    async def foresee(self, asked: Do) -> None:
        """Have people asked about a call before its turn has come."""
        lane = Lane(self.bench.log, asked.path, asked.turn)
        await self.bench.systems.toolbox.foresee(asked.call, lane)

    async def apply(self, settings: Settings) -> None:
        """Work by other settings."""
        within = await asyncio.to_thread(self._agent.within, settings)
        await self.bench.systems.apply(within)

    async def tidy(self, lane: tuple[str, int]) -> list[str]:
        """Undo what a dead process left half done."""
        return await self.bench.systems.runs.tidy(Lane(self.bench.log, *lane))

    async def recover(self, activity: Activity) -> None:
        """Say what a session that was cut off did not do to files."""
        self.bench.log.activity = activity
        await recalling.settle(self.bench.log, self.bench.systems.journal)

    async def reverse(self, asked: Reverse) -> int:
        """Carry out an undo or a redo, through the host's gate and into its log."""
        self.bench.log.reached(asked.head)
        lane = Lane(self.bench.log, asked.path, asked.turn)
        return await self.bench.systems.reverse(asked.plan, asked.force, lane)

    async def way(self, asked: Way) -> Any:
        """What an undo would do; needs no thread that is open."""
        from steersman.threads.remote.ways import answered

        agent = self._agent
        async with self._ways:
            store = agent.store(self.line)
            try:
                return await asyncio.to_thread(answered, store, agent.state, asked, agent.allowed)
            finally:
                store.leave()

    async def blob(self, digest: str) -> Large:
        """A content that was kept."""
        return Large(lambda: asyncio.to_thread(self._agent.content, digest))

    async def keep(self, content: bytes) -> str:
        """Keep a content."""
        return (await asyncio.to_thread(self._agent.objects.put_bytes, content))[0]

    async def leave(self, _: None) -> None:
        """The thread is left: end what is its own."""
        await self.close("")

    async def close(self, why: str) -> None:
        """End the line, where there is a reason to, and everything that the thread has here."""
        if why:
            await self.line.close(SteersmanError(why))
        async with self._changing:
            bench, self._bench = self._bench, None
            if bench is not None:
                await bench.systems.close()
                self._agent.leave(bench.log.thread, bench.kept)


def _of_bench(name: str) -> Callable[[Serving, Any], Coroutine[Any, Any, Any]]:
    async def do(serving: Serving, body: Any) -> Any:
        return await getattr(serving.bench, name)(body)

    return do


async def _contain(serving: Serving, _: None) -> tuple[Containment, str]:
    return await serving.bench.contain()


_METHODS: dict[str, tuple[Any, Callable[[Serving, Any], Coroutine[Any, Any, Any]]]] = {
    "enter": (None, Serving.enter),
    "open": (Open, Serving.open),
    "results": (list[str], Serving.results),
    "foresee": (Do, Serving.foresee),
    "apply": (Settings, Serving.apply),
    "tidy": (tuple[str, int], Serving.tidy),
    "leave": (None, Serving.leave),
    "recover": (Activity, Serving.recover),
    "reverse": (Reverse, Serving.reverse),
    "way": (Way, Serving.way),
    "blob": (str, Serving.blob),
    "keep": (bytes, Serving.keep),
    "contain": (None, _contain),
    "do": (Do, _of_bench("do")),
    "look": (bool, _of_bench("look")),
    "profile": (Confine, _of_bench("profile")),
    "grounded": (Grounding, _of_bench("grounded")),
    "named": (Names, _of_bench("named")),
    "protected": (Guarded, _of_bench("protected")),
}
