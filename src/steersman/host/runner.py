"""The threads that this process runs: taking one up, keeping it, leaving it.

Loaded with the first thread that is opened: reading threads needs none of it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steersman.bus import Bus
from steersman.governance.environment import command_environ
from steersman.governance.rule import Rule
from steersman.hands import Hands
from steersman.host.masking import Secrets
from steersman.host.models import config_for
from steersman.host.newsroom import Newsroom
from steersman.host.opening import Kept, Opening, going_on, kept
from steersman.identity.logins import Logins
from steersman.identity.settings import cache_folder, config_file
from steersman.identity.token_files import elsewhere
from steersman.intelligence.benching.results import results_file
from steersman.intelligence.loop import Pause
from steersman.intelligence.models import Models
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.workspace import Workspace
from steersman.records.errors import Exit, LeaseLost, SteersmanError, StorageProblem, UsageProblem
from steersman.records.far import is_far
from steersman.records.message import TurnEnd
from steersman.records.outcomes import ENDINGS
from steersman.records.settings import Settings
from steersman.records.thread import Activity, Lease, Thread
from steersman.store.contract import Store, find_thread
from steersman.store.log import Live, Tenure, ThreadLog
from steersman.store.redactor import Redactor, readable
from steersman.store.sql_leases import lost as lease_lost
from steersman.threads import recalling
from steersman.threads.live import LivePieces
from steersman.threads.mail import Mailbox
from steersman.threads.permissions import Permissions
from steersman.threads.resources import HostResources, Machine
from steersman.threads.session import Session
from steersman.threads.systems import Setup
from steersman.threads.thinking import Mind
from steersman.threads.turning import ROOT

if TYPE_CHECKING:
    from steersman.host.far_runner import FarRunner
    from steersman.monitoring.telemetry import Telemetry

CONFIG = "steersman.host.config"  # which few need


class Run(Struct, frozen=True):
    """A thread that this process runs."""

    session: Session
    mailbox: Mailbox
    live: LivePieces
    lease: Lease


class Runner:
    """Runs threads of one host."""

    def __init__(
        self,
        store: Store,
        bus: Bus,
        newsroom: Newsroom,
        home: Path,
        environ: Mapping[str, str],
        permissions: Permissions,
        pause: Pause,
    ) -> None:
        self.store = store
        self._bus = bus
        self.home = home
        self.environ = environ
        self._pause = pause
        self.permissions = permissions
        self._logins = Logins(home)
        self._private = (str(home), str(config_file(environ).parent), *elsewhere(home))
        self.resources = HostResources(
            Machine(str(home), environ, permissions.home, self._private, permissions.covers)
        )
        self._writer = Hands(1, "log")
        self._runs: dict[str, Run] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._leaving: dict[str, asyncio.Event] = {}
        self._telemetry: dict[tuple[str, str], Telemetry] = {}
        self.newsroom = newsroom

    def session(self, thread_id: str) -> Session | None:
        """The thread as this process runs it, if it does."""
        found = self._runs.get(thread_id)
        return found.session if found else None

    def running(self) -> list[str]:
        """The threads that run here."""
        return list(self._runs)

    async def close(self) -> None:
        """Let go of everything; threads that still run are left first."""
        while self._ending:
            await asyncio.wait(self._ending)
        for one in self._telemetry.values():
            await one.close()
        await self.resources.close()
        self._writer.shutdown()

    async def leave_all(self, exit_code: Exit) -> None:
        """Leave every thread."""
        for thread_id in list(self._runs):
            await self.leave(thread_id, exit_code)

    # Taking a thread up

    async def check(self, folder: str, title: str, settings: Settings, *, thinks: bool) -> Title:
        """Find out whether work can begin in a folder, before there is a thread for it."""
        if is_far(folder):
            return await self._far().check(folder, title, settings, thinks=thinks)
        workspace = await asyncio.to_thread(Workspace.open, folder)
        if readable(workspace.root) != workspace.root:
            raise UsageProblem(
                f"The name of the workspace {readable(workspace.root)} is not UTF-8.",
                try_this="Rename the folder.",
            )
        if thinks:
            await (await asyncio.to_thread(self.mind, settings, title)).close()
        await asyncio.to_thread(self.permissions.resolved, workspace.root, settings)
        redactor, _ = await asyncio.to_thread(self._ground, workspace, settings)
        return Title(workspace.root, redactor.text(readable(title)))

    async def take_up(self, thread: Thread, opening: Opening) -> None:
        """Run a thread in this process; only one at a time may."""
        folder = opening.folder or thread.workspace
        if is_far(folder):
            await self._far().take_up(thread, opening, folder)
            return
        workspace = await asyncio.to_thread(Workspace.open, folder)
        lease = await asyncio.to_thread(self.store.lease, thread.id)
        try:
            opening = await asyncio.to_thread(self.going_on, thread, opening, lease)
            mind = None
            if opening.thinks:
                mind = await asyncio.to_thread(self.mind, opening.settings, thread.title)
            if opening.folder:
                await asyncio.to_thread(
                    lambda: self.store.describe(thread.id, title=None, workspace=workspace.root)
                )
            await self._begin(thread, workspace, mind, opening, lease)
        except BaseException:
            await asyncio.to_thread(self.store.release, lease)
            raise

    def _far(self) -> FarRunner:
        """What runs threads whose workspace is on another machine; loaded with the first."""
        from steersman.host.far_runner import FarRunner

        return FarRunner(self)

    async def _begin(
        self,
        thread: Thread,
        workspace: Workspace,
        mind: Mind | None,
        opening: Opening,
        lease: Lease,
    ) -> None:
        await self.newsroom.open()
        live = LivePieces(lambda pieces: self.show(thread.id, pieces), self.store.listened)
        redactor, rules = await asyncio.to_thread(self._ground, workspace, opening.settings)
        log = await asyncio.to_thread(self.log, thread.id, redactor, lease, live)
        setup = await asyncio.to_thread(self._setup, workspace, opening, thread.id, redactor, rules)
        await self.run(thread, Session(log, setup, mind), opening, lease, live)

    async def run(
        self, thread: Thread, session: Session, opening: Opening, lease: Lease, live: LivePieces
    ) -> None:
        log = session.log
        session.title = thread.title
        if opening.settings.otel:
            self._trace(thread.id, opening.settings)
        left = await session.begin(resume=opening.resume and opening.attended)
        await asyncio.to_thread(self._keep, thread.id, session, opening.yes)
        mailbox = Mailbox(
            session,
            lambda: self._close_soon(thread.id),
            partial(self.newsroom.happened, thread.id),
        )
        self._runs[thread.id] = Run(session, mailbox, live, lease)
        log.lost = partial(self._close_soon, thread.id)
        self.newsroom.deliver(
            thread.id, mailbox.wake, lambda: self._close_soon(thread.id, lease_lost(thread.id))
        )
        if left is not None:
            await session.resume(left)
        mailbox.open()

    def _trace(self, thread_id: str, settings: Settings) -> None:
        """Send the turns of a thread to a collector."""
        from steersman.monitoring.telemetry import Telemetry, collector

        key = (settings.otel, settings.otel_content)
        if key not in self._telemetry:
            to = collector(settings.otel, self.environ)
            made = Telemetry(self.store, to, content=settings.otel_content == "on")
            self._telemetry[key] = made
            self._bus.listeners.append(made.hear)
        self._telemetry[key].follow(thread_id)

    def going_on(self, thread: Thread, opening: Opening, lease: Lease) -> Opening:
        """How the thread is run: work that continues has its own limits, and its standing yes.

        An approval that was given for other work holds no longer; a person who is there answers.
        """
        if not opening.carries:
            log = self.log(thread.id, Redactor(), lease)
            if not (opening.resume and opening.attended and recalling.resumable(log, ROOT)):
                return opening
            return going_on(opening, self.kept(thread.id).run)
        log = self.log(thread.id, Redactor(), lease)
        if log.head and not recalling.resumable(log, ROOT):
            return replace(opening, yes=False)
        how = self.kept(thread.id).run
        return replace(going_on(opening, how), yes=bool(how.get("yes")))

    def kept(self, thread_id: str) -> Kept:
        """How a thread is worked on."""
        said = self.store.setting(f"thread:{thread_id}", "kept")
        return msgspec.json.decode(said, type=Kept) if said else Kept()

    def _ground(
        self, workspace: Workspace, settings: Settings
    ) -> tuple[Redactor, tuple[Rule, ...]]:
        rules = self.permissions.rules(workspace.root, settings)
        secrets = Secrets(workspace.root, self.environ, self.home, settings)
        return secrets.redactor(), rules

    def _setup(
        self,
        workspace: Workspace,
        opening: Opening,
        thread_id: str,
        redactor: Redactor,
        rules: tuple[Rule, ...],
    ) -> Setup:
        permissions, root = self.permissions, workspace.root
        settings = permissions.resolved(root, opening.settings)
        return Setup(
            settings=settings,
            workspace=workspace,
            environ=command_environ(self.environ, settings.environment),
            objects=self.objects,
            state=str(self.home),
            home=permissions.home,
            private=self._private,
            cache=cache_folder(self.environ, root),
            rules=permissions.book(rules),
            memory=permissions.memory(root, thread_id, redactor.text, rules),
            surroundings=self.environ,
            resources=self.resources,
            resolved=partial(permissions.resolved, root),
            trusted=permissions.folder(root).loads,
            exceptions=permissions.exceptions(root),
            audits=permissions.audits(root),
            attended=opening.attended,
            questions=opening.questions,
            yes=opening.yes,
            client=opening.client,
            think=self.mind,
            configure=lambda: import_module(CONFIG).for_tool(root, self.environ),
            keep=lambda session: self.changed(thread_id, session, opening.yes, redactor),
        )

    @property
    def objects(self) -> Objects:
        return Objects(self.home / "objects", self.store if self.store.shared else None)

    def changed(self, thread_id: str, session: Session, yes: bool, redactor: Redactor) -> None:
        """Keep what was set, and the title where threads are listed."""
        title = redactor.text(readable(session.title))
        self.store.describe(thread_id, title=title, workspace=None)
        self._keep(thread_id, session, yes)

    def _keep(self, thread_id: str, session: Session, yes: bool) -> None:
        """Remember how a thread is worked on, for whoever takes it up next."""
        if not session.model:
            return  # an undo or a single call says nothing about how the thread is worked on
        self.keep(thread_id, kept(session.settings, _anywhere(session.model), yes=yes))

    def keep(self, thread_id: str, how: Kept) -> None:
        """Remember how a thread is worked on."""
        scope, said = f"thread:{thread_id}", msgspec.json.encode(how).decode()
        if self.store.setting(scope, "kept") != said:
            self.store.remember(scope, "kept", said)

    def _forget_run(self, thread_id: str, session: Session) -> None:
        """The work is over: limits and a standing yes were for it alone."""
        if not session.model:
            return
        how = kept(session.settings, _anywhere(session.model), yes=False)
        self.keep(thread_id, Kept(how.lasting))

    def log(
        self, thread_id: str, redactor: Redactor, lease: Lease, live: Live | None = None
    ) -> ThreadLog:
        thread = find_thread(self.store, thread_id)
        state = self.store.states([thread_id]).get(thread_id)
        doing = state.activity if state else Activity()
        return ThreadLog(
            self.store,
            self._bus,
            thread,
            redactor=redactor,
            executor=self._writer,
            tenure=Tenure(lease, doing, live),
        )

    def mind(self, settings: Settings, task: str) -> Mind:
        """The model of a thread; `task` is what an automatic choice goes by."""
        config = config_for(settings, self._logins)
        effort = "" if settings.effort == "default" else settings.effort
        kept, results = self._logins.key, results_file(self.home)
        models = Models(self.environ, config, results, kept, effort=effort)
        driver = models.open(settings.model, task=task)
        return Mind(models, driver, settings, self.environ, self._pause)

    def show(self, thread_id: str, pieces: bytes) -> None:
        """Hand live pieces to other processes, in order with what is stored."""
        shown = self._writer.submit(self.store.show, thread_id, pieces)
        shown.add_done_callback(lambda done: done.cancelled() or done.exception())  # if it can be

    # Keeping and leaving it

    async def drained(self, thread_id: str) -> TurnEnd | None:
        """Wait until a thread has no turn, no request and no queued message left.

        What is queued behind a turn that did not end well waits for someone to continue.
        """
        while (run := self._runs.get(thread_id)) is not None:
            end = await run.session.wait()
            if not await run.mailbox.emptied():
                # Someone closes the thread, or another process has it.
                while thread_id in self._runs and self._ending:
                    await asyncio.wait(self._ending)
                return end
            end = run.session.last_end  # a request may have caused another turn
            stopped = end is not None and end.ending != "done"
            if not run.session.quiet:
                await run.session.quieter()
            elif stopped or not await run.session.go_on():
                return end
        return None

    async def drain(self) -> None:
        """Wait until no thread has anything left to do, and leave each as its last turn ended."""
        for thread_id in list(self._runs):
            end = await self.drained(thread_id)
            if thread_id in self._runs:
                await self.leave(thread_id, ENDINGS[end.ending] if end else Exit.DONE)

    async def leave(self, thread_id: str, exit_code: Exit, reason: str = "") -> None:
        """Stop what runs in a thread and let others have it; whoever comes second waits."""
        run = self._runs.get(thread_id)
        if run is None:
            return
        if thread_id in self._leaving:
            await self._leaving[thread_id].wait()
            return
        self._leaving[thread_id] = asyncio.Event()
        try:
            await self._leave(thread_id, run, exit_code, reason)
        finally:
            self._leaving.pop(thread_id).set()

    async def _leave(self, thread_id: str, run: Run, exit_code: Exit, reason: str) -> None:
        self.newsroom.stop_delivery(thread_id)
        await run.mailbox.close()
        try:
            await run.session.close(exit_code, reason)
            await asyncio.to_thread(self._forget_run, thread_id, run.session)
        finally:
            await self._released(thread_id, run)
            self._bus.end(thread_id)

    async def let_go(self, thread_id: str) -> None:
        """Leave a thread as if this process had died, if its turn only waits for an answer."""
        run = self._runs.get(thread_id)
        if run is None:
            return
        self.newsroom.stop_delivery(thread_id)
        await run.mailbox.close()
        if run.mailbox.ends:
            await self._end(thread_id)
            return
        if not await asyncio.to_thread(recalling.resumable, run.session.log, ROOT):
            await self.leave(thread_id, Exit.INTERRUPTED)
            return
        await self._released(thread_id, run)  # first, so that nothing more is written
        await run.session.abandon()
        self._bus.end(thread_id)

    async def tidy(self, thread_id: str) -> str:
        """Close what a cut-off session left open; the answer says why that cannot be, if so.

        What waits for an answer is left waiting. What a workspace elsewhere knows of its calls is
        learned by whoever takes the thread up.
        """
        folder = (await asyncio.to_thread(find_thread, self.store, thread_id)).workspace
        lease = await asyncio.to_thread(self.store.lease, thread_id)
        try:
            log = await asyncio.to_thread(self.log, thread_id, Redactor(), lease)
            if not (log.activity.waiting or is_far(folder)):
                await recalling.recover(log, Journal(folder, self.objects), None)
        except SteersmanError as problem:
            return problem.what
        finally:
            await asyncio.to_thread(self.store.release, lease)
        return ""

    def _close_soon(self, thread_id: str, lost: LeaseLost | None = None) -> None:
        """Someone asked for it, or another process has the thread now."""
        task = asyncio.create_task(self._abandon(thread_id, lost) if lost else self._end(thread_id))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, thread_id: str) -> None:
        if thread_id in self._runs:
            with suppress(StorageProblem):
                await self.leave(thread_id, Exit.INTERRUPTED, "closed by another process")

    async def _abandon(self, thread_id: str, lost: LeaseLost) -> None:
        run = self._runs.get(thread_id)
        if run is None:
            return
        self.newsroom.stop_delivery(thread_id)
        await run.mailbox.close()
        await run.session.abandon(lost)
        await self._released(thread_id, run)
        self._bus.nudge(thread_id)

    async def _released(self, thread_id: str, run: Run) -> None:
        self._runs.pop(thread_id, None)
        run.live.close()
        with suppress(StorageProblem):
            await asyncio.to_thread(self.store.release, run.lease)


class Title(Struct, frozen=True):
    """What a new thread is called and where it works."""

    workspace: str
    text: str


def _anywhere(model: str) -> str:
    """A model's name as it holds in every folder: a script is named by its whole path."""
    kind, scripted, path = model.partition("scripted:")
    return f"{scripted}{os.path.abspath(path)}" if scripted and not kind else model
