"""Tool calls of programs that work in a folder without an agent: through a gate, into a log.

Calls in one folder share a thread. One that changes or runs something has it for itself: while it
waits for an answer, which may never come, others are made in another thread.
"""

import asyncio
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from secrets import token_hex
from typing import Any

import msgspec
from msgspec import Struct

from steersman.host.application import Host
from steersman.host.posting import By, Inbox
from steersman.host.tokens import Holder
from steersman.records.call_ids import CALL, LOOK
from steersman.records.errors import (
    Denied,
    NeedsAnswer,
    SteersmanError,
    TooLate,
    ToolProblem,
    UsageProblem,
)
from steersman.records.inbox import CallTool
from steersman.records.message import ConfirmRequest, Question, ToolResult
from steersman.records.problem import Problem
from steersman.records.settings import Settings
from steersman.records.thread import Waiting

TITLE = "http"
SYSTEM = ("/proc", "/sys", "/dev")
MOST_THREADS = 12  # in one folder
TOGETHER = 6  # reads at a time in one thread


class Reused(TooLate):
    """A name stands for one request."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The id “{name}” was given to another request.", try_this="Choose a new one."
        )


def digest(asked: object) -> str:
    """What tells a request from another one under the same name."""
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()


class Unanswered(Problem, frozen=True, omit_defaults=True):
    """A call waits until `corr` is answered in `thread`; its result is there under its `id`."""

    thread: str = ""
    corr: str = ""
    id: str = ""


class Waits(NeedsAnswer):
    """A call waits for an answer."""

    def __init__(self, thread: str, asked: Waiting, request: str) -> None:
        super().__init__(
            f"This waits for an answer: {asked.what or asked.kind}",
            try_this=f"Answer {asked.corr} in thread {thread}, "
            + (f"then ask again with the id “{request}”." if request else "then ask again."),
        )
        told = Problem.of(self)
        self.record = Unanswered(
            **msgspec.structs.asdict(told), thread=thread, corr=asked.corr, id=request
        )


class Asked(Struct, frozen=True):
    """One call: by whom, in which folder, under which name of theirs, if they gave it one.

    What only reads is made beside others. `thread` is where it must be made, if that matters;
    what `looks` there is no part of the thread's story.
    """

    caller: Holder
    folder: str
    tool: str
    arguments: dict[str, Any]
    request: str = ""
    reads: bool = False
    thread: str = ""

    @property
    def looks(self) -> bool:
        """Whether it only informs whoever asks."""
        return self.reads and bool(self.thread)


class Begun(Struct, frozen=True):
    """Where a call was made that may be asked about again, and a digest of what was asked."""

    thread: str
    after: int
    what: str = ""


class Workbench:
    """The tools of folders, for programs."""

    def __init__(self, host: Host, settings: Callable[[str], Settings], data: str) -> None:
        self._host = host
        self._data = os.path.realpath(data)
        self._settings = settings
        self._threads: dict[str, list[str]] = {}
        self._under_way: Counter[tuple[str, bool]] = Counter()
        self._choosing = asyncio.Lock()
        self._naming = asyncio.Lock()

    async def folder(self, wanted: str, caller: Holder) -> str:
        """The real path of a folder that a caller may work in."""
        from steersman.records.protection import inside

        if not os.path.isabs(wanted) or "\0" in wanted:
            raise UsageProblem(f"“{wanted}” is not an absolute path of a folder.")
        real = await asyncio.to_thread(os.path.realpath, wanted)
        if not caller.sees(real):
            raise Denied(f"This token is for {caller.workspace} alone.")
        if not caller.workspace and not caller.may("work"):
            raise Denied(
                "This token is for no folder.",
                "It reads threads, and no files.",
                "Make one for a folder: steer token make NAME --may read --workspace DIR",
            )
        if real == "/" or any(inside(real, one) for one in (*SYSTEM, self._data)):
            raise Denied(f"{real} is not a folder to work in.")
        if not await asyncio.to_thread(os.path.isdir, real):
            raise UsageProblem(f"There is no folder {wanted}.")
        return real

    def threads(self, folder: str) -> list[str]:
        """The threads of calls in a folder (a real path) that this process runs."""
        return [one for one in self._threads.get(folder, ()) if self._host.session(one)]

    def folders(self, caller: Holder) -> list[str]:
        """The folders with calls in them that are any business of the caller's."""
        return [one for one in self._threads if caller.sees(one)]

    async def output(self, asked: Asked) -> Any:
        """What a tool gives; raises `Denied`, `ToolProblem`, or `Waits`.

        What is asked again under one name is done once.
        """
        return (await self.answer(asked))[1]

    async def answer(self, asked: Asked) -> tuple[str, Any]:
        """The same, and the thread that the call was made in."""
        thread, result = await self._result(asked)
        if result.status == "ok":
            return thread, result.output
        if result.status == "denied":
            raise Denied(result.message)
        raise ToolProblem(result.message or f"The call was {result.status}.")

    async def _result(self, asked: Asked) -> tuple[str, ToolResult]:
        folder = await self.folder(asked.folder, asked.caller)
        name = f"{asked.caller.token or 'owner'}-{asked.request or token_hex(8)}"
        key = f"called {folder}/{name}"
        if asked.request:
            async with self._naming:  # whoever asks at the same time gets the same call
                begun = await self._begun(folder, key, asked)
        else:
            begun = await self._begin(folder, asked)
        with self._taken(begun.thread, asked.reads) as thread:
            try:
                return thread, await self._call(folder, name, asked, begun)
            except Waits:
                await self._named(key, begun)
                raise

    async def _begun(self, folder: str, key: str, asked: Asked) -> Begun:
        """Where a call with a name was made, or is to be made; the name is kept for it."""
        said = await asyncio.to_thread(self._host.store.claimed, key)
        if said:
            begun = msgspec.json.decode(said, type=Begun)
        else:
            begun = await self._named(key, await self._begin(folder, asked))
        if begun.what not in ("", digest([asked.tool, asked.arguments])):
            raise Reused(asked.request)
        return begun

    async def _begin(self, folder: str, asked: Asked) -> Begun:
        thread = await self._thread(folder, asked)
        head = (await asyncio.to_thread(self._host.find, thread)).head
        return Begun(thread, head, digest([asked.tool, asked.arguments]))

    async def _named(self, key: str, begun: Begun) -> Begun:
        """Keep a name for a call; another process may have made one under it just now."""
        text = msgspec.json.encode(begun).decode()
        said = await asyncio.to_thread(self._host.store.claim, key, text)
        return msgspec.json.decode(said, type=Begun)

    async def _call(self, folder: str, name: str, asked: Asked, begun: Begun) -> ToolResult:
        """Make the call, unless that was done before, and wait for its result."""
        by = By(f"{asked.caller.name} (HTTP)", name)
        settings = await asyncio.to_thread(self._settings, folder)

        async def someone() -> None:
            await self._host.attach(begun.thread, settings, attended=True, thinks=False)

        call = f"{LOOK if asked.looks else CALL}{name}"
        inbox = Inbox(self._host, begun.thread, by)
        await self._host.newsroom.open()
        await someone()
        request = await inbox.post(CallTool(call, asked.tool, asked.arguments))
        await inbox.outcome(request, begun.after, someone)
        async with aclosing(self._host.watch(begun.thread, begun.after)) as items:
            async for item in items:
                body, corr = getattr(item, "body", None), getattr(item, "corr", "") or ""
                if isinstance(body, ToolResult) and corr == call:
                    return body
                if _asks(body, call, asked):
                    for one in await self._waiting(begun.thread):
                        if one.corr == corr:
                            raise Waits(begun.thread, one, name.partition("-")[2])
        raise SteersmanError("The thread was closed before the call ended.")

    async def _waiting(self, thread: str) -> tuple[Waiting, ...]:
        states = await asyncio.to_thread(self._host.store.states, [thread])
        return states[thread].activity.waiting if thread in states else ()

    async def _thread(self, folder: str, asked: Asked) -> str:
        """The thread for a call: the first that is free for it, or a new one."""
        if asked.thread:
            waiting = () if asked.reads else await self._waiting(asked.thread)
            if waiting:
                raise Waits(asked.thread, waiting[0], "")
            return asked.thread
        async with self._choosing:
            ours = self._threads.setdefault(folder, [])
            states = await asyncio.to_thread(self._host.store.states, ours)
            ours[:] = [one for one in ours if one in states]
            open_ = [one for one in ours if not states[one].activity.waiting]
            most = TOGETHER if asked.reads else 1
            for one in open_:
                if self._under_way[one, asked.reads] < most:
                    return one
            if len(ours) < MOST_THREADS:
                settings = await asyncio.to_thread(self._settings, folder)
                made = await self._host.start(folder, TITLE, settings, origin="call", attended=True)
                ours.append(made.id)
                return made.id
            if not open_:
                raise NeedsAnswer(
                    "Too many calls in this folder wait for an answer.",
                    try_this="Answer them first: `steer threads list --all` shows them.",
                )
            return min(open_, key=lambda one: self._under_way[one, asked.reads])

    @contextmanager
    def _taken(self, thread: str, reads: bool) -> Iterator[str]:
        self._under_way[thread, reads] += 1
        try:
            yield thread
        finally:
            self._under_way[thread, reads] -= 1


def _asks(body: object, call: str, asked: Asked) -> bool:
    """Whether a message asks something for a call, or for a server that works on it."""
    if isinstance(body, ConfirmRequest):
        others = body.call.startswith((CALL, LOOK)) or asked.reads
        return body.call == call or not others
    return isinstance(body, Question) and not asked.reads
