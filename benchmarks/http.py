"""Threads over HTTP: requests against a bare server, what a reader takes, how soon it has news."""

import asyncio
import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks.measure import PYTHON, STEER, Figure, cost, script, world

LINES, EACH, ROUNDS = 8, 200, 7  # requests on each line
IDLE, READERS, STEPS = 500, 200, 20
STARTS = 9
PATIENCE = 120.0


class Server(NamedTuple):
    """A server in a process of its own."""

    pid: int
    at: str
    token: str = ""

    def request(self, path: str, method: str = "GET", body: Any = None) -> bytes:
        """A request as it is sent."""
        data = b"" if body is None else msgspec.json.encode(body)
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self.at}\r\nAuthorization: Bearer {self.token}\r\n"
        )
        if data:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        return f"{head}\r\n".encode() + data

    def cpu(self) -> float:
        """Seconds that all its threads have worked."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((one / "schedstat").read_text().split()[0]) for one in tasks) / 1e9

    def memory(self) -> int:
        """Its share of memory, in bytes."""
        told = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        [line] = [one for one in told.splitlines() if one.startswith("Pss:")]
        return int(line.split()[1]) * 1024


def figures() -> list[Figure]:
    """All of it, on one server."""
    with world() as (folder, environ):
        work = folder / "work"
        usage = cost([STEER, "--help"], environ, work, STARTS).cpu
        ready = min(_ready(environ, work) for _ in range(STARTS))
        with _steer(environ, work) as ours:
            model = script(folder, [*map(_step, range(STEPS)), {"text": "Done."}])
            delays, thread = asyncio.run(_delays(ours, str(work), model))
            each = asyncio.run(_each(ours, thread))
            facts = asyncio.run(_asked(ours, ours.request(f"/api/v0/threads/{thread}")))
            with _bare(facts.decode(), environ, work) as bare:
                ratios = asyncio.run(_ratios(ours, bare, thread))
    return [
        *ratios,
        Figure(f"memory of an idle reader, of {IDLE}", each / 1024, 40, "KB"),
        Figure(
            f"a stored message reaches {READERS} readers, median",
            1000 * statistics.median(delays),
            50,
            "ms",
            f"95 of 100 within {1000 * statistics.quantiles(delays, n=20)[-1]:.0f} ms",
        ),
        Figure(
            "`steer serve` to its first line, CPU, against `steer --help`",
            ready / usage,
            3,
            "×",
            f"{1000 * ready:.0f} ms",
        ),
    ]


def _step(number: int) -> dict[str, Any]:
    """One that is no repetition, after a moment in which readers can take what came before."""
    return {"text": "", "do": "write", "path": f"{number}", "content": "new", "delay_ms": 100}


# Servers


@contextmanager
def _started(command: Sequence[str], environ: dict[str, str], work: Path) -> Iterator[Any]:
    root = str(Path(__file__).parents[1])
    environ = environ | {"PYTHONPATH": root}
    running = subprocess.Popen(command, env=environ, cwd=work, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    try:
        yield running.pid, running.stdout.readline().strip()
    finally:
        running.terminate()
        running.communicate()


@contextmanager
def _steer(environ: dict[str, str], work: Path) -> Iterator[Server]:
    with _started([STEER, "serve", "--port", "0", "--json"], environ, work) as (pid, line):
        told = json.loads(line)
        token = Path(told["token_file"]).read_text().strip()
        yield Server(pid, told["url"].partition("://")[2], token)


@contextmanager
def _bare(facts: str, environ: dict[str, str], work: Path) -> Iterator[Server]:
    command = [PYTHON, "-m", "benchmarks.http_bare", facts]
    with _started(command, environ, work) as (pid, line):
        yield Server(pid, line)


def _ready(environ: dict[str, str], work: Path) -> float:
    """What a server has worked when it says where it is."""
    with _steer(environ, work) as made:
        return made.cpu()


# Requests


class _Client(asyncio.Protocol):
    """Sends a request again and again on one line, each after the answer to the last."""

    def __init__(self, request: bytes, count: int) -> None:
        self._request, self._left = request, count
        self._buffer = b""
        self.over: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Go on when the answer is whole."""
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found or len(body) < int(head.split(b"content-length: ")[1].split(b"\r\n")[0]):
            return
        if not head.startswith(b"HTTP/1.1 200 "):
            raise SystemExit(self._buffer.decode())
        self._buffer = b""
        self._left -= 1
        if self._left:
            self._transport.write(self._request)
        else:
            self._transport.close()
            self.over.set_result(body)


