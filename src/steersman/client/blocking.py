"""The client for programs that wait for each answer."""

import time
from collections.abc import Callable, Generator
from contextlib import closing
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


def _method(make: Callable[P, Call[T]]) -> "Callable[Concatenate[Client, P], T]":
    """A method that makes a call and waits for its answer."""

    @wraps(make)
    def method(self: "Client", /, *args: P.args, **more: P.kwargs) -> T:
        return self._answered(make(*args, **more))

    return method


class Client:
    """A server's threads; close it, or use it in a `with` block.

    It tries for `patience` seconds to reach a server that does not answer.
    """

    def __init__(self, url: str, token: str, *, patience: float = PATIENCE) -> None:
        import httpx2

        self._faults: type[Exception] = httpx2.TransportError
        self._http: httpx2.Client = httpx2.Client(**options(url, token))
        self.patience = patience

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
    ) -> Generator[Message, None, None]: ...

    @overload
    def events(self, *, after: int = 0, live: bool = False) -> Generator[Placed, None, None]: ...

    def events(
        self, thread: str | None = None, after: int = 0, *, live: bool = False
    ) -> Generator[Message, None, None]:
        """Every stored message after `after`, each once and in order, without end.

        Without a thread those of all threads, in one order: `after` is the `position` of one.
        `live`: pieces of answers too, as they come. They have no number, and some may be missing;
        the whole answer is stored.
        """
        following = Following(thread, after, Retries(self.patience), live=live)
        while True:
            yield from self._connected(following)

    def wait(self, thread: str) -> ThreadFacts:
        """Wait until a thread has nothing to do or waits for an answer; what it is then."""
        retries = Retries(self.patience)
        while not ready(facts := self.thread(thread)):
            # When the connection breaks, whoever ran the thread may be gone: look again.
            following = Following(thread, facts.messages, retries)
            with closing(self._connected(following)) as messages:
                next((one for one in messages if one.kind in TURNING), None)
        return facts

    def _connected(self, following: Following) -> Generator[Message, None, None]:
        """The messages of one connection; when it breaks, wait as long as it is right."""
        why = "The stream ended."
        try:
            headers = {"Last-Event-ID": str(following.after)}
            with self._http.stream(
                "GET", asking.events(following.thread), headers=headers, timeout=SILENT
            ) as response:
                if response.status_code == 200:
                    following.connected()
                    for data in response.iter_bytes():
                        yield from following.feed(data)
                elif not passing(response.status_code, body := response.read()):
                    raise failed(response.status_code, body)
        except self._faults as error:
            why = str(error)
        time.sleep(following.pause(why))

    def _answered(self, call: Call[T]) -> T:
        retries = Retries(self.patience)
        while True:
            try:
                whole = Whole()
                with self._http.stream(call.method, call.path, content=call.body) as response:
                    for part in response.iter_bytes():
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
            time.sleep(pause)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()
