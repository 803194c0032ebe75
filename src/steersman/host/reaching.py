"""How a workspace on another machine is reached: over `ssh`, which starts its agent there, or
over HTTPS (`reaching_web.py`)."""

import asyncio
import os
import shlex
import signal
from collections.abc import Mapping
from contextlib import suppress
from secrets import token_hex

from steersman.records.errors import SteersmanError
from steersman.records.far import Far, far
from steersman.threads.remote.answering import Reach
from steersman.threads.remote.calling import Hopeless
from steersman.threads.remote.frames import LARGEST, Frame, Garbled
from steersman.threads.remote.wires import StreamWire

SSH = "STEERSMAN_SSH_COMMAND"  # another program than `ssh`, with its options
THERE = "STEERSMAN_REMOTE_COMMAND"  # what `steer` is called on the other machine
_TOLD = 2000  # bytes of what ssh said that are kept


class SshWire(StreamWire):
    """A connection through a program; what it says of its own failure is shown."""

    def __init__(self, child: asyncio.subprocess.Process, host: str) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        super().__init__(child.stdout, child.stdin)
        self._child = child
        self._host = host
        self._heard = False
        self._ending: asyncio.Task[None] | None = None

    async def read(self) -> Frame | None:
        """The next frame; the first one shows whether there is an agent at all."""
        try:
            frame = await super().read()
        except Garbled as wrong:
            if self._heard:
                raise
            raise Hopeless(
                f"{self._host} does not answer as a workspace agent does.",
                "Its shell may print something for every session, or `steer` there is another one.",
                f"Try it: ssh {self._host} steer --version",
            ) from wrong
        if frame is None and not self._heard:
            raise await self._why()
        self._heard = True
        return frame

    async def write(self, frame: Frame) -> None:
        """Send a frame; where nobody is there to take the first, what was said instead is shown."""
        try:
            await super().write(frame)
        except OSError:
            if not self._heard:
                await self.read()
            raise

    async def _why(self) -> SteersmanError:
        assert self._child.stderr is not None
        said = (await self._child.stderr.read(_TOLD)).decode("utf-8", "replace").strip()
        code = await self._child.wait()
        last = said.splitlines()[-1] if said else f"ssh ended with {code}."
        if code in (126, 127):
            return SteersmanError(
                f"There is no Steersman on {self._host}.", last,
                "Install it there: pip install steersman",
            )  # fmt: skip
        if code == 2 and said:
            return SteersmanError(*said.splitlines()[:3])
        return SteersmanError(
            f"{self._host} cannot be reached.", last, f"Try it: ssh {self._host} true"
        )

    def close(self) -> None:
        """End the connection and the program."""
        super().close()
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())

    async def _end(self) -> None:
        if self._child.returncode is None:
            with suppress(ProcessLookupError):
                # Not its own `terminate`, which may take its end from whoever waits for that.
                os.kill(self._child.pid, signal.SIGTERM)
        await self._child.wait()


def ssh_words(place: Far, environ: Mapping[str, str]) -> list[str]:
    """The command that starts an agent, or finds the one that runs, and is the line to it."""
    program = shlex.split(environ.get(SSH) or "ssh")
    there = environ.get(THERE) or "steer"
    port = ["-p", str(place.port)] if place.port else []
    quiet = ["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5"]
    agent = f"{there} workspace agent --stdio -- {shlex.quote(place.path)}"
    return [*program, *quiet, *port, "--", place.host, agent]


def reach(address: str, environ: Mapping[str, str]) -> Reach:
    """A line to the agent of a workspace, not opened yet."""
    place = far(address)
    if place.scheme != "ssh":
        from steersman.host.reaching_web import dialing

        return Reach(token_hex(16), address, dialing(place, environ))

    async def dial() -> SshWire:
        words = ssh_words(place, environ)
        try:
            child = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LARGEST + 4,
                env=dict(environ),
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise SteersmanError(
                f"The program {words[0]} is not installed.", try_this="Install OpenSSH."
            ) from error
        return SshWire(child, place.host)

    return Reach(token_hex(16), address, dial)
