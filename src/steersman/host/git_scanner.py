"""Looking at one repository again and again, for all who listen: once a second at most."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime

from msgspec import Struct

from steersman.host.git_look import Repository, look
from steersman.host.git_own import own_history
from steersman.host.masking import Secrets
from steersman.host.settings import state_folder
from steersman.records.clock import now
from steersman.records.errors import SteersmanError
from steersman.records.secret_files import SecretFiles
from steersman.records.settings import Settings
from steersman.store.redactor import Redactor

EVERY = 30.0  # seconds between two looks
REST = 1.0  # seconds from one look to the next, whoever asks


class Seen(Struct, frozen=True):
    """What a look at a repository found, or why it could not; `scan` counts the looks.

    A look that finds nothing new leaves what was seen as it is.
    """

    scan: int
    at: datetime
    repository: Repository
    problem: str = ""


class Scanner:
    """Looks at one repository for all who listen; it works while someone does."""

    def __init__(
        self,
        root: str,
        only: str,
        within: str,
        environ: Mapping[str, str],
        secrets: Callable[[str], SecretFiles],
        turns: asyncio.Semaphore,
    ) -> None:
        self.root = root
        self._secrets = secrets  # of a folder
        self._turns = turns
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
            async with self._turns:
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
        avoided = tuple(self.avoided)
        covers = [self._secrets(folder).covers for folder in {self.root, *avoided}]
        found = look(
            self.root, self._only, avoided, self._environ, self._masks,
            lambda path: any(cover(path) for cover in covers),
        )  # fmt: skip
        return found if self._own() else hidden

    def _own(self) -> bool:
        return not self._within or own_history(self.root, self._within)
