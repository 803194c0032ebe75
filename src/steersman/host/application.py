"""The running application: every port, from the terminal to another agent, speaks to this.

A `Host` owns the store and the bus, opens threads for work, and reads any thread at any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from secrets import choice
from types import TracebackType
from typing import Any, Literal

from steersman.bus import Bus, Missed, Subscription
from steersman.coordination import floor
from steersman.governance.environment import command_environ
from steersman.governance.secrets import mcp_configs, secret_values
from steersman.identity.mcp_servers import expanded_secrets
from steersman.identity.mcp_servers import find as find_servers
from steersman.identity.settings import cache_folder, config_file
from steersman.intelligence.benching.results import results_file
from steersman.intelligence.configured import Config, read_config, secrets
from steersman.intelligence.loop import Pause
from steersman.intelligence.models import Models
from steersman.operations.journal.objects import Objects
from steersman.operations.mcp.gateway import Gateway
from steersman.operations.mcp.tokens import SignIns
from steersman.operations.workspace import Workspace
from steersman.records.dialogue import Call, Image, ToolSpec
from steersman.records.errors import Exit, StorageProblem, ThreadBusy, UsageProblem
from steersman.records.mcp_tools import Wishes
from steersman.records.message import Answer, ConfirmResponse, Message, TurnEnd
from steersman.records.settings import Settings
from steersman.records.thread import Thread
from steersman.records.undo import UndoPlan
from steersman.store.chain import Flaw, flaws
from steersman.store.contract import Row, Store, find_thread
from steersman.store.log import ThreadLog, now, read_messages
from steersman.store.redactor import Redactor, readable
from steersman.store.sqlite import SqliteStore
from steersman.threads.permissions import Permissions
from steersman.threads.session import Session, recover
from steersman.threads.systems import Setup, offered
from steersman.threads.thinking import Mind
from steersman.threads.way_back import WayBack

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
        self._pause = pause
        self._home = home
        self.bus = Bus()
        self._environ = environ
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="log")
        self._open: dict[str, tuple[Session, ExitStack]] = {}
        self.way_back = WayBack(store, home)
        self.permissions = Permissions(store, environ)

    @classmethod
    def at(cls, home: Path, environ: Mapping[str, str], pause: Pause = asyncio.sleep) -> Host:
        """A host on the SQLite database of a data folder."""
        return cls(SqliteStore(home), home, environ, pause)

    async def __aenter__(self) -> Host:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        for thread_id in list(self._open):
            await self.close(thread_id, Exit.INTERRUPTED if error else Exit.DONE)
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
        model = self.store.setting(f"thread:{source.id}", "model")
        self.store.remember(f"thread:{copy.id}", "model", model)
        return self.find(copy.id)

    def delete(self, thread_id: str) -> None:
        """Remove one thread for ever; refuses while a process works on it."""
        with self.store.own(thread_id):
            self.store.delete_thread(thread_id)
            self.store.remember(f"thread:{thread_id}", "model", None)
            self.permissions.forget_thread(thread_id)

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

    def ended(self, thread_id: str, seq: int) -> bool:
        """True when no session is open and there is no message after `seq`."""
        last = next(self.store.read_back(thread_id), None)
        return last is not None and last.seq <= seq and last.kind == "session_end"

    def rows(self, thread: Thread) -> Iterator[Row]:
        """Stored messages with their hashes, undecoded, up to the head this record knows."""
        return self.store.read(thread.id, until=thread.head)

    def verify(self, thread_id: str) -> list[Flaw]:
        """Every place where a thread is not what was written."""
        return list(flaws(self.find(thread_id), self.store.read_raw(thread_id)))

    async def tidy(self, thread_id: str) -> str:
        """Close what a cut-off session left open; the answer says why that cannot be, if so."""
        try:
            with self.store.own(thread_id):
                await recover(self._log(self.find(thread_id), Redactor()))
        except (ThreadBusy, StorageProblem) as problem:
            return problem.what
        return ""

    def subscribe(self, thread_id: str, after: int = 0) -> AsyncIterator[Message]:
        """Every stored message after `after`, each once and in order, and broadcasts as they come.

        Ends when the thread is closed. A reader that falls behind is caught up from the log.
        """
        return self._follow(self.bus.subscribe(thread_id), thread_id, after)

    async def _follow(
        self, news: Subscription, thread_id: str, after: int
    ) -> AsyncIterator[Message]:
        with news:
            item: Message | Missed | None = Missed(first=0, last=0, dropped=0)
            while item is not None:
                if isinstance(item, Missed):
                    for message in read_messages(self.store, thread_id, after=after):
                        after = message.seq
                        yield message
                elif item.seq == 0 or item.seq > after:
                    after = max(after, item.seq)
                    yield item
                item = await news.next()

    # Working

    async def start(
        self,
        folder: str,
        title: str,
        settings: Settings,
        *,
        origin: Origin = "run",
        client: Wishes | None = None,
        **how: bool,
    ) -> Thread:
        """Make a thread and open it; nothing is left behind when it cannot be opened.

        `client` answers what MCP servers ask, when the thread works for another program.
        """
        workspace = Workspace.open(folder)
        if readable(workspace.root) != workspace.root:
            raise UsageProblem(
                f"The name of the workspace {readable(workspace.root)} is not UTF-8.",
                try_this="Rename the folder.",
            )
        mind = None if origin == "call" else self._mind(settings, title)
        self.permissions.rules(workspace.root, settings)  # what is wrong is told before anything
        named = self._redactor(workspace, settings).text(readable(title))
        thread = self.create(workspace.root, named, origin=origin)
        await self._begin(thread, workspace, settings, mind, client=client, **how)
        return thread

    async def open(
        self,
        thread_id: str,
        settings: Settings,
        *,
        thinks: bool = True,
        folder: str | None = None,
        **how: bool,
    ) -> Thread:
        """Take up a thread for work; only one process at a time may.

        `folder`: where its workspace is now, if it was moved. `thinks`: with a model.
        `attended`: somebody can answer. `yes`: every answer is allow.
        """
        thread = self.find(thread_id)
        workspace = Workspace.open(folder or thread.workspace)
        mind = self._mind(settings, thread.title) if thinks else None
        await self._begin(thread, workspace, settings, mind, client=None, **how)
        if folder:
            self.store.describe(thread_id, title=None, workspace=workspace.root)
        return thread

    async def _begin(
        self,
        thread: Thread,
        workspace: Workspace,
        settings: Settings,
        mind: Mind | None,
        *,
        attended: bool = False,
        yes: bool = False,
        client: Wishes | None = None,
    ) -> None:
        owned = ExitStack()
        owned.enter_context(self.store.own(thread.id))
        try:
            redactor = self._redactor(workspace, settings)
            rules = self.permissions.rules(workspace.root, settings)
            log = self._log(self.find(thread.id), redactor)
            setup = Setup(
                settings=settings,
                workspace=workspace,
                environ=command_environ(self._environ, settings.environment),
                objects=self._objects,
                state=str(self._home),
                home=self.permissions.home,
                private=(str(self._home), str(config_file(self._environ).parent)),
                cache=cache_folder(self._environ, workspace.root),
                rules=self.permissions.book(rules),
                memory=self.permissions.memory(workspace.root, thread.id, redactor.text, rules),
                surroundings=self._environ,
                trusted=self.permissions.folder(workspace.root).loads,
                audits=self.permissions.audits(workspace.root),
                attended=attended,
                yes=yes,
                client=client,
            )
            session = Session(log, setup, mind)
            await session.begin()
            if mind is not None:
                self.store.remember(f"thread:{thread.id}", "model", mind.driver.model)
        except BaseException:
            owned.close()
            raise
        self._open[thread.id] = (session, owned)

    def remembered_model(self, thread_id: str) -> str:
        """The model a thread last worked with."""
        return self.store.setting(f"thread:{thread_id}", "model") or ""

    async def send(self, thread_id: str, text: str, images: tuple[Image, ...] = ()) -> int:
        """Start a turn."""
        return await self._session(thread_id).send(text, images)

    async def go_on(self, thread_id: str) -> bool:
        """Start a turn with the oldest queued message, if there is one."""
        return await self._session(thread_id).go_on()

    def busy(self, thread_id: str) -> bool:
        """True while a turn runs."""
        return (
            thread_id in self._open and self._session(thread_id).state is floor.FloorState.RUNNING
        )

    def last_words(self, thread_id: str) -> str:
        """What the model said last."""
        return self._session(thread_id).last_words()

    async def steer(self, thread_id: str, text: str) -> str:
        """Say something to the running turn."""
        return await self._session(thread_id).steer(text)

    async def queue(self, thread_id: str, text: str) -> str:
        """Say something for the next turn."""
        return await self._session(thread_id).queue(text)

    async def withdraw(self, thread_id: str, corr: str) -> None:
        """Take back a message that has not been delivered."""
        await self._session(thread_id).withdraw(corr)

    async def cancel(self, thread_id: str) -> None:
        """Stop the running turn."""
        await self._session(thread_id).cancel()

    def answer(self, thread_id: str, corr: str, answer: ConfirmResponse | Answer) -> None:
        """Answer a request or a question."""
        self._session(thread_id).answer(corr, answer)

    def leave(self, thread_id: str) -> None:
        """The person who could answer has gone."""
        self._session(thread_id).leave()

    async def call(self, thread_id: str, tool: str, arguments: dict[str, Any]) -> Message:
        """Carry out one tool call a person asked for."""
        return await self._session(thread_id).call(Call(f"call_{new_id()}", tool, arguments))

    def servers(self, thread_id: str) -> Gateway | None:
        """The MCP servers of an open thread, if there are any."""
        return self._session(thread_id).servers

    def redactor(self, thread_id: str) -> Redactor:
        """What takes the secrets out of what an open thread gives away."""
        return self._session(thread_id).log.redactor

    async def take_back(self, thread_id: str, plan: UndoPlan, *, force: bool = False) -> None:
        """Carry out an undo or a redo."""
        await self._session(thread_id).take_back(plan, force=force)

    async def compact(self, thread_id: str, *, undo: bool = False) -> bool:
        """Show the model a digest of what is older, or take that back; False if there is none."""
        session = self._session(thread_id)
        return await (session.uncompact() if undo else session.compact())

    async def wait(self, thread_id: str) -> TurnEnd | None:
        """Wait until nothing runs."""
        return await self._session(thread_id).wait()

    async def close(self, thread_id: str, exit_code: Exit, reason: str = "") -> None:
        """Leave a thread."""
        session, owned = self._open.pop(thread_id)
        try:
            await session.close(exit_code, reason)
        finally:
            owned.close()
            self.bus.end(thread_id)

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
        found = self._open.get(thread_id)
        if found is None:
            raise UsageProblem(f"Thread {thread_id} is not open.", try_this="Open it first.")
        return found[0]

    def _log(self, thread: Thread, redactor: Redactor) -> ThreadLog:
        return ThreadLog(self.store, self.bus, thread, redactor=redactor, executor=self._writer)

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
