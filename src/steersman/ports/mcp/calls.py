"""Calls of the host's tools for a client: carried out in a thread, through its gate, into its log.

Clients that can be asked the same things share a thread. While a call in it waits for an answer,
which may never come, others are made in another thread.
"""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from steersman.host import Host, ThreadHandle
from steersman.ports.mcp.offer import (
    Asked,
    Ended,
    Event,
    Method,
    OfferedTool,
    Ongoing,
    Shown,
)
from steersman.ports.mcp.words import (
    HOW_TO_ALLOW,
    ended,
    failure,
    offered,
    permission,
    permission_form,
)
from steersman.records.call_ids import fresh
from steersman.records.errors import (
    NeedsAnswer,
    SteersmanError,
    UsageProblem,
)
from steersman.records.mcp_tools import Wishes
from steersman.records.message import (
    Answer,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Question,
    ToolProgress,
    ToolResult,
)
from steersman.records.settings import Settings

TITLE = "mcp"
MOST_THREADS = 12  # for clients that can be asked the same things


class HostCall:
    """One call of a tool of the host."""

    def __init__(self, handle: ThreadHandle, tool: str, arguments: dict[str, Any]) -> None:
        self._handle = handle
        self.tool = tool
        self.name = fresh()
        self.task = asyncio.create_task(handle.call(tool, arguments, self.name))
        self._answering: set[asyncio.Task[None]] = set()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._requests: dict[str, ConfirmRequest] = {}
        self._wishes: dict[str, asyncio.Future[Mapping[str, Any] | None]] = {}
        self.task.add_done_callback(self._end)

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

    async def ask(self, method: Method, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Ask the client something for a server; None when it gives no answer."""
        key = f"{method.partition('/')[0]}_{len(self._wishes) + 1}"
        answer: asyncio.Future[Mapping[str, Any] | None]
        answer = self._wishes[key] = asyncio.get_running_loop().create_future()
        self._events.put_nowait(Asked(key, method, params))
        return await answer

    def result(self, body: ToolResult) -> Ended:
        """What came of the call, for the client."""
        return ended(body)

    def _end(self, task: asyncio.Task[Message]) -> None:
        if task.cancelled():
            self._events.put_nowait(failure("The call was cancelled."))
        elif (error := task.exception()) is not None:
            self._events.put_nowait(failure(_sentence(error)))
        else:
            body = task.result().body
            assert isinstance(body, ToolResult)
            self._events.put_nowait(self.result(body))

    @property
    def waits(self) -> bool:
        """Whether someone was asked and has not answered."""
        return bool(self._requests) or any(not one.done() for one in self._wishes.values())

    async def next(self) -> Event:
        """What happens next."""
        return await self._events.get()

    def more(self) -> Event | None:
        """What has happened already."""
        return None if self._events.empty() else self._events.get_nowait()

    def answer(self, key: str, result: Mapping[str, Any] | None) -> None:
        """Hand an answer to the gate, or to the server; one that came too late is nobody's."""
        if key in self._wishes and not self._wishes[key].done():
            self._wishes[key].set_result(result)
        request = self._requests.pop(key, None)
        if request is not None:
            answering = asyncio.create_task(self._permit(key, permission(request, result)))
            self._answering.add(answering)
            answering.add_done_callback(self._answering.discard)

    async def _permit(self, key: str, response: ConfirmResponse) -> None:
        with suppress(UsageProblem):
            await self._handle.answer(key, response)

    async def cancel(self) -> None:
        """Stop the tool and wait until it has stopped."""
        self.task.cancel()
        await asyncio.wait({self.task})


class Calls:
    """The calls of one thread, each told apart from the others. `asks`: someone can be asked."""

    def __init__(self, handle: ThreadHandle, *, asks: bool) -> None:
        self._handle = handle
        self._asks = asks
        self.thread = handle.id
        self._calls: dict[str, HostCall] = {}
        self._following = asyncio.create_task(self._follow(), name=f"mcp-{handle.id}")

    async def begin(
        self, tool: str, arguments: dict[str, Any], make: type[HostCall] = HostCall
    ) -> HostCall:
        """Start a call."""
        call = make(self._handle, tool, arguments)
        self._calls[call.name] = call
        call.task.add_done_callback(lambda _: self._calls.pop(call.name, None))
        return call

    async def _follow(self) -> None:
        async for message in self._handle.events():
            match message.body:
                case ConfirmRequest(call=name) if self._asks:
                    # What a server wants while it works is asked with the call it works on.
                    self._hand(name if name in self._calls else self.newest(), message)
                case ToolProgress():
                    self._hand(message.corr or "", message)
                case Question(default=default):
                    answer = Answer(default, by="default")
                    await self._handle.answer(message.corr or "", answer)

    @property
    def waits(self) -> bool:
        """Whether some call waits for an answer; others may have to wait for that call."""
        return any(call.waits for call in self._calls.values())

    def newest(self) -> str:
        """The name of the call that was begun last and has not ended."""
        return next(reversed(self._calls), "")

    def get(self, name: str) -> HostCall | None:
        """A call that has not ended."""
        return self._calls.get(name)

    def _hand(self, name: str, message: Message) -> None:
        if name in self._calls:
            self._calls[name].take(message)

    async def close(self) -> None:
        """End every call and leave the thread."""
        for call in list(self._calls.values()):
            await call.cancel()
        await self._handle.close()
        await self._following


class Workbench:
    """The tools of a workspace, offered."""

    def __init__(self, host: Host, folder: str, settings: Settings, *, yes: bool = False) -> None:
        self._host = host
        self._folder = folder
        self._settings = settings
        self._yes = yes
        self._opening = asyncio.Lock()
        self._offered: list[OfferedTool] | None = None
        self._threads: dict[frozenset[str], list[Calls]] = {}

    async def tools(self) -> Sequence[OfferedTool]:
        """The tools an agent has here, the same as long as it is served."""
        if self._offered is None:
            await self._host.learn(self._folder)
            self._offered = [offered(spec) for spec in self._host.tools(self._folder)]
        return self._offered

    async def begin(
        self, tool: str, arguments: dict[str, Any], abilities: frozenset[str]
    ) -> Ongoing:
        """Start a call in a thread for clients that can, or cannot, be asked."""
        calls = await self._thread(abilities & {"elicitation/create"})
        return await calls.begin(tool, arguments)

    async def _thread(self, abilities: frozenset[str]) -> Calls:
        async with self._opening:
            threads = self._threads.setdefault(abilities, [])
            free = next((calls for calls in threads if not calls.waits), None)
            if free is None and len(threads) < MOST_THREADS:
                free = await self._open(abilities)
                threads.append(free)
            return free or threads[0]

    async def _open(self, abilities: frozenset[str], client: Wishes | None = None) -> Calls:
        attended = "elicitation/create" in abilities
        handle = await self._host.start(
            self._folder,
            TITLE,
            self._settings,
            origin="call",
            client=client,
            attended=attended,
            yes=self._yes,
        )
        return Calls(handle, asks=attended and not self._yes)

    async def close(self) -> None:
        """Leave the threads."""
        for calls in itertools.chain.from_iterable(self._threads.values()):
            await calls.close()
        self._threads.clear()


def _sentence(error: BaseException) -> str:
    if isinstance(error, NeedsAnswer):
        return "\n".join(line for line in (error.what, error.why, HOW_TO_ALLOW) if line)
    if isinstance(error, SteersmanError):
        return str(error)
    return f"The call failed: {type(error).__name__}."
