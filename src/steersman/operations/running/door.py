"""The one way from a command's sandbox to the network: a proxy in the host that asks about hosts.

The sandbox has a network with nothing else in it. `stage.py` listens there and hands the listener
out through an inherited descriptor; the host answers on it. So there is no relay, no socket on the
disk, and nobody but the command has the token for this door. Ports of this machine that may be
reached are passed on from the same numbers of the sandbox (`forwarding.py`).
"""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from types import TracebackType

from steersman.operations.running.dialling import Resolve, look_up
from steersman.operations.running.forwarding import Forward, Forwarding
from steersman.operations.running.proxy import USER, Ask, Deny, Local, Proxy, never

PORT = 3128
STAGE = Path(__file__).with_name("stage.py").read_text(encoding="utf-8")
# A venv's own interpreter may be out of sight in the sandbox; the one it was made from needs less.
PYTHON = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
HERE = "localhost,127.0.0.1,::1"  # inside the sandbox, where the thread's own servers are
MOST_FORWARDS = 64

_PROXY = (
    "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    "npm_config_proxy", "npm_config_https_proxy", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY",
    "PIP_PROXY", "CARGO_HTTP_PROXY",
)  # fmt: skip
_NO_PROXY = ("no_proxy", "NO_PROXY", "npm_config_noproxy")


class Door:
    """The network of one command, from before its start until after its end.

    `ask` shows why a host and port may not be reached, or nothing when they may; it is asked for
    every connection, but once for those that come at the same time, and remembering is not done
    here. `denied` learns of every refusal. `local` names hosts of this machine or its network that
    may be reached nevertheless. Open it, start `wrap(command)` in a sandbox with `environ` and
    `descriptors`, and close it when the command has ended.
    """

    def __init__(
        self,
        ask: Ask,
        denied: Deny | None = None,
        *,
        local: Local = never,
        resolve: Resolve = look_up,
        port: int = PORT,
        forwards: Sequence[Forward] = (),
    ) -> None:
        token = token_urlsafe(24)
        self._port = port
        self._proxy = Proxy(token, ask, denied or _ignore, local=local, resolve=resolve)
        self._forwards = forwards[:MOST_FORWARDS]
        self._forwarding = Forwarding(ask, denied or _ignore, resolve)
        self._url = f"http://{USER}:{token}@127.0.0.1:{port}"
        self._ours: socket.socket | None = None
        self._theirs: socket.socket | None = None
        self._arrival: asyncio.Task[None] | None = None

    @property
    def used(self) -> bool:
        """Whether anyone outside was reached."""
        return self.proxy.reached or self._forwarding.reached

    @property
    def environ(self) -> Mapping[str, str]:
        """What programs read to find the way out."""
        return {
            **dict.fromkeys(_PROXY, self._url),
            **dict.fromkeys(_NO_PROXY, HERE),
            "NODE_USE_ENV_PROXY": "1",
        }

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What the command must inherit, under the same numbers, while it is started."""
        return (self._end.fileno(),)

    def wrap(self, command: Sequence[str]) -> list[str]:
        """The command, with the stage before it."""
        numbers = [str(self._end.fileno()), str(self._port)]
        addresses = [f"{one.address}/{one.port}" for one in self._forwards]
        return [PYTHON, "-I", "-S", "-s", "-c", STAGE, *numbers, *addresses, "--", *command]

    @property
    def proxy(self) -> Proxy:
        """Who answers the command."""
        return self._proxy

    async def open(self) -> None:
        """Wait for the sandbox to hand out its listener, in the background."""
        assert self._arrival is None, "a door is for one command"
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._arrival = asyncio.create_task(self._welcome(self._ours), name="door")

    async def close(self) -> None:
        """End every connection and every question; may be called again."""
        if self._arrival is not None:
            self._arrival.cancel()
            await asyncio.wait({self._arrival})
        await self._proxy.close()
        await self._forwarding.close()
        for end in (self._ours, self._theirs):
            if end is not None:
                end.close()

    async def __aenter__(self) -> "Door":
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def _end(self) -> socket.socket:
        assert self._theirs is not None, "the door is not open"
        return self._theirs

    async def _welcome(self, line: socket.socket) -> None:
        """Take the listeners, serve them, and let the command begin."""
        listeners = await _receive(line, 1 + len(self._forwards))
        if listeners:
            await self._proxy.serve(listeners[0])
            for listener in listeners[1:]:
                await self._forward(listener)
            with suppress(OSError):
                line.send(b"+")
        for end in (self._ours, self._theirs):
            if end is not None:
                end.close()

    async def _forward(self, listener: socket.socket) -> None:
        """Serve a listener for a port of this machine, if that is one of those."""
        place = listener.getsockname()[:2]
        for forward in self._forwards:
            if (forward.address, forward.port) == place:
                await self._forwarding.serve(listener, forward)
                return
        listener.close()


def _ignore(host: str, port: int, reason: str) -> None:
    """Nobody wants to know."""


async def _receive(line: socket.socket, most: int) -> list[socket.socket]:
    """The listeners that come through a line; whatever else comes with them is closed."""
    loop = asyncio.get_running_loop()
    came = asyncio.Event()
    loop.add_reader(line, came.set)
    try:
        await came.wait()
    finally:
        loop.remove_reader(line)
    flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
    _, numbers, _, _ = socket.recv_fds(line, 1, most, flags)
    found = []
    for number in numbers:
        os.set_inheritable(number, False)
        arrived = socket.socket(fileno=number)
        if _listens_on_loopback(arrived):
            found.append(arrived)
        else:
            arrived.close()
    return found


def _listens_on_loopback(arrived: socket.socket) -> bool:
    internet = (socket.AF_INET, socket.AF_INET6)
    if arrived.family not in internet or arrived.type != socket.SOCK_STREAM:
        return False
    listens = arrived.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    return bool(listens) and ip_address(arrived.getsockname()[0]).is_loopback
