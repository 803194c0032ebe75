"""The running application: every port, from the terminal to another agent, speaks to this.

What concerns all threads is asked of `Host`; what concerns one, of a handle that `attach` gives.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import cached_property
from importlib import import_module
from pathlib import Path
from secrets import choice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from steersman.bus import Bus, Joined, Missed
from steersman.hands import serve
from steersman.host.following import Following, Positioned
from steersman.host.newsroom import Newsroom
from steersman.host.opening import Kept, Opening, kept
from steersman.host.settings import remember_model, store_url
from steersman.records.clock import now
from steersman.records.dialogue import Image, ToolSpec
from steersman.records.errors import Exit, StorageProblem, ThreadBusy, UsageProblem
from steersman.records.far import here, is_far
from steersman.records.inbox import Send
from steersman.records.message import Message, TurnEnd
from steersman.records.settings import RESTORED, Settings
from steersman.records.thread import Process, Thread, ThreadState
from steersman.store import open_store
from steersman.store.chain import Flaw, flaws
from steersman.store.contract import Row, Store, find_thread
from steersman.store.log import read_messages

if TYPE_CHECKING:
    from steersman.host.attached import Attached
    from steersman.host.posting import By
    from steersman.host.pruning import Pruned
    from steersman.host.runner import Runner
    from steersman.host.ways import Ways
    from steersman.intelligence.loop import Pause
    from steersman.operations.mcp.gateway import Gateway
    from steersman.store.redactor import Redactor
    from steersman.threads.handle import ThreadHandle
    from steersman.threads.permissions import Permissions
    from steersman.threads.session import Session

ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
Origin = Literal["run", "call", "demo", "fork", "import"]


def new_id() -> str:
    """A thread id: short enough to type, too many to meet twice."""
    return "".join(choice(ALPHABET) for _ in range(10))


class Host:
    """One process's door to all threads. Use it as an async context manager.

    `pause` waits before a model is asked again.
    """

    def __init__(
        self, store: Store, home: Path, environ: Mapping[str, str], pause: Pause = asyncio.sleep
    ) -> None:
        self.store = store
        self.bus = Bus()
        self._home = home
        self._environ = environ
        self._pause = pause
        self.newsroom = Newsroom(store, self.bus, lambda thread: self.session(thread) is not None)
        self._following = Following(store, self.bus, self.newsroom)

    @classmethod
    def at(cls, home: Path, environ: Mapping[str, str], pause: Pause = asyncio.sleep) -> Host:
        """A host on the data folder, or on the store that the user's settings name."""
        return cls(open_store(store_url(environ), home, environ), home, environ, pause)

    async def __aenter__(self) -> Host:
        serve()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if "runner" in self.__dict__:
            await self.runner.leave_all(Exit.INTERRUPTED if error else Exit.DONE)
            await self.runner.close()
        if "way_back" in self.__dict__:
            await asyncio.to_thread(self.way_back.close)
        await self.newsroom.close()
        self._following.close()
        await asyncio.to_thread(self.store.close)

    async def _ready(self) -> None:
        """Load what running threads needs, beside the event loop."""
        if "runner" not in self.__dict__:
            await asyncio.to_thread(import_module, "steersman.host.runner")

    @cached_property
    def runner(self) -> Runner:
        """The threads that this process runs."""
        from steersman.host.runner import Runner

        return Runner(
            self.store,
            self.bus,
            self.newsroom,
            self._home,
            self._environ,
            self.permissions,
            self._pause,
        )

    @cached_property
    def permissions(self) -> Permissions:
        """What the user allows, folder by folder."""
        from steersman.threads.permissions import Permissions

        return Permissions(self.store, self._environ)

    @cached_property
    def way_back(self) -> Ways:
        """What an undo would do."""
        from steersman.host.ways import Ways

        return Ways(self.store, self._home, self._environ)

    # Threads

    def threads(self, *workspaces: str, limit: int | None = None) -> list[Thread]:
        """Threads, of some workspaces or all, the most recently used first."""
        if not workspaces:
            return self.store.threads(limit=limit)
        found = [one for each in workspaces for one in self.store.threads(workspace=each)]
        return sorted(found, key=lambda one: one.updated, reverse=True)[:limit]

    def states(self, threads: Sequence[Thread]) -> dict[str, ThreadState]:
        """What threads are doing, whichever process runs them."""
        return self.store.states([thread.id for thread in threads])

    def find(self, wanted: str) -> Thread:
        """The thread a person means by an id or the beginning of one."""
        return find_thread(self.store, wanted)

    def latest(self, *workspaces: str) -> Thread:
        """The conversation last worked on in a workspace, or in one of several."""
        for thread in self.threads(*workspaces):
            if thread.origin != "call":
                return thread
        raise UsageProblem(
            f"There is no thread for {workspaces[0]} yet.",
            try_this="`steer` starts one, and `steer run TASK` without a chat.",
        )

    def latest_changed(self, *workspaces: str) -> Thread:
        """The thread that last worked in a workspace, single calls included.

        One out of a file is taken only by its name: it may never have worked here.
        """
        found = (one for one in self.threads(*workspaces) if not one.imported)
        return next(found, None) or self.latest(*workspaces)

    def create(
        self,
        workspace: str,
        title: str,
        *,
        origin: Origin = "run",
        parent: tuple[str, int] | None = None,
    ) -> Thread:
        """A new, empty thread."""
        time = now()
        thread = Thread(
            id=new_id(),
            title=" ".join(title.split())[:80],
            workspace=workspace,
            origin=origin,
            created=time,
            updated=time,
            parent=parent[0] if parent else None,
            parent_seq=parent[1] if parent else None,
        )
        self.store.create_thread(thread)
        return self.find(thread.id)

    def fork(self, thread_id: str, at: int | None = None, remark: str = "") -> Thread:
        """A new thread that shares another's history up to a message; its title has a remark."""
        from steersman.host.copying import copy_messages

        source = self.find(thread_id)
        until = source.head if at is None else at
        if not 1 <= until <= source.head:
            raise UsageProblem(
                f"Thread {source.id} has no message {until}.",
                f"It has messages 1 to {source.head}.",
            )
        origin: Origin = "import" if source.imported else "fork"
        title = f"{source.title.removesuffix(remark)[: 80 - len(remark)]}{remark}"
        copy = self.create(source.workspace, title, origin=origin, parent=(source.id, until))
        copy_messages(self.store, source.id, copy.id, until)
        self._keep(copy.id, Kept(self.kept(source.id)))
        return self.find(copy.id)

    def delete(self, thread_id: str) -> None:
        """Remove one thread for ever; refuses while a process works on it."""
        lease = self.store.lease(thread_id)
        try:
            self.store.delete_thread(thread_id)
            self.store.remember(f"thread:{thread_id}", "kept", None)
            self.permissions.forget_thread(thread_id)
        finally:
            self.store.release(lease)

    def prune(self) -> Pruned:
        """Remove images, originals and outputs that no thread refers to."""
        from steersman.host.pruning import prune

        return prune(self.store, str(self._home / "objects"))

    def kept(self, thread_id: str, *, all_: bool = False) -> dict[str, Any]:
        """What a thread keeps for whoever opens it again, by the names of flags.

        `all_`: also its trust and sandbox, for a process in the background that continues with it.
        """
        scope = f"thread:{thread_id}"
        said = self.store.setting(scope, "kept")
        if said is None:  # older versions kept the model alone
            model = self.store.setting(scope, "model")
            return {"model": model} if model else {}
        lasting = msgspec.json.decode(said, type=Kept).lasting
        return {name: value for name, value in lasting.items() if all_ or name in RESTORED}

    async def chose_model(self, name: str | None) -> None:
        """The user chose a model, and it could be used: it is the next thread's, too."""
        if name:
            await asyncio.to_thread(remember_model, self._home, name)

    def _keep(self, thread_id: str, how: Kept) -> None:
        self.store.remember(f"thread:{thread_id}", "kept", msgspec.json.encode(how).decode())

    # Reading

    def messages(
        self,
        thread_id: str,
        *,
        after: int = 0,
        until: int | None = None,
        kinds: Collection[str] | None = None,
    ) -> Iterator[Message]:
        """Stored messages in order."""
        return read_messages(self.store, thread_id, after=after, until=until, kinds=kinds)

    def rows(self, thread: Thread) -> Iterator[Row]:
        """Stored messages with their hashes, undecoded, up to the head this record knows."""
        return self.store.read(thread.id, until=thread.head)

    def verify(self, thread_id: str) -> list[Flaw]:
        """Every place where a thread is not what was written."""
        return list(flaws(self.find(thread_id), self.store.read_raw(thread_id)))

    async def tidy(self, thread_id: str) -> str:
        """Close what a cut-off session left open; the answer says why that cannot be, if so.

        Before an undo is planned, so that the log says what became of the last one.
        """
        if (session := self.session(thread_id)) is not None:
            await session.log.append()  # what it could not write before
            return ""
        last = next(self.store.read_back(thread_id), None)
        if last is None or last.kind == "session_end":
            return ""
        try:
            return await self.runner.tidy(thread_id)
        except (ThreadBusy, StorageProblem) as problem:
            return problem.what

    async def follow(self, thread_id: str, after: int = 0) -> AsyncIterator[Message]:
        """Every stored message after `after`, each once and in order, and broadcasts as they come.

        Ends when the thread is closed here. A reader that falls behind is caught up from the log.
        """
        async with aclosing(self.watch(thread_id, after)) as items:
            async for item in items:
                if isinstance(item, Message):
                    yield item

    def watch(
        self, thread_id: str, after: int = 0
    ) -> AsyncGenerator[Message | Joined | Missed, None]:
        """The same, and where in it a reader joined, or missed something that was broadcast."""
        return self._following.watch(thread_id, after)

    def watch_all(
        self, after: int = 0
    ) -> AsyncGenerator[Positioned | Message | Joined | Missed, None]:
        """The messages of all threads after a position, in one order, and what is broadcast."""
        return self._following.watch_all(after)

    # Working

    async def start(
        self,
        folder: str,
        title: str,
        settings: Settings,
        *,
        origin: Origin = "run",
        **how: Any,
    ) -> ThreadHandle:
        """Make a thread and run it here; nothing is left behind when it cannot be opened."""
        opening = Opening(settings, thinks=origin != "call", **how)
        thread = await self.make(folder, title, settings, origin=origin)
        try:
            await self.runner.take_up(thread, opening)
        except BaseException:
            await asyncio.to_thread(self.forget_empty, thread.id)
            raise
        return self._handle(thread, opening)

    async def start_background(
        self,
        folder: str,
        text: str,
        settings: Settings,
        images: tuple[Image, ...] = (),
        *,
        yes: bool = False,
    ) -> ThreadHandle:
        """Make a thread, and start a process that works on these words; returns when it does."""
        thread = await self.make(folder, text, settings)
        handle = self._handle(thread, None)
        try:
            await asyncio.to_thread(self._keep, thread.id, kept(settings, "", yes=yes))
            await handle.post(Send(text, images))
            await self.carry(thread.id)
        except BaseException:
            await asyncio.to_thread(self.forget_empty, thread.id)
            raise
        return handle

    async def make(
        self, folder: str, title: str, settings: Settings, *, origin: Origin = "run"
    ) -> Thread:
        """A new thread for some work, once it is known that the work can begin."""
        await self._ready()
        named = await self.runner.check(folder, title, settings, thinks=origin != "call")
        return await asyncio.to_thread(
            lambda: self.create(named.workspace, named.text, origin=origin)
        )

    async def attach(
        self,
        thread_id: str,
        settings: Settings | None = None,
        *,
        by: By | None = None,
        **how: Any,
    ) -> ThreadHandle:
        """A handle on a thread, `by` whom its requests are.

        With `settings`, and `how` as in `Opening`, this process runs it unless another does.
        Without, it is only spoken to.
        """
        thread = await asyncio.to_thread(self.find, thread_id)
        opening = Opening(settings, **how) if settings is not None else None
        if opening is not None:
            await self._ready()
        handle = self._handle(thread, opening, by)
        if not await handle.run_here():
            await handle.state()
        return handle

    async def open(self, thread_id: str, settings: Settings, **how: Any) -> ThreadHandle:
        """Run a thread here; raises `ThreadBusy` when another process does."""
        await self._ready()
        thread = await asyncio.to_thread(self.find, thread_id)
        opening = Opening(settings, **how)
        await self.runner.take_up(thread, opening)
        return self._handle(thread, opening)

    def session(self, thread_id: str) -> Session | None:
        """The thread as this process runs it, if it does."""
        return self.runner.session(thread_id) if "runner" in self.__dict__ else None

    def running(self) -> list[str]:
        """The threads that this process runs."""
        return self.runner.running() if "runner" in self.__dict__ else []

    def jobs(self, thread_id: str) -> dict[str, str]:
        """The background commands of a thread that runs here, by their names."""
        return self._running(thread_id).jobs

    def servers(self, thread_id: str) -> Gateway | None:
        """The MCP servers of a thread that runs here, if there are any."""
        return self._running(thread_id).servers

    def redactor(self, thread_id: str) -> Redactor:
        """What takes the secrets out of what a thread that runs here gives away."""
        return self._running(thread_id).log.redactor

    def leave(self, thread_id: str) -> None:
        """The user who could answer has gone."""
        self._running(thread_id).leave()

    async def drained(self, thread_id: str) -> TurnEnd | None:
        """Wait until a thread that runs here has nothing left to do; how its last turn ended."""
        return await self.runner.drained(thread_id)

    async def drain(self) -> None:
        """Wait until the threads that run here have nothing left to do, and leave them."""
        await self.runner.drain()

    async def close(self, thread_id: str, exit_code: Exit, reason: str = "") -> None:
        """Leave a thread that runs here."""
        await self.runner.leave(thread_id, exit_code, reason)

    async def let_go(self, thread_id: str) -> None:
        """Leave a thread that runs here, whose process must end: what waits continues waiting."""
        await self.runner.let_go(thread_id)

    async def carry(self, thread_id: str) -> None:
        """Start a process in the background that runs a thread until nothing is left to do."""
        from steersman.host.carrying import start

        await start(thread_id, self._home, self._environ)

    def forget_empty(self, thread_id: str) -> None:
        """Remove a thread in which nothing happened."""
        thread = self.store.thread(thread_id)
        if thread is not None and thread.head == 0:
            self.store.delete_thread(thread_id)

    def tools(self, folder: str) -> tuple[ToolSpec, ...]:
        """The tools there are; those of MCP servers are found with `mcp_list_tools`.

        A file that is a tool is among them once it was learned what it is: see `learn`.
        """
        from steersman.operations.workspace import Workspace
        from steersman.threads.offering import offered

        workspace = Workspace(here(folder)) if is_far(folder) else Workspace.open(folder)
        trusted = self.permissions.folder(workspace.root).loads
        return offered(workspace, self._environ, str(self._home), trusted=trusted)

    async def learn(self, folder: str) -> Mapping[str, str]:
        """Have files that are tools say what they are; where each tool of a file comes from."""
        from steersman.threads.offering import find_tools

        found = await asyncio.to_thread(find_tools, here(folder), self._environ, trusted=True)
        if found is None:
            return {}
        from steersman.host.extensions import learn

        return (await learn(self, folder, self._environ)).files

    @property
    def process(self) -> Process:
        """This process, as others see it."""
        return self.store.process

    def _handle(self, thread: Thread, opening: Opening | None, by: By | None = None) -> Attached:
        from steersman.host.attached import Attached

        return Attached(self, thread, opening, by)

    def _running(self, thread_id: str) -> Session:
        found = self.session(thread_id)
        if found is None:
            raise UsageProblem(f"Thread {thread_id} is not open.", try_this="Open it first.")
        return found
