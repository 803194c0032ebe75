"""What a server does for its clients: threads are found, started and spoken to in their names."""

import asyncio
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from typing import Any

from steersman.host.application import Host
from steersman.host.meter import Meter
from steersman.host.posting import By
from steersman.host.settings import settings_for, state_folder
from steersman.host.tokens import Holder, Tickets
from steersman.host.workbench import Reused, Workbench, digest
from steersman.records.errors import Denied, Exit, Missing, SteersmanError
from steersman.records.settings import Settings
from steersman.records.thread import State, Thread, ThreadState
from steersman.threads.handle import ThreadHandle

SWEEP = 60.0  # seconds between two looks for threads that nobody uses
IDLE = 10  # looks after which such a thread is left
KNOWN = 1000  # threads that are not looked up again while nothing is written
NO_FLAGS: Mapping[str, Any] = {}


class NoSuchThread(Missing):
    """There is no such thread, or it is none of the caller's business."""


class Desk:
    """One server's way to the threads of a host."""

    def __init__(self, host: Host, environ: Mapping[str, str], flags: Mapping[str, Any]) -> None:
        self.host = host
        self.environ = environ
        self.tickets = Tickets()
        self.meter = Meter()
        host.bus.listeners.append(self.meter.hear)
        self.readers: Callable[[], int] = lambda: 0  # how many follow something
        self._flags = flags
        self._quiet: dict[str, int] = {}
        self._known: dict[str, tuple[Hashable, Thread, ThreadState]] = {}
        self._starting = asyncio.Lock()
        self.bench = Workbench(host, self.settings_in, str(state_folder(environ)))

    def find(self, wanted: str, caller: Holder) -> Thread:
        """A thread by its whole id."""
        found = self.host.store.thread(wanted)
        if found is None:
            raise _missing(wanted)
        return _seen(found, caller)

    async def known(self, wanted: str, caller: Holder) -> tuple[Thread, ThreadState]:
        """A thread by its whole id and what it does, looked up again once anything was written."""
        mark = self.host.store.mark()
        kept = self._known.get(wanted)
        if kept is not None and kept[0] == mark:
            return _seen(kept[1], caller), kept[2]
        thread, state = await asyncio.to_thread(self._look_up, wanted)
        self._known.pop(wanted, None)
        # That another process has died is written nowhere.
        if mark is not None and state.owner in (None, self.host.process):
            self._known[wanted] = (mark, thread, state)
        if len(self._known) > KNOWN:
            del self._known[next(iter(self._known))]
        return _seen(thread, caller), state

    def _look_up(self, wanted: str) -> tuple[Thread, ThreadState]:
        thread = self.host.store.thread(wanted)
        state = self.host.store.states([wanted]).get(wanted)
        if thread is None or state is None:
            raise _missing(wanted)
        return thread, state

    def threads(
        self, caller: Holder, folder: str, text: str, state: State | None, *, calls: bool
    ) -> list[tuple[Thread, ThreadState]]:
        """Threads and what they do: of a folder, with words in the title or id, in a state.

        Those of single `calls` only if they are wanted.
        """
        folders = [one for one in (folder or caller.workspace,) if one]
        words = text.casefold().split()
        found = [
            thread
            for thread in self.host.threads(*folders)
            if caller.sees(thread.workspace)
            and (calls or thread.origin != "call")
            and all(word in f"{thread.title} {thread.id}".casefold() for word in words)
        ]
        states = self.host.states(found)
        pairs = [(thread, states[thread.id]) for thread in found]
        return [one for one in pairs if state is None or one[1].state == state]

    async def thread(self, wanted: str, caller: Holder) -> Thread:
        """The same, beside the event loop."""
        return await asyncio.to_thread(self.find, wanted, caller)

    async def speak(self, wanted: str, caller: Holder, request: str = "") -> ThreadHandle:
        """A handle in the caller's name; this process runs the thread where none does.

        What is asked twice under one name of a `request` is done once.
        """
        thread = await self.thread(wanted, caller)
        if thread.imported:  # it may say that it worked anywhere
            await self.bench.folder(thread.workspace, caller)
        self._quiet.pop(thread.id, None)
        settings = await asyncio.to_thread(self._settings, thread)
        by = By(f"{caller.name} (HTTP)", request and f"{caller.token}:{request}")
        thinks = thread.origin != "call"
        return await self.host.attach(thread.id, settings, by=by, attended=True, thinks=thinks)

    async def look(self, wanted: str, caller: Holder) -> ThreadHandle:
        """A handle that only looks: nothing is run for it."""
        return await self.host.attach((await self.thread(wanted, caller)).id)

    async def start(
        self, folder: str, title: str, flags: Mapping[str, Any], caller: Holder, request: str = ""
    ) -> Thread:
        """A new thread that this process runs; asked twice under one name it is the same."""
        folder = await self.bench.folder(folder, caller)
        self.check(caller, flags)
        settings = await asyncio.to_thread(self.settings_in, folder, flags)
        if not request:
            return (await self.host.start(folder, title, settings, attended=True)).thread
        name = f"created {caller.token}:{request}"
        async with self._starting:  # whoever asks at the same time gets the same thread
            made = await asyncio.to_thread(self.host.store.claimed, name)
            if made is not None:
                return await self.thread(made, caller)
            handle = await self.host.start(folder, title, settings, attended=True)
            made = await asyncio.to_thread(self.host.store.claim, name, handle.id)
            if made != handle.id:  # another server of this store was quicker
                await self.host.close(handle.id, Exit.DONE)
                await asyncio.to_thread(self.host.delete, handle.id)
                return await self.thread(made, caller)
        return handle.thread

    def check(self, caller: Holder, flags: Mapping[str, Any]) -> None:
        """Raise what only the owner may choose, who can do everything anyway."""
        if caller.token and flags.get("profile"):
            raise Denied("Only the owner's token chooses a profile.", "It may lift the sandbox.")
        if caller.token and str(flags.get("model", "")).startswith("scripted:"):
            raise Denied("Only the owner's token chooses a script.", "It is a file here.")

    async def named(self, name: str, thread: str, caller: Holder, asked: object) -> None:
        """Refuse another request under a name that was given to one in this thread."""
        if thread:
            await self.thread(thread, caller)  # nothing is kept for one that is not there
        key, what = f"named {thread}/{caller.token}:{name}", digest(asked)
        if await asyncio.to_thread(self.host.store.claim, key, what) != what:
            raise Reused(name)

    async def let_go(self, thread_id: str) -> None:
        """Leave a thread in which nothing happens, if this process runs it."""
        session = self.host.session(thread_id)
        if session is not None and session.quiet:
            await self.host.close(thread_id, Exit.DONE)

    async def hand_over(self) -> None:
        """Leave what waits for an answer waiting: whoever gives one continues with it."""
        for name in self.host.running():
            with suppress(SteersmanError):  # the next one
                await self.host.let_go(name)

    def _settings(self, thread: Thread) -> Settings:
        return self.settings_in(thread.workspace, self.host.kept(thread.id))

    def settings_in(self, folder: str, flags: Mapping[str, Any] = NO_FLAGS) -> Settings:
        """The settings that hold in a folder for whoever asks this server."""
        own = self.host.permissions.settings_file(folder)
        return settings_for(self.environ, {**self._flags, **flags}, own, attended=True)

    async def sweep(self) -> None:
        """Leave threads in which nothing has happened for a while, again and again."""
        while True:
            await asyncio.sleep(SWEEP)
            await self.sweep_once()

    async def sweep_once(self) -> None:
        """Leave those in which nothing happened at the last looks, and nothing runs."""
        for name in self.host.running():
            session = self.host.session(name)
            if session is None or session.busy or not session.quiet or session.jobs:
                self._quiet.pop(name, None)
                continue
            self._quiet[name] = self._quiet.get(name, 0) + 1
            if self._quiet[name] >= IDLE:
                del self._quiet[name]
                with suppress(SteersmanError):  # at the next look
                    await self.host.close(name, Exit.DONE)


def _seen(thread: Thread, caller: Holder) -> Thread:
    """A thread that is the caller's business."""
    if not caller.sees(thread.workspace):
        raise _missing(thread.id)
    return thread


def _missing(wanted: str) -> NoSuchThread:
    return NoSuchThread(f"There is no thread “{wanted}”.")
