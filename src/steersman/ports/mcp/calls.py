"""Calls of the host's tools for a client: carried out in a thread, through its gate, into its log.

Every client shares two threads of one run: in one of them a person can be asked through the
client, in the other nobody can.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from steersman.errors import BudgetSpent, Exit, Halted, NeedsAnswer, SteersmanError
from steersman.host import Host
from steersman.identity.settings import Settings
from steersman.message import (
    Answer,
    ConfirmRequest,
    Message,
    Question,
    ToolCall,
    ToolProgress,
    ToolResult,
)
from steersman.ports.mcp.offer import Asked, Event, OfferedTool, Shown
from steersman.ports.mcp.words import (
    HOW_TO_ALLOW,
    ended,
    failure,
    offered,
    permission,
    permission_form,
)

TITLE = "mcp"
ANNOUNCED = (NeedsAnswer, Halted, BudgetSpent)  # problems that come after the call is in the log


class HostCall:
    """One call of a tool of the host."""

    def __init__(self, host: Host, thread: str, task: asyncio.Task[Message]) -> None:
        self._host = host
        self._thread = thread
        self._task = task
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._requests: dict[str, ConfirmRequest] = {}
        task.add_done_callback(self._end)

    def take(self, message: Message) -> None:
        """Something happened in the thread that belongs to this call."""
        match message.body:
            case ToolProgress(text=text):
                self._events.put_nowait(Shown(text))
            case ConfirmRequest() as request:
                key = message.corr or ""
                self._requests[key] = request
                form = permission_form(request)
                self._events.put_nowait(Asked(key, "elicitation/create", form))

    def _end(self, task: asyncio.Task[Message]) -> None:
        if task.cancelled():
            self._events.put_nowait(failure("The call was cancelled."))
        elif (error := task.exception()) is not None:
            self._events.put_nowait(failure(_sentence(error)))
        else:
            body = task.result().body
            assert isinstance(body, ToolResult)
            self._events.put_nowait(ended(body))

    async def next(self) -> Event:
        """What happens next."""
        return await self._events.get()

    def more(self) -> Event | None:
        """What has happened already."""
        return None if self._events.empty() else self._events.get_nowait()

    def answer(self, key: str, result: Mapping[str, Any] | None) -> None:
        """Hand the person's answer to the gate; one that came too late is nobody's."""
        request = self._requests.pop(key, None)
        if request is not None and not self._task.done():
            self._host.answer(self._thread, key, permission(request, result))

    async def cancel(self) -> None:
        """Stop the tool and wait until it has stopped."""
        self._task.cancel()
        await asyncio.wait({self._task})


class Calls:
    """The calls of one thread, each told apart from the others. `asks`: somebody can be asked."""

    def __init__(self, host: Host, thread: str, *, asks: bool) -> None:
        self._host = host
        self._asks = asks
        self._thread = thread
        self._calls: dict[str, HostCall] = {}
        self._starting = asyncio.Lock()
        self._unnamed: HostCall | None = None  # the call whose first message is awaited
        self._named = asyncio.Event()
        self._following = asyncio.create_task(self._follow(), name=f"mcp-{thread}")

    async def begin(self, tool: str, arguments: dict[str, Any]) -> HostCall:
        """Start a call; one after the other, so that each is known by its name in the log."""
        async with self._starting:
            task = asyncio.create_task(self._host.call(self._thread, tool, arguments))
            call = self._unnamed = HostCall(self._host, self._thread, task)
            self._named.clear()
            named = asyncio.create_task(self._named.wait())
            try:
                await asyncio.wait({task, named}, return_when=asyncio.FIRST_COMPLETED)
                if not task.done() or _is_announced(task):
                    await named
            except asyncio.CancelledError:
                await call.cancel()
                raise
            finally:
                named.cancel()
                self._unnamed = None
        return call

    async def _follow(self) -> None:
        async for message in self._host.subscribe(self._thread):
            match message.body:
                case ToolCall():
                    self._name(message.corr or "")
                case ConfirmRequest(call=name) if self._asks:
                    self._hand(name, message)
                case ToolProgress():
                    self._hand(message.corr or "", message)
                case ToolResult():
                    self._calls.pop(message.corr or "", None)
                case Question(default=default):
                    answer = Answer(default, by="default")
                    self._host.answer(self._thread, message.corr or "", answer)

    def _name(self, name: str) -> None:
        if self._unnamed is not None:
            self._calls[name], self._unnamed = self._unnamed, None
            self._named.set()

    def _hand(self, name: str, message: Message) -> None:
        if name in self._calls:
            self._calls[name].take(message)

    async def close(self) -> None:
        """End every call and leave the thread."""
        for call in list(self._calls.values()):
            await call.cancel()
        await self._host.close(self._thread, Exit.DONE)
        await self._following


class Workbench:
    """The tools of a workspace, offered."""

    def __init__(self, host: Host, folder: str, settings: Settings, *, yes: bool = False) -> None:
        self._host = host
        self._folder = folder
        self._settings = settings
        self._yes = yes
        self._opening = asyncio.Lock()
        self._threads: dict[bool, Calls] = {}

    async def tools(self) -> Sequence[OfferedTool]:
        """The tools an agent has here."""
        return [offered(spec) for spec in self._host.tools(self._folder)]

    async def begin(
        self, tool: str, arguments: dict[str, Any], abilities: frozenset[str]
    ) -> HostCall:
        """Start a call in the thread for clients that can, or cannot, be asked."""
        calls = await self._thread(attended="elicitation/create" in abilities)
        return await calls.begin(tool, arguments)

    async def _thread(self, *, attended: bool) -> Calls:
        async with self._opening:
            if attended not in self._threads:
                thread = await self._host.start(
                    self._folder,
                    TITLE,
                    self._settings,
                    origin="call",
                    attended=attended,
                    yes=self._yes,
                )
                asks = attended and not self._yes
                self._threads[attended] = Calls(self._host, thread.id, asks=asks)
            return self._threads[attended]

    async def close(self) -> None:
        """Leave the threads."""
        for calls in self._threads.values():
            await calls.close()
        self._threads.clear()


def _is_announced(task: asyncio.Task[Message]) -> bool:
    """Whether a call that is over stands in the log."""
    error = task.exception()
    return error is None or isinstance(error, ANNOUNCED)


def _sentence(error: BaseException) -> str:
    if isinstance(error, NeedsAnswer):
        return "\n".join(line for line in (error.what, error.why, HOW_TO_ALLOW) if line)
    if isinstance(error, SteersmanError):
        return str(error)
    return f"The call failed: {type(error).__name__}."
