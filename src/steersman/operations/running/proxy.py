"""An HTTP/1.1 proxy for one command: plain requests, and tunnels by CONNECT.

The name of a host is asked about before it is looked up. A connection carries one request, which is
read strictly and written again; bytes that follow it reach nobody. What is refused is answered with
a text that says why and what to do, and reported. Memory and connections are bounded.
"""

import asyncio
import hmac
import socket
from base64 import b64encode
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from steersman.operations.running.dialling import (
    NoWay,
    Resolve,
    Streams,
    dial,
    look_up,
    refuse_out_of_bounds,
)
from steersman.operations.running.heads import LONGEST, BadHead, Request, credentials, read_request
from steersman.operations.running.passing import Broken, exchange, finish, listens, owned, tunnel
from steersman.records.errors import SteersmanError

USER = "steer"
SLOW = 60.0  # seconds for the head of a request
MOST = 128  # connections at the same time
PHRASES = {
    400: "Bad Request", 403: "Forbidden", 407: "Proxy Authentication Required",
    408: "Request Timeout", 431: "Request Header Fields Too Large", 501: "Not Implemented",
    502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
}  # fmt: skip

Ask = Callable[[str, int], Awaitable[str]]
Deny = Callable[[str, int, str], None]
Local = Callable[[str, int], bool]


def never(host: str, port: int) -> bool:
    """No host of this machine or its network may be reached."""
    return False


class Refusal(Exception):
    """An answer of the proxy itself; clients show the `detail` in its status line at least."""

    def __init__(self, status: int, text: str, detail: str = "", field: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.detail = detail
        self.field = field

    def whole(self) -> bytes:
        """The response."""
        body = f"Steersman: {self.text}\n".encode()
        phrase = PHRASES[self.status] + (f" ({self.detail})" if self.detail else "")
        lines = [
            f"HTTP/1.1 {self.status} {phrase}",
            "Content-Type: text/plain; charset=utf-8",
            f"Content-Length: {len(body)}",
            *([self.field] if self.field else []),
            "Connection: close",
            "\r\n",
        ]
        return "\r\n".join(lines).encode() + body


class Proxy:
    """Serves the connections of one listener until it is closed."""

    def __init__(
        self,
        token: str,
        ask: Ask,
        denied: Deny,
        *,
        local: Local = never,
        resolve: Resolve = look_up,
    ) -> None:
        self._right = "Basic " + b64encode(f"{USER}:{token}".encode()).decode()
        self._ask = ask
        self._denied = denied
        self._local = local
        self._resolve = resolve
        self._questions: dict[tuple[str, int], asyncio.Task[str]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._server: asyncio.Server | None = None
        self._connections = 0
        self._missed: set[str] = set()  # allowed when its client had given up, and not used since
        self._reached = False

    @property
    def asked(self) -> tuple[tuple[str, int], ...]:
        """The hosts, with their ports, about which someone is being asked."""
        return tuple(self._questions)

    @property
    def reached(self) -> bool:
        """Whether any host was reached."""
        return self._reached

    async def answered(self) -> None:
        """Wait until nobody is asked any more."""
        while self._questions:
            await asyncio.wait(self._questions.values())
            await asyncio.sleep(0)  # what is answered is taken out a step later

    async def missed(self) -> list[str]:
        """The hosts that were allowed too late for who asked; waits for the answers to come."""
        late = dict(self._questions)
        await self.answered()
        now = (
            f"{host}:{port}" for (host, port), one in late.items()
            if not one.cancelled() and not one.result()
        )  # fmt: skip
        return sorted({*self._missed, *now})

    async def serve(self, listener: socket.socket) -> None:
        """Begin to accept connections."""
        self._server = await asyncio.start_server(self._greet, sock=listener, limit=LONGEST)

    async def close(self) -> None:
        """Stop accepting, and end every connection and every question."""
        if self._server:
            self._server.close()
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)
        await asyncio.sleep(0)  # sockets are closed a step after their connections

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._connections < MOST:
            self._connections += 1
            self._start(self._attend((reader, writer)))
            return
        writer.write(Refusal(503, f"{MOST} connections are open; try again later.").whole())
        writer.close()

    async def _attend(self, client: Streams) -> None:
        """One connection, from beginning to end."""
        try:
            async with owned(client):
                try:
                    await self._handle(client)
                except Refusal as refusal:
                    client[1].write(refusal.whole())
                    await finish(client)
        except (OSError, asyncio.IncompleteReadError):
            return  # the client has gone
        finally:
            self._connections -= 1

    async def _handle(self, client: Streams) -> None:
        request = await _request(client)
        await self._admit(request)
        place = f"{request.host}:{request.port}"
        if request.version != "0" and not await listens(client):
            self._missed.add(place)
            return
        self._missed.discard(place)
        server = await self._dial(request)
        self._reached = True
        async with owned(server):
            if request.tunnel:
                client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await tunnel(client, server)
                return
            try:
                await exchange(request, client, server)
            except Broken as broken:
                raise Refusal(broken.status, broken.why, f"{request.host}:{request.port}") from None

    async def _admit(self, request: Request) -> None:
        """Refuse whoever does not hold the token, and what may not be reached."""
        host, port = request.host, request.port
        said = credentials(request)
        if not hmac.compare_digest(said.encode(), self._right.encode()):
            text = "this proxy belongs to another command: the token is missing or wrong."
            field = 'Proxy-Authenticate: Basic realm="steersman"'
            if said:  # many clients, git among them, say who they are only when asked: no refusal
                self._denied(host, port, "The token of the proxy is wrong.")
            raise Refusal(407, text, field=field)
        try:
            if not self._local(host, port):
                refuse_out_of_bounds(host)
        except NoWay as bound:
            raise self._forbid(request, bound.why) from None
        if reason := await self._answer(host, port):
            raise self._forbid(request, reason)

    async def _answer(self, host: str, port: int) -> str:
        """What is said about a host; those who want to know at the same time ask once."""
        question = self._questions.get((host, port))
        if question is None:
            question = self._questions[host, port] = self._start(self._question(host, port))
            question.add_done_callback(lambda _: self._questions.pop((host, port)))
        return await asyncio.shield(question)

    async def _question(self, host: str, port: int) -> str:
        try:
            return await self._ask(host, port)
        except SteersmanError as problem:  # what cannot be decided is not allowed
            return problem.what

    async def _dial(self, request: Request) -> Streams:
        host, port = request.host, request.port
        try:
            local = self._local(host, port)
            return await dial(host, port, self._resolve, local=local, limit=LONGEST)
        except NoWay as end:
            if end.status == 403:
                raise self._forbid(request, end.why) from None
            raise Refusal(end.status, end.why, f"{host}:{port}") from None

    def _forbid(self, request: Request, reason: str) -> Refusal:
        host, port = request.host, request.port
        self._denied(host, port, reason)
        text = (
            f"host {host}, port {port}, is not allowed. {reason}"
            " Continue without it, or tell the user which host is needed and why."
        )
        return Refusal(403, text, f"{host}:{port} is not allowed")


async def _request(client: Streams) -> Request:
    """The head of the one request of a connection."""
    try:
        async with asyncio.timeout(SLOW):
            return read_request(await client[0].readuntil(b"\r\n\r\n"))
    except TimeoutError:
        raise Refusal(408, f"no complete request came within {SLOW:g} seconds.") from None
    except asyncio.LimitOverrunError:
        raise Refusal(431, f"the head of a request has {LONGEST} bytes at most.") from None
    except BadHead as bad:
        raise Refusal(bad.status, bad.why) from None
