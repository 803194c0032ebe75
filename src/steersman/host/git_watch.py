"""Watching the repositories that a thread works in: those its calls, or its ancestors', touched.

However many listeners a repository has, it is looked at once for all of them, and at most once a
second: every half minute, after calls, and when a listener asks. The log says which paths were
touched, so whoever comes back after a restart watches the same.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Mapping
from datetime import datetime

import msgspec
from msgspec import Struct

from steersman.host.application import Host
from steersman.host.git_look import Repository, roots
from steersman.host.git_own import own_history
from steersman.host.git_scanner import Scanner, Seen
from steersman.records.action import ChangeMany, Delete, Execute, List, Read, Search, Write
from steersman.records.clock import now
from steersman.records.message import Checkpoint, DiffReady, Message, Policy
from steersman.records.protection import inside
from steersman.records.secret_files import SecretFiles
from steersman.records.settings import Settings
from steersman.records.thread import Thread

MOST_REPOSITORIES = 32
MOST_FOLDERS = 5000
TOGETHER = 2  # looks at a time: git may wait for a pipe, and others need threads as well
TOUCHING = frozenset({"policy", "checkpoint", "diff_ready"})
AFTER = frozenset({"tool_result", "job_end", "turn_end", "checkpoint"})  # look again after these


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


class GitWatch:
    """All watching of one server."""

    def __init__(self, host: Host, environ: Mapping[str, str]) -> None:
        self.host = host
        self.environ = environ
        self._scanners: dict[tuple[str, str, str], Scanner] = {}
        self._turns = asyncio.Semaphore(TOGETHER)

    def scanner(self, root: str, only: str, within: str) -> Scanner:
        """The scanner of a repository; those that nobody needs any more are forgotten."""
        self._scanners = {
            name: one for name, one in self._scanners.items() if one.listeners or one.resting
        }
        name = (root, only, within)
        made = Scanner(*name, self.environ, self._secrets, self._turns)
        return self._scanners.setdefault(name, made)

    def _secrets(self, folder: str) -> SecretFiles:
        return self.host.permissions.circumstances(folder, Settings()).secret_files


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
