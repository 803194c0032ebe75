"""A way through SSH to a model server on another machine, opened when first used.

The system's own `ssh` does it, so keys, agents, jump hosts and `~/.ssh/config` count. A small shell
is between: it ends `ssh` when its input closes, so no tunnel outlives the host, however the
host ends.
"""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from steersman.records.dialogue import Driver, Event, Prompt
from steersman.records.errors import DriverProblem, UsageProblem
from steersman.records.patterns import pattern

# $@ is the command. Whoever reads descriptor 3 ends with it; the answer is the command's own code.
_GUARD = (
    'exec 3<&0; "$@" </dev/null 3<&- & it=$!; '
    "{ cat <&3 >/dev/null; kill $it; } 2>/dev/null & exec 3<&-; wait $it"
)
_PLAIN = pattern(r"[A-Za-z0-9_.%:\[\]-]+")
SECONDS = 20.0
ATTEMPTS = 3
LEAVING = 3.0
LAST_WORDS = 4096


class Address(Struct, frozen=True):
    """Where `ssh` goes; the port is its own choice when 0."""

    host: str
    user: str = ""
    port: int = 0

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        return f"{user}{self.host}{f':{self.port}' if self.port else ''}"


def read_address(text: str) -> Address:
    """The address in `ssh://user@host:port`."""
    try:
        parts = urlsplit(text)
        port = parts.port or 0
    except ValueError:
        parts, port = urlsplit(""), 0
    host, user = parts.hostname or "", parts.username or ""
    plain = all(_PLAIN.fullmatch(word) and word[0] != "-" for word in (host, user or "x") if word)
    if parts.scheme != "ssh" or not host or not plain or parts.path not in ("", "/"):
        raise UsageProblem(
            f"“{text}” is not an SSH address.", try_this="Write it as ssh://user@host:port."
        )
    if parts.password:
        raise UsageProblem(
            "An SSH address cannot contain a password.", try_this="Use a key: ssh-copy-id."
        )
    return Address(host, user, port)


def command(address: Address, local: int, remote: tuple[str, int]) -> list[str]:
    """The `ssh` that forwards a loopback port to `remote`, asks nothing, and fails rather than
    are there without its forwarding."""
    host = f"[{remote[0]}]" if ":" in remote[0] else remote[0]
    options = {
        "BatchMode": "yes",
        "ExitOnForwardFailure": "yes",
        "ConnectTimeout": "10",
        "ServerAliveInterval": "15",
        "ServerAliveCountMax": "3",
    }
    said = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    port = ["-p", str(address.port)] if address.port else []
    user = ["-l", address.user] if address.user else []
    forward = f"127.0.0.1:{local}:{host}:{remote[1]}"
    return ["ssh", "-N", "-T", *said, *port, *user, "-L", forward, "--", address.host]


class Tunnel:
    """One tunnel; opened again when it has broken. `close` ends it."""

    def __init__(
        self,
        address: Address,
        remote: tuple[str, int],
        environ: Mapping[str, str],
        seconds: float = SECONDS,
    ) -> None:
        self._address = address
        self._seconds = seconds
        self._remote = remote
        self._environ = dict(environ)
        self._process: asyncio.subprocess.Process | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._words = b""
        self._port = 0
        self._opening = asyncio.Lock()

    @property
    def pid(self) -> int:
        """The process that stands for it; 0 while it is not open."""
        return self._process.pid if self._process else 0

    async def port(self) -> int:
        """The loopback port that leads to the other side."""
        async with self._opening:
            if self._process is not None and self._process.returncode is None:
                return self._port
            for attempt in range(ATTEMPTS):
                try:
                    return await self._open()
                except _PortTaken:
                    if attempt == ATTEMPTS - 1:
                        raise self._problem("No free port was found on this machine.") from None
        raise AssertionError("unreachable")

    async def _open(self) -> int:
        local = _free_port()
        words = command(self._address, local, self._remote)
        try:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh", "-c", _GUARD, "tunnel", *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=self._environ,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise self._problem(error.strerror or str(error)) from error
        self._process, self._port, self._words = process, local, b""
        self._hearing = asyncio.create_task(self._hear(process), name="tunnel")
        try:
            async with asyncio.timeout(self._seconds):
                await self._accepting(process, local)
        except TimeoutError:
            await self.close()
            raise self._problem(f"It was not open after {self._seconds:.0f} seconds.") from None
        except BaseException:
            await self.close()
            raise
        return local

    async def _accepting(self, process: asyncio.subprocess.Process, local: int) -> None:
        """Wait until the port answers; `ssh` listens only once it has been let in."""
        while not await _answers(local):
            if process.returncode is not None:
                if self._hearing is not None:
                    await self._hearing
                words = self._words.decode(errors="replace")
                if "Address already in use" in words or "cannot listen" in words:
                    raise _PortTaken
                raise self._problem(words)
            await asyncio.sleep(0.02)

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        """Keep the last words of `ssh`; one that is not listened to would hang one day."""
        assert process.stderr is not None
        while said := await process.stderr.read(4096):
            self._words = (self._words + said)[-LAST_WORDS:]

    def _problem(self, words: str) -> DriverProblem:
        lines = [line.strip() for line in words.splitlines() if line.strip()]
        why = lines[-1] if lines else "It gave no reason."
        try_this = f"Try it yourself: ssh {_by_hand(self._address)} true"
        if "not found" in why:
            try_this = "Install the OpenSSH client."
        return DriverProblem(
            f"The SSH tunnel to {self._address} cannot be opened.", why, try_this, kind="network"
        )

    async def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(LEAVING):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if self._hearing is not None:
            self._hearing.cancel()
            await asyncio.wait([self._hearing])
            self._hearing = None


class TunnelDriver:
    """A model behind a tunnel: the driver is made once it is known where the tunnel begins."""

    def __init__(self, name: str, base_url: str, tunnel: Tunnel, make: Callable[[str], Driver]):
        self.model = name
        self._base_url = base_url
        self._tunnel = tunnel
        self._make = make
        self._port = 0
        self._driver: Driver | None = None

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """One answer, through the tunnel."""
        port = await self._tunnel.port()
        if self._driver is None or port != self._port:
            await close_driver(self._driver)
            self._driver, self._port = self._make(through(self._base_url, port)), port
        async with aclosing(self._driver.stream(prompt)) as events:
            async for event in events:
                yield event

    async def aclose(self) -> None:
        """Close the driver; the tunnel belongs to who made it."""
        driver, self._driver = self._driver, None
        await close_driver(driver)


class _PortTaken(Exception):
    """Someone else took the port between choosing and using it."""


async def close_driver(driver: Driver | None) -> None:
    """Close what a driver keeps open, if it keeps anything."""
    close = getattr(driver, "aclose", None)
    if close is not None:
        await close()


def target(base_url: str) -> tuple[str, int]:
    """The host and port of a server, as seen from the other side."""
    parts = urlsplit(base_url)
    return parts.hostname or "127.0.0.1", parts.port or 80


def through(base_url: str, port: int) -> str:
    """The same address, by way of a loopback port."""
    return urlunsplit(urlsplit(base_url)._replace(netloc=f"127.0.0.1:{port}"))


def _by_hand(address: Address) -> str:
    user = f"{address.user}@" if address.user else ""
    return f"{f'-p {address.port} ' if address.port else ''}{user}{address.host}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
