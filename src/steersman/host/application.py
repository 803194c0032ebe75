"""The running application: every port, from the terminal to another agent, speaks to this.

A `Host` owns the store and the bus, opens threads for work, and reads any thread at any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from secrets import choice
from types import TracebackType
from typing import Any, Literal

from msgspec import Struct

from steersman.bus import Bus, Missed
from steersman.governance.environment import command_environ
from steersman.governance.rule import Rule
from steersman.governance.secrets import mcp_configs, secret_values
from steersman.host.attached import Attached, Opening, sender
from steersman.host.newsroom import Newsroom
from steersman.identity.mcp_servers import expanded_secrets
from steersman.identity.mcp_servers import find as find_servers
from steersman.identity.settings import Settings, cache_folder, config_file
from steersman.intelligence.benching.results import results_file
from steersman.intelligence.configured import Config, read_config, secrets
from steersman.intelligence.loop import Pause
from steersman.intelligence.models import Models
from steersman.operations.journal.objects import Objects
from steersman.operations.mcp.gateway import Gateway
from steersman.operations.mcp.tokens import SignIns
from steersman.operations.workspace import Workspace
from steersman.records.dialogue import ToolSpec
from steersman.records.errors import Exit, StorageProblem, ThreadBusy, UsageProblem
from steersman.records.message import Message, TurnEnd
from steersman.records.thread import Activity, Lease, Thread, ThreadState
from steersman.store import open_store
from steersman.store.chain import Flaw, flaws
from steersman.store.contract import Row, Store, find_thread
from steersman.store.log import ThreadLog, now, read_messages
from steersman.store.redactor import Redactor, readable
from steersman.threads import recalling
from steersman.threads.live import LivePieces
from steersman.threads.mail import Mailbox
from steersman.threads.permissions import Permissions
from steersman.threads.session import Session
from steersman.threads.systems import Setup, offered
from steersman.threads.thinking import Mind
from steersman.threads.way_back import WayBack

ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
Origin = Literal["run", "call", "demo", "fork", "import"]


def new_id() -> str:
    """A thread id: short enough to type, too many to meet twice."""
    return "".join(choice(ALPHABET) for _ in range(10))


KEPT = ("mode", "model", "trust", "approvals", "sandbox")
PAGE = 200  # messages read at a time


class Run(Struct, frozen=True):
    """A thread that this process runs."""

    session: Session
    mailbox: Mailbox
    live: LivePieces
    lease: Lease


class Host:
    """One process's door to all threads. Use it as an async context manager.

    What concerns one thread is asked of a handle: `attach` gives one, `start` makes the thread
    first. `pause` waits before a model is asked again.
    """

    def __init__(
        self, store: Store, home: Path, environ: Mapping[str, str], pause: Pause = asyncio.sleep
    ) -> None:
        self.store = store
        self._pause = pause
        self._home = home
        self.bus = Bus()
        self._environ = environ
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="log")
        self._open: dict[str, Run] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self.newsroom = Newsroom(store, self.bus, self._open.__contains__)
        self.way_back = WayBack(store, home)
        self.permissions = Permissions(store, environ)

    @classmethod
    def at(cls, home: Path, environ: Mapping[str, str], pause: Pause = asyncio.sleep) -> Host:
        """A host on the data folder, or on the store that the person's settings name."""
        return cls(open_store(store_url(environ), home, environ), home, environ, pause)

    async def __aenter__(self) -> Host:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        for thread_id in list(self._open):
            await self.close(thread_id, Exit.INTERRUPTED if error else Exit.DONE)
        while self._ending:
            await asyncio.wait(self._ending)
        await self.newsroom.close()
        self._writer.shutdown()
        self.store.close()

    # Threads

    def threads(self, *, workspace: str | None = None, limit: int | None = None) -> list[Thread]:
        """Threads, the most recently used first."""
        return self.store.threads(workspace=workspace, limit=limit)

    def find(self, wanted: str) -> Thread:
        """The thread a person means by an id or the beginning of one."""
        return find_thread(self.store, wanted)

    def latest(self, workspace: str) -> Thread:
        """The conversation last worked on in a workspace."""
        for thread in self.store.threads(workspace=workspace):
            if thread.origin != "call":
                return thread
        raise UsageProblem(
            f"There is no thread for {workspace} yet.", try_this="`steer run TASK` starts one."
        )

    def latest_changed(self, workspace: str) -> Thread:
        """The thread that last worked in a workspace, single calls included."""
        found = self.store.threads(workspace=workspace, limit=1)
        return found[0] if found else self.latest(workspace)

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

    def fork(self, thread_id: str, at: int | None = None) -> Thread:
        """A new thread that shares another's history up to a message."""
        source = self.find(thread_id)
        until = source.head if at is None else at
        if not 1 <= until <= source.head:
            raise UsageProblem(
                f"Thread {source.id} has no message {until}.",
                f"It has messages 1 to {source.head}.",
            )
        copy = self.create(source.workspace, source.title, origin="fork", parent=(source.id, until))
        rows = list(self.store.read(source.id, until=until))
        self.store.append(copy.id, rows, sync=True)
        for name in KEPT:
            kept = self.store.setting(f"thread:{source.id}", name)
            self.store.remember(f"thread:{copy.id}", name, kept)
        return self.find(copy.id)

    def delete(self, thread_id: str) -> None:
        """Remove one thread for ever; refuses while a process works on it."""
        lease = self.store.lease(thread_id)
        try:
            self.store.delete_thread(thread_id)
            for name in KEPT:
                self.store.remember(f"thread:{thread_id}", name, None)
            self.permissions.forget_thread(thread_id)
        finally:
            self.store.release(lease)

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

        What waits for an answer is left waiting.
        """
        try:
            lease = await asyncio.to_thread(self.store.lease, thread_id)
        except (ThreadBusy, StorageProblem) as problem:
            return problem.what
        try:
            log = self._log(self.find(thread_id), Redactor(), lease)
            if not log.activity.waiting:
                await recalling.recover(log, None)
        except StorageProblem as problem:
            return problem.what
        finally:
            await asyncio.to_thread(self.store.release, lease)
        return ""

    async def follow(self, thread_id: str, after: int = 0) -> AsyncIterator[Message]:
        """Every stored message after `after`, each once and in order, and broadcasts as they come.

        Ends when the thread is closed here. A reader that falls behind is caught up from the log.
        """
        with self.bus.subscribe(thread_id) as news:
            item: Message | Missed | None = Missed(first=0, last=0, dropped=0)
            while item is not None:
                if isinstance(item, Missed) or item.seq > after + 1:
                    while page := await asyncio.to_thread(self._page, thread_id, after):
                        for message in page:
                            after = message.seq
                            yield message
                elif item.seq == 0 or item.seq > after:
                    after = max(after, item.seq)
                    yield item
                item = await news.next()

    def _page(self, thread_id: str, after: int) -> list[Message]:
        return list(islice(read_messages(self.store, thread_id, after=after), PAGE))

    def states(self, threads: Sequence[Thread]) -> dict[str, ThreadState]:
        """What threads are doing, whichever process runs them."""
        return self.store.states([thread.id for thread in threads])

    # Working

    async def start(
        self,
        folder: str,
        title: str,
        settings: Settings,
        *,
        origin: Origin = "run",
        **how: Any,
    ) -> Attached:
        """Make a thread and run it here; nothing is left behind when it cannot be opened."""
        opening = Opening(settings, thinks=origin != "call", **how)
        thread = await self.make(folder, title, settings, origin=origin, thinks=opening.thinks)
        try:
            await self.run(thread, opening)
        except BaseException:
            await asyncio.to_thread(self._forget_empty, thread.id)
            raise
        return Attached(self, thread, opening)

    async def make(
        self,
        folder: str,
        title: str,
        settings: Settings,
        *,
        origin: Origin = "run",
        thinks: bool = True,
    ) -> Thread:
        """A new thread for some work, once it is known that the work can begin."""
        workspace = await asyncio.to_thread(Workspace.open, folder)
        if readable(workspace.root) != workspace.root:
            raise UsageProblem(
                f"The name of the workspace {readable(workspace.root)} is not UTF-8.",
                try_this="Rename the folder.",
            )
        if thinks:
            await self._mind(settings, title).close()
        # What is wrong with the rules is said before anything begins.
        await asyncio.to_thread(self.permissions.rules, workspace.root, settings)
        redactor = await asyncio.to_thread(self._redactor, workspace, settings)
        named = redactor.text(readable(title))
        return await asyncio.to_thread(lambda: self.create(workspace.root, named, origin=origin))

    async def attach(
        self, thread_id: str, settings: Settings | None = None, **how: Any
    ) -> Attached:
        """A handle on a thread.

        With `settings`, and `how` as in `Opening`, this process runs it unless another does. Without,
        it is only spoken to.
        """
        thread = await asyncio.to_thread(self.find, thread_id)
        opening = Opening(settings, **how) if settings is not None else None
        handle = Attached(self, thread, opening)
        if not await handle.run_here():
            await handle.state()
        return handle

    async def open(self, thread_id: str, settings: Settings, **how: Any) -> Attached:
        """Run a thread here; raises `ThreadBusy` when another process does."""
        thread = await asyncio.to_thread(self.find, thread_id)
        opening = Opening(settings, **how)
        await self.run(thread, opening)
        return Attached(self, thread, opening)

    async def run(self, thread: Thread, opening: Opening) -> None:
        """Take a thread up in this process; only one at a time may."""
        folder = opening.folder or thread.workspace
        workspace = await asyncio.to_thread(Workspace.open, folder)
        mind = self._mind(opening.settings, thread.title) if opening.thinks else None
        lease = await asyncio.to_thread(self.store.lease, thread.id)
        try:
            await self._begin(thread, workspace, mind, opening, lease)
        except BaseException:
            await asyncio.to_thread(self.store.release, lease)
            raise
        if opening.folder:
            self.store.describe(thread.id, title=None, workspace=workspace.root)

    async def _begin(
        self,
        thread: Thread,
        workspace: Workspace,
        mind: Mind | None,
        opening: Opening,
        lease: Lease,
    ) -> None:
        await self.newsroom.open()
        live = LivePieces(lambda pieces: self._show(thread.id, pieces))
        redactor, rules = await asyncio.to_thread(self._ground, workspace, opening.settings)
        log = self._log(self.find(thread.id), redactor, lease, live)
        setup = await asyncio.to_thread(
            self._setup, workspace, opening, thread.id, redactor, rules
        )
        session = Session(log, setup, mind)
        session.title = thread.title
        kept = await session.begin(resume=opening.resume)
        await asyncio.to_thread(self._keep, thread.id, session)
        mailbox = Mailbox(session, lambda: self._close_soon(thread.id))
        self._open[thread.id] = Run(session, mailbox, live, lease)
        log.lost = lambda _: self._close_soon(thread.id, lost=True)
        self.newsroom.deliver(thread.id, mailbox)
        if kept is not None:
            await session.resume(kept)
        mailbox.open()

    def _ground(
        self, workspace: Workspace, settings: Settings
    ) -> tuple[Redactor, tuple[Rule, ...]]:
        return (
            self._redactor(workspace, settings),
            self.permissions.rules(workspace.root, settings),
        )

    def _setup(
        self,
        workspace: Workspace,
        opening: Opening,
        thread_id: str,
        redactor: Redactor,
        rules: tuple[Rule, ...],
    ) -> Setup:
        settings = opening.settings
        return Setup(
            settings=settings,
            workspace=workspace,
            environ=command_environ(self._environ, settings.environment),
            objects=self._objects,
            state=str(self._home),
            home=self.permissions.home,
            private=(str(self._home), str(config_file(self._environ).parent)),
            cache=cache_folder(self._environ, workspace.root),
            rules=self.permissions.book(rules),
            memory=self.permissions.memory(workspace.root, thread_id, redactor.text, rules),
            surroundings=self._environ,
            trusted=self.permissions.folder(workspace.root).loads,
            audits=self.permissions.audits(workspace.root),
            attended=opening.attended,
            yes=opening.yes,
            client=opening.client,
            think=self._mind,
        )

    def _keep(self, thread_id: str, session: Session) -> None:
        """Remember how a thread is worked on, for whoever takes it up next."""
        kept = {name: getattr(session.settings, name) for name in KEPT}
        kept["model"] = session.model or kept["model"]
        for name, value in kept.items():
            if value and value != self.store.setting(f"thread:{thread_id}", name):
                self.store.remember(f"thread:{thread_id}", name, value)

    def kept(self, thread_id: str) -> dict[str, str]:
        """How a thread was last worked on: its mode, model, trust and approvals."""
        found = {name: self.store.setting(f"thread:{thread_id}", name) for name in KEPT}
        return {name: value for name, value in found.items() if value}

    def _show(self, thread_id: str, pieces: bytes) -> None:
        """Hand live pieces to other processes, after what is being stored."""
        self._writer.submit(self.store.show, thread_id, pieces)

    def session(self, thread_id: str) -> Session | None:
        """The thread as this process runs it, if it does."""
        found = self._open.get(thread_id)
        return found.session if found else None

    def servers(self, thread_id: str) -> Gateway | None:
        """The MCP servers of a thread that runs here, if there are any."""
        return self._session(thread_id).servers

    def redactor(self, thread_id: str) -> Redactor:
        """What takes the secrets out of what a thread that runs here gives away."""
        return self._session(thread_id).log.redactor

    async def drained(self, thread_id: str) -> TurnEnd | None:
        """Wait until a thread that runs here has no turn, no request and no queued message left."""
        while (run := self._open.get(thread_id)) is not None:
            end = await run.session.wait()
            await run.mailbox.emptied()
            if not run.session.busy and not await run.session.go_on():
                return end
        return None

    def leave(self, thread_id: str) -> None:
        """The person who could answer has gone."""
        self._session(thread_id).leave()

    async def close(self, thread_id: str, exit_code: Exit, reason: str = "") -> None:
        """Leave a thread that runs here."""
        run = self._open[thread_id]
        self.newsroom.stop_delivery(thread_id)
        await run.mailbox.close()
        try:
            await run.session.close(exit_code, reason)
        finally:
            await self._released(thread_id, run)

    def _close_soon(self, thread_id: str, *, lost: bool = False) -> None:
        """Somebody asked for it, or another process has the thread now."""
        task = asyncio.create_task(self._abandon(thread_id) if lost else self._end(thread_id))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, thread_id: str) -> None:
        if thread_id in self._open:
            with suppress(StorageProblem):
                await self.close(thread_id, Exit.INTERRUPTED, "closed by another process")

    async def _abandon(self, thread_id: str) -> None:
        run = self._open.get(thread_id)
        if run is None:
            return
        self.newsroom.stop_delivery(thread_id)
        await run.mailbox.close()
        await run.session.abandon()
        await self._released(thread_id, run, ended=False)

    async def _released(self, thread_id: str, run: Run, *, ended: bool = True) -> None:
        self._open.pop(thread_id, None)
        run.live.close()
        with suppress(StorageProblem):
            await asyncio.to_thread(self.store.release, run.lease)
        if ended:
            self.bus.end(thread_id)

    async def carry(self, thread_id: str) -> None:
        """Start a process in the background that runs a thread until nothing is left to do."""
        from steersman.host.carrying import start

        await start(thread_id, self._home, self._environ)

    @property
    def sender(self) -> str:
        """Who asks, when this process asks something of another."""
        return sender()

    def new_call(self) -> str:
        """A name for a tool call."""
        return f"call_{new_id()}"

    def new_request(self) -> str:
        """A name for a request."""
        return f"req_{new_id()}"

    def tools(self, folder: str) -> tuple[ToolSpec, ...]:
        """The tools there are; those of MCP servers are found with `mcp_list_tools`."""
        workspace = Workspace.open(folder)
        trusted = self.permissions.folder(workspace.root).loads
        return offered(workspace, self._environ, str(self._home), trusted=trusted)

    @property
    def _objects(self) -> Objects:
        """Where originals and other large contents are kept."""
        return Objects(self._home / "objects")

    def _session(self, thread_id: str) -> Session:
        found = self.session(thread_id)
        if found is None:
            raise UsageProblem(f"Thread {thread_id} is not open.", try_this="Open it first.")
        return found

    def _log(
        self, thread: Thread, redactor: Redactor, lease: Lease, live: LivePieces | None = None
    ) -> ThreadLog:
        state = self.store.states([thread.id]).get(thread.id)
        return ThreadLog(
            self.store,
            self.bus,
            thread,
            redactor=redactor,
            executor=self._writer,
            lease=lease,
            activity=state.activity if state else Activity(),
            live=live,
        )

    def _forget_empty(self, thread_id: str) -> None:
        """Remove a thread in which nothing happened."""
        thread = self.store.thread(thread_id)
        if thread is not None and thread.head == 0:
            self.store.delete_thread(thread_id)

    def _redactor(self, workspace: Workspace, settings: Settings) -> Redactor:
        configs = mcp_configs(Path(workspace.root), self._environ)
        own = config_file(self._environ).with_name("mcp.json")
        known = secret_values(self._environ, [*configs, own])
        known |= SignIns(self._home / "mcp").secrets()
        known |= expanded_secrets(find_servers(workspace.root, self._environ, trusted=True).servers)
        return Redactor(known | set(secrets(_models_config(settings), self._environ)))

    def _mind(self, settings: Settings, task: str) -> Mind:
        """The model of a thread; `task` is what an automatic choice goes by."""
        models = Models(self._environ, _models_config(settings), results_file(self._home))
        driver = models.open(settings.model, task=task)
        return Mind(models, driver, settings, self._environ, self._pause)


def _models_config(settings: Settings) -> Config:
    return read_config(settings.models, settings.providers, settings.roles, settings.fallback)
