"""Watching the repositories that a thread works in: those its calls, or its ancestors', touched.

However many listeners a repository has, it is looked at once for all of them, and at most once a
second: every half minute, after calls, and when a listener asks. The log says which paths were
touched, so whoever comes back after a restart watches the same.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import suppress
from datetime import datetime

import msgspec
from msgspec import Struct

from steersman.host.application import Host
from steersman.host.git_look import Repository, look, roots
from steersman.host.git_own import own_history
from steersman.host.masking import Secrets
from steersman.host.settings import state_folder
from steersman.records.action import ChangeMany, Delete, Execute, List, Read, Search, Write
from steersman.records.clock import now
from steersman.records.errors import SteersmanError
from steersman.records.message import Checkpoint, DiffReady, Message, Policy
from steersman.records.protection import inside
from steersman.records.settings import Settings
from steersman.records.thread import Thread
from steersman.store.redactor import Redactor

EVERY = 30.0  # seconds between two looks
REST = 1.0  # seconds from one look to the next, whoever asks
MOST_REPOSITORIES = 32
MOST_FOLDERS = 5000
TOUCHING = frozenset({"policy", "checkpoint", "diff_ready"})
AFTER = frozenset({"tool_result", "job_end", "turn_end", "checkpoint"})  # look again after these


class Seen(Struct, frozen=True):
    """What a look at a repository found, or why it could not; `scan` counts the looks.

    A look that finds nothing new leaves what was seen as it is.
    """

    scan: int
    at: datetime
    repository: Repository
    problem: str = ""


class Watched(Repository, frozen=True):
    """A repository as listeners get it; `scan` is the number of the look that found it so."""

    scan: int = 0


class Changes(Struct, frozen=True, tag="changes"):
    """Repositories that differ from what was shown before: all of them at first."""

    scanned_at: datetime
    repositories: list[Watched]


class Unchanged(Struct, frozen=True, tag="unchanged"):
    """The answer to a listener who asked, where there is nothing new; `scans` counts all looks."""

    scanned_at: datetime
    scans: int


class Failed(Struct, frozen=True, tag="error"):
    """A repository could not be looked at."""

    message: str
    repo_root: str = ""


News = Changes | Unchanged | Failed


class Scanner:
    """Looks at one repository for all who listen; it works while someone does."""

    def __init__(self, root: str, only: str, within: str, environ: Mapping[str, str]) -> None:
        self.root = root
        self._within = within  # its history must lie there, if it is set
        self.seen: Seen | None = None
        self.scans = 0
        self.avoided: set[str] = set()
        self.listeners: set[asyncio.Event] = set()
        self._only = only
        self._environ = environ
        self._masks: Redactor | None = None
        self._wanted = asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []
        self._next = 0.0  # not before this moment
        self._task: asyncio.Task[None] | None = None

    @property
    def resting(self) -> bool:
        """Whether it must not look again yet."""
        return time.monotonic() < self._next

    def join(self, listener: asyncio.Event) -> None:
        """Wake a listener from now on when something is new."""
        self.listeners.add(listener)
        if self._task is None:
            self._task = asyncio.create_task(self._work())

    async def leave(self, listener: asyncio.Event) -> None:
        """Do not wake a listener any more; without any there is nothing to do."""
        self.listeners.discard(listener)
        if not self.listeners and self._task is not None:
            task, self._task = self._task, None
            task.cancel()
            await asyncio.wait([task])

    def want(self) -> None:
        """Look again soon."""
        self._wanted.set()

    async def scan(self) -> None:
        """Look again, and wait for it."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        self.want()
        await done

    async def _work(self) -> None:
        while True:
            await asyncio.sleep(max(0.0, self._next - time.monotonic()))
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._wanted.wait()
            self._wanted.clear()
            waiting, self._waiting = self._waiting, []
            begun = time.monotonic()
            self._next = begun + REST
            try:
                await self._look()
                ended = time.monotonic()
                self._next = max(self._next, ended + (ended - begun))  # half the time at most
            finally:  # a defect of ours ends the task: nobody waits for it
                for one in waiting:
                    if not one.done():
                        one.set_result(None)

    async def _look(self) -> None:
        problem = ""
        found = Repository(self.root)
        try:
            found = await asyncio.to_thread(self._looked)
        except SteersmanError as error:
            problem = error.what
        self.scans += 1
        old = self.seen
        if old is None or (old.repository, old.problem) != (found, problem):
            self.seen = Seen(self.scans, now(), found, problem)
            for listener in self.listeners:
                listener.set()

    def _looked(self) -> Repository:
        if self._masks is None:
            home = state_folder(self._environ)
            self._masks = Secrets(self.root, self._environ, home, Settings()).redactor()
        self._masks.refresh()
        hidden = Repository(self.root, removed=True)
        if not self._own():
            return hidden
        found = look(self.root, self._only, tuple(self.avoided), self._environ, self._masks)
        return found if self._own() else hidden

    def _own(self) -> bool:
        return not self._within or own_history(self.root, self._within)


class GitWatch:
    """All watching of one server."""

    def __init__(self, host: Host, environ: Mapping[str, str]) -> None:
        self.host = host
        self.environ = environ
        self._scanners: dict[tuple[str, str, str], Scanner] = {}

    def scanner(self, root: str, only: str, within: str) -> Scanner:
        """The scanner of a repository; those that nobody needs any more are forgotten."""
        self._scanners = {
            name: one for name, one in self._scanners.items() if one.listeners or one.resting
        }
        name = (root, only, within)
        return self._scanners.setdefault(name, Scanner(*name, self.environ))


