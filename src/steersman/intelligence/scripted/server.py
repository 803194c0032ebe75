"""Serves a scripted model over HTTP: connections, real time, cut lines, the request log.

What is answered is decided in `wires.exchange`; here it is only received, timed and sent.
"""

import asyncio
import errno
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import parse_qsl, urlencode

import h11
import msgspec
from msgspec import Struct

from steersman.intelligence.scripted.script import Script, load
from steersman.intelligence.scripted.wires.exchange import Exchange, Reply, Request, unreadable
from steersman.records.errors import SteersmanError, UsageProblem

READ_SIZE = 65536
LARGEST_BODY = 64 * 1024 * 1024

Say = Callable[[str], None]


class LogLine(Struct, frozen=True):
    """One request in the log; no header is ever in it."""

    time: str
    method: str
    path: str
    wire: str
    model: str | None
    stream: bool | None
    turn: int | None
    status: int
    problem: str | None
    body: Any


class Desk:
    """What all connections share: the script, the log, and where problems are reported."""

    def __init__(self, script: Script, log: TextIO | None, complain: Say) -> None:
        self._exchange = Exchange(script)
        self._log = log
        self._complain = complain

    def reply(self, request: Request) -> Reply:
        """Decide the reply to a request, and note both."""
        reply = self._exchange.reply(request)
        if reply.problem:
            self._complain(reply.problem)
        if self._log is not None:
            self._log.write(msgspec.json.encode(log_line(request, reply)).decode() + "\n")
            self._log.flush()
        return reply


def log_line(request: Request, reply: Reply) -> LogLine:
    """A request and what became of it."""
    return LogLine(
        time=datetime.now(UTC).isoformat(),
        method=request.method,
        path=_without_key(request.target),
        wire=reply.wire,
        model=reply.asked.model if reply.asked else None,
        stream=reply.asked.stream if reply.asked else None,
        turn=reply.turn,
        status=reply.status,
        problem=reply.problem or None,
        body=_readable(request.body),
    )


def _without_key(target: str) -> str:
    path, _, query = target.partition("?")
    kept = [(name, value) for name, value in parse_qsl(query) if name != "key"]
    return path + ("?" + urlencode(kept) if kept else "")


def _readable(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body) if body else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode("utf-8", "replace")


class Connection:
    """One client: its requests one after another, each answered in real time."""

    def __init__(
        self, desk: Desk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._desk = desk
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER)
        # With no high-water mark, drain() means that the system has taken every byte.
        writer.transport.set_write_buffer_limits(high=0)

    async def serve(self) -> None:
        """Answer until either side has had enough."""
        with suppress(ConnectionError):
            try:
                while (request := await self._request()) is not None:
                    await self._answer_while_there(request)
                    if self._http.states != {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
                        break
                    self._http.start_next_cycle()
            except h11.RemoteProtocolError as error:
                await self._send(unreadable(error.error_status_hint, str(error)))
            finally:
                self._writer.close()

    async def _request(self) -> Request | None:
        head = await self._event()
        if not isinstance(head, h11.Request):
            return None
        body = bytearray()
        while isinstance(event := await self._event(), h11.Data):
            body += event.data
            if len(body) > LARGEST_BODY:
                raise h11.RemoteProtocolError("The request is too large.", error_status_hint=413)
        headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
        return Request(head.method.decode(), head.target.decode(), headers, bytes(body))

    async def _event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self._write(h11.InformationalResponse(status_code=100, headers=[]))
            self._http.receive_data(await self._reader.read(READ_SIZE))
        return event

    async def _answer_while_there(self, request: Request) -> None:
        """A client that hangs up ends its answer, wherever that is."""
        async with asyncio.TaskGroup() as group:
            answer = group.create_task(self._answer(request))
            there = group.create_task(self._until_gone())
            answer.add_done_callback(lambda _: there.cancel())
            there.add_done_callback(lambda _: answer.cancel())

    async def _until_gone(self) -> None:
        with suppress(ConnectionError):
            while data := await self._reader.read(READ_SIZE):
                self._http.receive_data(data)

    async def _answer(self, request: Request) -> None:
        with suppress(ConnectionError):
            await self._send(self._desk.reply(request), bodiless=request.method == "HEAD")

    async def _send(self, reply: Reply, *, bodiless: bool = False) -> None:
        await asyncio.sleep(reply.delay_ms / 1000)
        await self._write(h11.Response(status_code=reply.status, headers=list(reply.headers)))
        said, stall_ms = 0, reply.stall_ms
        for frame in () if bodiless else reply.frames:
            await self._write(h11.Data(frame.data))
            said += frame.said
            if stall_ms and said >= reply.stall_at:
                await asyncio.sleep(stall_ms / 1000)
                stall_ms = 0
            if reply.cut_at is not None and said >= reply.cut_at:
                self._writer.transport.abort()
                return
        await self._write(h11.EndOfMessage())

    async def _write(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")
        await self._writer.drain()


@asynccontextmanager
async def listening(desk: Desk, host: str, port: int) -> AsyncIterator[str]:
    """Serve while the context is open; gives the address. Leaving it ends every connection."""
    connections: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(Connection(desk, reader, writer).serve())
        connections.add(task)
        task.add_done_callback(connections.discard)

    try:
        server = await asyncio.start_server(connected, host, port)
    except OSError as error:
        raise _cannot_listen(error, host, port) from error
    try:
        name, actual = server.sockets[0].getsockname()[:2]
        yield f"http://[{name}]:{actual}" if ":" in name else f"http://{name}:{actual}"
    finally:
        server.close()
        open_ones = list(connections)
        for task in open_ones:
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)


def _cannot_listen(error: OSError, host: str, port: int) -> SteersmanError:
    taken = error.errno == errno.EADDRINUSE
    return SteersmanError(
        f"The model server cannot listen on {host}:{port}.",
        "Another program uses this port." if taken else error.strerror or str(error),
        "Choose another port, or --port 0 for a free one."
        if taken
        else "Pass an address of this machine: --host 127.0.0.1.",
    )


def serve(
    file: str | Path, *, host: str, port: int, log: Path | None, ready: Say, complain: Say
) -> None:
    """Serve a script file until the process is asked to end by SIGINT or SIGTERM."""
    script = load(file)
    with _opened(log) as stream:
        asyncio.run(_serve(Desk(script, stream, complain), host, port, ready))


def _opened(log: Path | None) -> AbstractContextManager[TextIO | None]:
    if log is None:
        return nullcontext()
    try:
        return log.open("a", encoding="utf-8")
    except OSError as error:
        raise UsageProblem(
            f"The log file {log} cannot be written.",
            error.strerror or str(error),
            "Pass a file in a folder that exists.",
        ) from error


async def _serve(desk: Desk, host: str, port: int, ready: Say) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with listening(desk, host, port) as url:
        ready(url)
        await stop.wait()
