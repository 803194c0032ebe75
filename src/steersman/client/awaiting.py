"""The client for programs with an event loop."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar, overload

from steersman.client import asking
from steersman.client.asking import Call, failed, passing
from steersman.client.connecting import PATIENCE, Whole, lost, options, ready
from steersman.client.following import SILENT, TURNING, Following, Placed, Retries
from steersman.records.message import Message
from steersman.records.thread_facts import ThreadFacts

P = ParamSpec("P")
T = TypeVar("T")


def _method(make: Callable[P, Call[T]]) -> "Callable[Concatenate[AsyncClient, P], Awaitable[T]]":
    """A method that makes a call and awaits its answer."""

    @wraps(make)
    async def method(self: "AsyncClient", /, *args: P.args, **more: P.kwargs) -> T:
        return await self._answered(make(*args, **more))

    return method


class AsyncClient:
    """A server's threads; close it, or use it in an `async with` block.

    It tries for `patience` seconds to reach a server that does not answer.
    """

    def __init__(self, url: str, token: str, *, patience: float = PATIENCE) -> None:
        import asyncio

        import httpx2

        self._sleep = asyncio.sleep
        self._faults: type[Exception] = httpx2.TransportError
        self._http: httpx2.AsyncClient = httpx2.AsyncClient(**options(url, token))
        self._patience = patience

    threads = _method(asking.threads)
    thread = _method(asking.thread)
    start = _method(asking.start)
    send = _method(asking.send)
    steer = _method(asking.steer)
    queue = _method(asking.queue)
    withdraw = _method(asking.withdraw)
    hasten = _method(asking.hasten)
    change = _method(asking.change)
    compact = _method(asking.compact)
    answer = _method(asking.answer)
    reply = _method(asking.reply)
    cancel = _method(asking.cancel)
    messages = _method(asking.messages)
    plan_undo = _method(asking.plan_undo)
    undo = _method(asking.undo)

    @overload
    def events(
        self, thread: str, after: int = 0, *, live: bool = False
    ) -> AsyncGenerator[Message, None]: ...

    @overload
    def events(self, *, after: int = 0, live: bool = False) -> AsyncGenerator[Placed, None]: ...

    async def events(
        self, thread: str | None = None, after: int = 0, *, live: bool = False
    ) -> AsyncGenerator[Message, None]:
        """Every stored message after `after`, each once and in order, without end.

        Without a thread those of all threads, in one order: `after` is the `position` of one.
        `live`: pieces of answers too, as they come. They have no number, and some may be missing;
        the whole answer is stored.
        """
        following = Following(thread, after, Retries(self._patience), live=live)
        while True:
            async with aclosing(self._connected(following)) as messages:
                async for message in messages:
                    yield message

    async def wait(self, thread: str) -> ThreadFacts:
        """Wait until a thread has nothing to do or waits for an answer; what it is then."""
        retries = Retries(self._patience)
        while not ready(facts := await self.thread(thread)):
            # When the connection breaks, whoever ran the thread may be gone: look again.
            following = Following(thread, facts.messages, retries)
            async with aclosing(self._connected(following)) as messages:
                async for message in messages:
                    if message.kind in TURNING:
                        break
        return facts

    async def _connected(self, following: Following) -> AsyncGenerator[Message, None]:
        """The messages of one connection; when it breaks, wait as long as it is right."""
        why = "The stream ended."
        try:
            headers = {"Last-Event-ID": str(following.after)}
            async with self._http.stream(
                "GET", asking.events(following.thread), headers=headers, timeout=SILENT
            ) as response:
                if response.status_code == 200:
                    following.connected()
                    async for data in response.aiter_bytes():
                        for message in following.feed(data):
                            yield message
                elif not passing(response.status_code, body := await response.aread()):
                    raise failed(response.status_code, body)
        except self._faults as error:
            why = str(error)
        await self._sleep(following.pause(why))

    async def _answered(self, call: Call[T]) -> T:
        retries = Retries(self._patience)
        while True:
            try:
                whole = Whole()
                async with self._http.stream(call.method, call.path, content=call.body) as response:
                    async for part in response.aiter_bytes():
                        whole.add(part)
                if response.status_code == 200:
                    return call.read(whole.data())
                told = failed(response.status_code, whole.data())
                if not (call.again and passing(response.status_code, whole.data())):
                    raise told
                pause = retries.pause(told)
            except self._faults as error:
                if not call.again:
                    raise lost(error) from error
                pause = retries.pause(str(error))
            await self._sleep(pause)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.close()
