"""Keeps the index of one workspace: built in the background, fresh when it is asked.

A first build is a program of its own at low priority; a few changed files are read in a thread.
Where folders can be watched, nothing is looked at again until something changes.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from steersman import children
from steersman.operations.code.index.answering import Asked, answer
from steersman.operations.code.index.keepers import IndexKeepers
from steersman.operations.code.index.ranking import Picture
from steersman.operations.code.index.recency import Touch
from steersman.operations.code.index.store import Index
from steersman.operations.code.index.upkeep import Records
from steersman.operations.code.index.walk import listed
from steersman.operations.code.index.watch import Watch
from steersman.records.code_index import IndexState, RankedContext
from steersman.records.counting import counted
from steersman.records.errors import SteersmanError

__all__ = ["IndexKeeper", "IndexKeepers"]

# How long a question waits for an index that is being built.
PATIENCE = 20.0
# Up to so many changed files are read here; more by the program.
FEW = 40
# What was watched is looked at again after so many seconds anyway.
TRUSTED = 120.0
# After a change, a build of its own begins when it has been quiet for a moment.
QUIET = 3.0

Read = Callable[[str], str | None]
T = TypeVar("T")


class BuildProgress(Struct, frozen=True):
    """How far a build is."""

    done: int
    whole: int

    def __str__(self) -> str:
        return f"{self.done:,} of {counted(self.whole, 'file')}"


class IndexKeeper:
    """The index of one workspace. Nothing happens before `start` or the first question."""

    def __init__(self, root: str, home: Path, environ: Mapping[str, str], secret: str = "") -> None:
        self.root = root
        self._home = home
        self._environ = environ
        self._secret = secret
        self._records: Records | None = None
        self._picture: tuple[int, Picture] | None = None
        self._touches: dict[str, Touch] = {}
        self._work: asyncio.Task[None] | None = None
        self._threads: set[asyncio.Task[Any]] = set()
        self._later: asyncio.TimerHandle | None = None
        self._watch = Watch(root, self._changed)
        self._dirty = True
        self._looked = 0.0
        self._laying_out = asyncio.Lock()
        self._closed = False
        self.progress: BuildProgress | None = None
        self.problem = ""

    def start(self) -> None:
        """Begin to bring the index up to date; returns at once."""
        if self._closed or (self._work is not None and not self._work.done()):
            return
        self._work = asyncio.create_task(self._bring_up(), name="index")

    def secret_files(self, secret: str) -> None:
        """Say which files are secret, as lines of a `.gitignore`; they are not kept."""
        if secret != self._secret:
            self._secret = secret
            self._dirty = True

    async def answer(self, asked: Asked, read: Read, patience: float = PATIENCE) -> RankedContext:
        """The best excerpts for a question, from what the index knows when patience ends."""
        ready = await self.ready(patience)
        picture = await self._laid_out()
        spans = self._opened().spans
        found = await self._aside(lambda: answer(picture, asked, spans, read, time.time()))
        return msgspec.structs.replace(found, note=self._note(ready))

    async def ready(self, patience: float = PATIENCE) -> bool:
        """Wait until the index is like the files are, but not for ever; whether it is."""
        until = time.monotonic() + patience
        if self._work is not None and not self._work.done():
            done, _ = await asyncio.wait({self._work}, timeout=patience)
            if not done:
                return False
        self._watch.look()
        if self._fresh():
            return True
        self.start()
        if self._work is None:
            return False  # it is closed
        done, _ = await asyncio.wait({self._work}, timeout=max(until - time.monotonic(), 0))
        return bool(done) and not self.problem

    def current(self) -> Index | None:
        """The index, when it is known to be like the files are."""
        self._watch.look()
        return self._opened().index if self._fresh() else None

    async def state(self) -> IndexState:
        """What the index holds."""
        return await self._aside(self._opened().state)

    async def close(self) -> None:
        """End everything that was begun."""
        self._closed = True
        if self._later is not None:
            self._later.cancel()
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait({self._work})
        self._watch.close()
        if self._threads:
            await asyncio.wait(self._threads)
        if self._records is not None:
            self._records.close()
            self._records = None

    # --- within -----------------------------------------------------------------------------

    def _fresh(self) -> bool:
        trusted = time.monotonic() - self._looked < TRUSTED
        return self._watch.works and not self._dirty and trusted and not self.problem

    def _changed(self) -> None:
        """Something below the folder changed: look again soon, or when asked."""
        self._dirty = True
        if self._closed:
            return
        if self._later is not None:
            self._later.cancel()
        self._later = asyncio.get_running_loop().call_later(QUIET, self.start)

    async def _bring_up(self) -> None:
        self.problem = ""
        try:
            self._dirty = False  # what changes from here on makes it dirty again
            files = await listed(self.root, self._secret, self._environ)
            if await self._watch.follow(files):
                files = await listed(self.root, self._secret, self._environ)
            records = self._opened()
            stale = await self._aside(lambda: records.stale(files))
            if stale > FEW:
                self.progress = BuildProgress(0, stale)
                await self._built(files)
            else:
                await self._aside(lambda: records.update(files, should_stop=self._ending))
            self._touches = await self._aside(lambda: records.touches(self._environ))
            if stale:
                self._picture = None
            self._looked = time.monotonic()
        except SteersmanError as problem:
            self.problem = f"{problem.what} {problem.why}".strip()
        except OSError as error:
            self.problem = f"The index cannot be built: {error}."
        finally:
            self.progress = None

    def _ending(self) -> bool:
        return self._closed

    async def _aside(self, work: Callable[[], T]) -> T:
        """Do something that blocks; it is waited for before the files are closed."""
        task = asyncio.create_task(asyncio.to_thread(work))
        self._threads.add(task)
        task.add_done_callback(self._threads.discard)
        return await asyncio.shield(task)

    async def _built(self, files: Sequence[str]) -> None:
        """Let the program build it; it ends with this task."""
        from steersman.operations.code.index.__main__ import Job

        command = [sys.executable, "-P", "-m", "steersman.operations.code.index"]
        unwanted = ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME")
        environ = {name: text for name, text in self._environ.items() if name not in unwanted}
        process = await children.start(command, "/", environ)
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            job = Job(self.root, str(self._home), list(files))
            process.stdin.write(msgspec.json.encode(job) + b"\n")
            await process.stdin.drain()
            async for line in process.stdout:
                done, _, whole = line.decode("ascii", "replace").strip().partition(" ")
                if done.isdigit() and whole.isdigit():
                    self.progress = BuildProgress(int(done), int(whole))
            said = (await process.stderr.read(4096)).decode("utf-8", "replace").strip()
            if await process.wait():
                last = said.rpartition("\n")[2] or "the program that builds it ended."
                self.problem = f"The index cannot be built: {last}"
        except (BrokenPipeError, ConnectionResetError):
            self.problem = "The index cannot be built: the program that builds it ended."
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    async def _laid_out(self) -> Picture:
        """The picture of what the index holds now; kept until something changes."""
        async with self._laying_out:
            records = self._opened()
            generation = await self._aside(lambda: records.index.generation)
            if self._picture is None or self._picture[0] != generation:
                touches = self._touches
                picture = await self._aside(lambda: records.picture(touches))
                if self.progress is not None:
                    return picture  # there is more to come
                self._picture = generation, picture
            self._picture[1].touches = self._touches
            return self._picture[1]

    def _note(self, ready: bool) -> str:
        if self.problem:
            return self.problem
        if ready:
            return ""
        how_far = f": {self.progress}" if self.progress else ""
        return f"The index is still being built{how_far}; ask again for a better answer."

    def _opened(self) -> Records:
        if self._records is None:
            self._records = Records(self.root, self._home)
        return self._records
