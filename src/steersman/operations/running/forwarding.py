"""Ports of this machine that a command may reach on its own loopback: bytes are passed on to them.

Programs do not ask a proxy for `localhost`. So the stage listens in the command's sandbox on each
port that the user allowed, and the host passes on what comes there, if the gate still allows it.
"""

import asyncio
import socket
from collections.abc import Coroutine, Sequence
from typing import Any

from msgspec import Struct

from steersman.operations.running.dialling import NoWay, Resolve, Streams, dial
from steersman.operations.running.heads import LONGEST
from steersman.operations.running.passing import owned, tunnel
from steersman.operations.running.proxy import Ask, Deny
from steersman.records.addresses import literal

MOST = 128  # connections at the same time
HERE = ("127.0.0.1", "::1")


class Forward(Struct, frozen=True):
    """An address of the sandbox's loopback, and the host of this machine that it stands for."""

    address: str
    port: int
    host: str


def forwards(nearby: Sequence[str]) -> tuple[Forward, ...]:
    """What is passed on of the hosts that may be reached, as `host:port`: this machine's ports."""
    made: dict[tuple[str, int], Forward] = {}
    for name in nearby:
        host, _, port = name.rpartition(":")
        address = literal(host)
        own = HERE if host == "localhost" else (str(address),) if _loops(host) else ()
        for one in own:
            made.setdefault((one, int(port)), Forward(one, int(port), host))
    return tuple(made.values())


def _loops(host: str) -> bool:
    address = literal(host)
    return address is not None and address.is_loopback


class Forwarding:
    """Passes on the connections of listeners until it is closed."""

    def __init__(self, ask: Ask, denied: Deny, resolve: Resolve) -> None:
        self._ask = ask
        self._denied = denied
        self._resolve = resolve
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.reached = False  # whether any port was

    async def serve(self, listener: socket.socket, forward: Forward) -> None:
        """Begin to accept connections of one listener."""

        def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(self._tasks) < MOST:
                self._start(self._attend((reader, writer), forward))
            else:
                writer.close()

        self._servers.append(await asyncio.start_server(greet, sock=listener, limit=LONGEST))

    async def close(self) -> None:
        """Stop accepting, and end every connection."""
        for server in self._servers:
            server.close()
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attend(self, client: Streams, forward: Forward) -> None:
        try:
            async with owned(client):
                host, port = forward.host, forward.port
                try:
                    if reason := await self._ask(host, port):
                        raise NoWay(403, reason)
                    server = await dial(host, port, self._resolve, local=True, limit=LONGEST)
                    self.reached = True
                except NoWay as end:
                    if end.status == 403:
                        self._denied(host, port, end.why)
                    return
                async with owned(server):
                    await tunnel(client, server)
        except (OSError, asyncio.IncompleteReadError):
            return  # someone went away
