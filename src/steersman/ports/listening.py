"""Listening at an address: which names a server is known by, and a server that ends politely."""

import asyncio
import ipaddress
import resource
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from h11 import IDLE
from uvicorn.protocols.http.h11_impl import H11Protocol

from steersman.records.errors import Exit, UsageProblem

GRACE = 2  # seconds that answers under way have at the end
CONNECTIONS = 65_536
PATIENCE = 20.0  # seconds in which the head of a request must have arrived
UNREAD = 60.0  # seconds after which a client is cut that takes nothing of what it asked for


def names_of(host: str, public: Sequence[str]) -> list[str]:
    """The names under which a server that listens at `host` may be called."""
    if not is_loopback(host) and not public:
        raise UsageProblem(
            f"{host} can be reached from other machines.",
            "Whoever has the token could then use your tools over the network, unencrypted.",
            "Listen at 127.0.0.1, or name the server with --public NAME if you mean it.",
        )
    here = [f"[{host}]" if ":" in host else host]
    return [*dict.fromkeys([*here, "127.0.0.1", "localhost", "[::1]", *public])]


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address_from(text: str, default: int) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, `:PORT`, `PORT` or `HOST`."""
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = ("", text) if text.isdigit() else (text, str(default))
    elif text.startswith("[") and text.endswith("]"):
        host, port = text, str(default)
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdigit() or int(port) > 65535:
        raise UsageProblem(f"“{text}” is not an address.", try_this="Use HOST:PORT.")
    return host, int(port)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        made = socket.create_server((host, port), family=family, reuse_port=False)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageProblem(f"Cannot listen at {host}, port {port}.", why) from error
    # asyncio sets it only where a socket says that it is TCP; connections inherit it.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _make_room() -> None:
    """Let this process have as many connections as it may, not as few as a shell gives.

    No more than anyone needs: programs that it starts may close each number up to the limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, CONNECTIONS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def serve(
    app: Any,
    listening: socket.socket,
    before: Callable[[], None] = lambda: None,
    **more: Any,
) -> None:
    """Serve until the task is cancelled; what is under way gets a moment to end.

    `before` that ends what would not end by itself.
    """
    _make_room()
    more = {"ws": "none", "lifespan": "on", **more}
    config = uvicorn.Config(
        app,
        http=Impatient,
        proxy_headers=False,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
        **more,
    )
    server = Unsignalled(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        before()
        server.should_exit = True
        await serving
        raise


async def until_told(work: Callable[[], Awaitable[None]]) -> Exit:
    """Work until it is done, or until a signal asks to stop; either is a good end."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work())
    told: list[int] = []

    def stop(number: int) -> None:
        if not told:
            task.cancel()
        told.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop, number)
    try:
        await task
    except asyncio.CancelledError:
        if not told:
            raise
    return Exit.DONE


def shown(listening: socket.socket) -> str:
    """Where a socket listens, as in a URL."""
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Unsignalled(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield


def sockets(*given: Any, **named: Any) -> asyncio.Protocol:
    """As `ws`: a connection becomes a WebSocket; what that needs is imported for the first one."""
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    return WebSocketsSansIOProtocol(*given, **named)


class Impatient(H11Protocol):
    """A connection whose requests do not arrive, or whose answers are not read, is closed."""

    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Someone connected, and has some time to say what they want."""
        super().connection_made(transport)
        self._waiting = self.loop.call_later(PATIENCE, transport.close)

    def data_received(self, data: bytes) -> None:
        """Take what came; a head that is not complete has some time left."""
        super().data_received(data)
        if self.conn.their_state is IDLE and not self.transport.is_closing():
            if self._waiting is None:
                self._waiting = self.loop.call_later(PATIENCE, self.transport.close)
        else:
            self._stop_waiting()

    def pause_writing(self) -> None:
        """The client does not read."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        self._stop_unread()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more will come."""
        self._stop_waiting()
        self._stop_unread()
        super().connection_lost(exc)

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