async def _asked(server: Server, request: bytes, count: int = 1) -> bytes:
    """The last of the answers to a request that is sent so many times, one after another."""
    host, _, port = server.at.rpartition(":")
    loop = asyncio.get_running_loop()
    _, made = await loop.create_connection(lambda: _Client(request, count), host, int(port))
    return await made.over


async def _ratios(ours: Server, bare: Server, thread: str) -> list[Figure]:
    """The best of rounds that are taken in turns, so that a busy moment hits all of them."""
    measured = {
        "bare": (bare, bare.request(f"/threads/{thread}")),
        "`GET /me`": (ours, ours.request("/api/v0/me")),
        "a thread's facts": (ours, ours.request(f"/api/v0/threads/{thread}")),
    }
    best = dict.fromkeys(measured, (0.0, 1.0))
    for _ in range(ROUNDS):
        for name, (server, request) in measured.items():
            cpu, begun = server.cpu(), time.perf_counter()
            await asyncio.gather(*(_asked(server, request, EACH) for _ in range(LINES)))
            count = EACH * LINES
            rate = count / (time.perf_counter() - begun)
            each = (server.cpu() - cpu) / count
            best[name] = (max(best[name][0], rate), min(best[name][1], each))
    (peer, peer_cpu) = best.pop("bare")
    return [
        Figure(
            f"{name} over HTTP, time a request, against a bare server",
            peer / rate,
            1.67,
            "×",
            f"{rate:,.0f} a second, {peer:,.0f} bare; CPU {each / peer_cpu:.2f} ×",
        )
        for name, (rate, each) in best.items()
    ]


# Readers


class _Line(asyncio.Protocol):
    """A line that says what comes, and when."""

    def __init__(self, request: bytes, came: Callable[[bytes], None]) -> None:
        self._request, self._came = request, came
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Hand over what is whole: each event ends with an empty line."""
        *whole, self._rest = (self._rest + data).split(b"\n\n")
        for event in whole:
            self._came(event)


class _Crowd:
    """Readers of one thread, and how long stored messages were on their way."""

    def __init__(self, server: Server, thread: str) -> None:
        self._server = server
        self._request = server.request(f"/api/v0/threads/{thread}/events")
        self._lines: list[_Line] = []
        self._ended = 0
        self._all = asyncio.Event()
        self.delays: list[float] = []

    async def join(self, count: int) -> None:
        """So many readers connect."""
        host, _, port = self._server.at.rpartition(":")
        loop = asyncio.get_running_loop()
        for _ in range(count):
            made = await loop.create_connection(
                lambda: _Line(self._request, self._came), host, int(port)
            )
            self._lines.append(made[1])

    def _came(self, event: bytes) -> None:
        if b"event: message\n" in event:
            now = time.time()
            message = msgspec.json.decode(event.partition(b"data: ")[2])
            self.delays.append(now - datetime.fromisoformat(message["time"]).timestamp())
            self._ended += message["kind"] == "turn_end"
            if self._ended == len(self._lines):
                self._all.set()

    async def ended(self) -> None:
        """All of them have seen the end of the turn."""
        async with asyncio.timeout(PATIENCE):
            await self._all.wait()

    def leave(self) -> None:
        """All of them go."""
        for line in self._lines:
            line.transport.abort()


async def _delays(server: Server, work: str, model: str) -> tuple[list[float], str]:
    """How long messages of a turn were on their way to each reader, and the thread."""
    told = {"workspace": work, "model": model}
    made = json.loads(await _asked(server, server.request("/api/v0/threads", "POST", told)))
    crowd = _Crowd(server, made["id"])
    await crowd.join(READERS)
    await asyncio.sleep(2)  # all of them are served
    crowd.delays.clear()
    path = f"/api/v0/threads/{made['id']}/send"
    await _asked(server, server.request(path, "POST", {"text": "Go."}))
    await crowd.ended()
    crowd.leave()
    return crowd.delays, made["id"]


async def _each(server: Server, thread: str) -> float:
    """What the server takes for each of many readers to whom nothing happens."""
    taken = []
    for count in (IDLE // 10, IDLE):  # what the first ones cause is there once
        before = server.memory()
        crowd = _Crowd(server, thread)
        await crowd.join(count)
        await crowd.ended()
        await asyncio.sleep(1)
        taken.append((server.memory() - before) / count)
        crowd.leave()
        await asyncio.sleep(1)
    return taken[-1]