class Listener:
    """One who watches the repositories of a thread; only `within` a folder, if there is one."""

    def __init__(self, watch: GitWatch, thread: Thread, within: str = "") -> None:
        self._watch = watch
        self._thread = thread
        self._within = within and os.path.realpath(within)
        self._wake = asyncio.Event()
        self._asked = False
        self._folders: set[str] = set()
        self._scanners: dict[str, Scanner] = {}
        self._shown: dict[str, Seen] = {}

    def refresh(self) -> None:
        """Look again now; there is an answer even where nothing changed."""
        self._asked = True
        self._wake.set()

    async def news(self) -> AsyncGenerator[News, None]:
        """What is new: first all there is, then whatever changes."""
        host, thread = self._watch.host, self._thread
        try:
            folders = await asyncio.to_thread(lambda: set(_touched_before(host, thread)))
            await self._touched(folders)
            following = asyncio.create_task(self._follow())
            following.add_done_callback(lambda _: self._wake.set())
            try:
                await self._scan()
                yield Changes(now(), self._changed())
                while not following.done():
                    for one in self._problems():
                        yield one
                    await self._wake.wait()
                    self._wake.clear()
                    asked, self._asked = self._asked, False
                    if asked:
                        await self._scan()
                    if changed := self._changed():
                        yield Changes(now(), changed)
                    elif asked:
                        yield Unchanged(now(), sum(one.scans for one in self._scanners.values()))
                await following  # its problem is the listener's
            finally:
                following.cancel()
                await asyncio.wait([following])
        finally:
            for scanner in self._scanners.values():
                await scanner.leave(self._wake)

    async def _scan(self) -> None:
        await asyncio.gather(*(one.scan() for one in self._scanners.values()))

    def _changed(self) -> list[Watched]:
        """The repositories that are not as they were shown."""
        return [
            Watched(**msgspec.structs.asdict(seen.repository), scan=seen.scan)
            for seen in self._unseen(failed=False)
        ]

    def _problems(self) -> list[Failed]:
        return [
            Failed(seen.problem, seen.repository.repo_root) for seen in self._unseen(failed=True)
        ]

    def _unseen(self, *, failed: bool) -> Iterator[Seen]:
        for root, scanner in self._scanners.items():
            seen = scanner.seen
            if seen and bool(seen.problem) is failed and self._shown.get(root) is not seen:
                self._shown[root] = seen
                yield seen

    async def _follow(self) -> None:
        """Look again after calls, and at what they touch."""
        host, thread = self._watch.host, self._thread
        await host.newsroom.open()
        after, touched = thread.head, set[str]()
        while True:
            async for message in host.follow(thread.id, after):
                after = max(after, message.seq)
                touched |= set(_touched(message, thread.workspace))
                if message.kind in AFTER:
                    await self._touched(touched)
                    touched = set()
                    for scanner in self._scanners.values():
                        scanner.want()
            # The thread was closed here; another process may go on with it.

    async def _touched(self, folders: set[str]) -> None:
        """Watch the repositories of these folders too; one may have become a repository."""
        room = MOST_FOLDERS - len(self._folders)
        self._folders |= set(sorted(folders - self._folders)[:room])
        found = await asyncio.to_thread(
            lambda: [(root, self._only(root)) for root in roots(set(self._folders))]
        )
        for root, only in found:
            full = len(self._scanners) >= MOST_REPOSITORIES
            if root in self._scanners or only is None or full:
                continue
            within = "" if only else self._within
            scanner = self._scanners[root] = self._watch.scanner(root, only, within)
            scanner.avoided.add(self._thread.workspace)
            scanner.join(self._wake)

    def _only(self, root: str) -> str | None:
        """Which part of a repository this listener may see: all, a folder, or nothing."""
        if not self._within:
            return ""
        if inside(root, self._within):
            return "" if own_history(root, self._within) else None
        return os.path.relpath(self._within, root) if inside(self._within, root) else None


def _touched_before(host: Host, thread: Thread) -> Iterator[str]:
    """The folders in which a thread and its ancestors worked; the log says so."""
    here: Thread | None = thread
    until: int | None = thread.head
    known = set[str]()
    while here is not None and here.id not in known:
        known.add(here.id)
        yield os.path.realpath(here.workspace)
        for message in host.messages(here.id, until=until, kinds=TOUCHING):
            yield from _touched(message, here.workspace)
        until = here.parent_seq
        here = host.store.thread(here.parent) if here.parent else None


def _touched(message: Message, workspace: str) -> Iterator[str]:
    """The folders of what a message says was touched; what was denied was not."""
    match message.body:
        case Policy(action=Execute() as action, verdict=verdict) if verdict.decision == "allow":
            yield os.path.realpath(action.cwd)
            yield from map(_folder, action.writes)
        case Policy(
            action=Read() | List() | Search() | Write() | Delete() | ChangeMany() as action,
            verdict=verdict,
        ) if verdict.decision == "allow":
            yield _folder(action.path)
        case Checkpoint(changes=changes):
            yield from {_folder(os.path.join(workspace, one.path)) for one in changes}
        case DiffReady(file=file):
            yield _folder(os.path.join(workspace, file))


def _folder(path: str) -> str:
    real = os.path.realpath(path)
    return real if os.path.isdir(real) else os.path.dirname(real)
