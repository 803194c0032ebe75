"""A real model server on a free loopback port, and the official clients pointed at it."""

import asyncio
import gc
import io
import json
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any, NamedTuple

import msgspec
import pytest

from steersman.intelligence.scripted.script import Script
from steersman.intelligence.scripted.server import Desk, listening
from steersman.intelligence.scripted.wires.exchange import Reply, Request
from tests.intelligence.model_server.model_clients import CLIENTS


class Stage:
    """A running server whose script the tests change."""

    def __init__(self) -> None:
        self.url = ""
        self.complaints: list[str] = []
        self._log = io.StringIO()
        self._desk: Desk | None = None
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._crashes: list[dict[str, Any]] = []
        self._loop.set_exception_handler(lambda _, context: self._crashes.append(context))
        self._done: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._run()])
        self._thread.start()
        assert self._ready.wait(10)

    async def _run(self) -> None:
        self._done = asyncio.Event()
        async with listening(self, "127.0.0.1", 0) as self.url:
            self._ready.set()
            await self._done.wait()

    def reply(self, request: Request) -> Reply:
        """Stand in for the desk of the script that is on."""
        return self._desk.reply(request)

    def play(self, *turns: dict[str, Any], aside: str = "") -> None:
        """Put another script on."""
        script = msgspec.convert({"turns": turns, "aside": aside}, Script)
        self.complaints = []
        self._log = io.StringIO()
        self._desk = Desk(script, self._log, self.complaints.append)

    @property
    def log(self) -> list[dict[str, Any]]:
        """The request log."""
        return [json.loads(line) for line in self._log.getvalue().splitlines()]

    def running_answers(self) -> int:
        """How many answers the server is giving at this moment."""

        async def count() -> int:
            tasks = asyncio.all_tasks()
            return sum(task.get_coro().__qualname__ == "Connection._answer" for task in tasks)

        return asyncio.run_coroutine_threadsafe(count(), self._loop).result(10)

    def close(self) -> None:
        """End the server."""
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(10)
        assert not self._thread.is_alive()
        self._loop.close()
        gc.collect()
        assert self._crashes == []


@pytest.fixture(scope="session")
def one_stage() -> Iterator[Stage]:
    """The server all tests of a run share."""
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture
def stage(one_stage: Stage) -> Stage:
    """The server, for one test."""
    return one_stage


@pytest.fixture(scope="session")
def clients(one_stage: Stage) -> dict[str, Any]:
    """One client a format, that never tries again."""
    return {kind.wire: kind(one_stage.url) for kind in CLIENTS}


@pytest.fixture(params=[kind.wire for kind in CLIENTS])
def client(request: pytest.FixtureRequest, clients: dict[str, Any]) -> Any:
    """Each official client in turn."""
    return clients[request.param]


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Both ways to answer."""
    return bool(request.param)


@pytest.fixture
def patient(client: Any, stage: Stage) -> Callable[[int], Any]:
    """The same client with retries."""
    return lambda retries: type(client)(stage.url, retries)


class Heard(NamedTuple):
    """A raw HTTP reply."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@pytest.fixture
def http(stage: Stage) -> Callable[..., Heard]:
    """One HTTP request with nothing of a provider's client around it."""

    def send(
        method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Heard:
        connection = HTTPConnection(stage.url.removeprefix("http://"), timeout=30)
        try:
            data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
            connection.request(method, path, data, headers or {})
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Heard(response.status, names, response.read())
        finally:
            connection.close()

    return send
