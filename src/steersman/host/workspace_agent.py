"""The agent beside the code: it works in one folder of this machine for hosts on others.

One agent runs for each folder, and stays for a while when nobody is connected, so that commands go
on while a line is cut. Whoever may open its socket is the user whose agent it is.
"""

import asyncio
import fcntl
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

from msgspec.structs import replace

from steersman.governance.environment import command_environ
from steersman.governance.policy import Blank, Book
from steersman.governance.remembering import Forgetful
from steersman.host.masking import Secrets
from steersman.identity.settings import cache_folder, config_file, data_folder
from steersman.operations.workspace import Workspace
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.private_files import make_private, make_private_folder
from steersman.records.settings import Settings
from steersman.threads.remote.agent import Agent
from steersman.threads.remote.bench import Opening
from steersman.threads.remote.calling import Lines
from steersman.threads.remote.frames import LARGEST
from steersman.threads.remote.wires import StreamWire
from steersman.threads.remote.words import Open
from steersman.threads.resources import HostResources, Machine
from steersman.threads.systems import Setup

STAYS = 600.0  # seconds that an agent without any line stays
_LONGEST_SOCKET = 100  # bytes of a socket's path, with some to spare
_BEGINS = 30.0  # seconds until an agent must answer that was just started


class Unreadable(Blank):
    """What rules of the host keep from being read, and nothing else of them."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._patterns = patterns

    def unreadable(self) -> tuple[str, ...]:
        """The patterns."""
        return self._patterns


class Workplace:
    """What an agent needs of this machine."""

    def __init__(self, folder: str, environ: Mapping[str, str], state: str = "agent") -> None:
        self.workspace = Workspace.open(folder)
        self._environ = environ
        self._data = data_folder(environ)
        self._state = self._data / state
        make_private_folder(self._state)
        self._home = os.path.realpath(environ.get("HOME") or os.path.expanduser("~"))
        self._private = (str(self._data), str(config_file(environ).parent))
        self.resources = HostResources(
            Machine(str(self._state), environ, self._home, self._private)
        )
        self.agent = self._agent()

    def _agent(self) -> Agent:
        return Agent(self.workspace.root, self._home, self._state, self.prepare)

    async def prepare(self, asked: Open) -> Opening:
        """A setup for what a host asks; files are read in another thread."""
        return await asyncio.to_thread(self._prepared, asked)

    def _prepared(self, asked: Open) -> Opening:
        rules = Unreadable(asked.unreadable)
        opening = self._opening(asked.settings, rules, asked.exceptions)
        return replace(opening, masks=tuple(sorted(opening.redactor.values)))

    def _opening(
        self, settings: Settings, rules: Book, exceptions: tuple[str, ...] = ()
    ) -> Opening:
        root = self.workspace.root
        redactor = Secrets(root, self._environ, self._data, settings).redactor()
        setup = Setup(
            settings=settings,
            workspace=self.workspace,
            environ=command_environ(self._environ, settings.environment),
            objects=self.agent.objects,
            state=str(self._state),
            home=self._home,
            private=self._private,
            cache=cache_folder(self._environ, root),
            rules=rules,
            memory=Forgetful(),
            surroundings=self._environ,
            trusted=False,
            exceptions=exceptions,
            resources=self.resources,
            resolved=lambda settings: settings,
            configure=_not_here,
        )
        return Opening(setup, redactor)

    async def close(self) -> None:
        """End everything."""
        await self.agent.close()
        await self.resources.close()


def _not_here() -> NoReturn:
    raise UsageProblem("Your settings are not on the machine of the workspace.")


def socket_of(folder: str, environ: Mapping[str, str]) -> str:
    """The socket of a folder's agent, in a folder that only its person can enter."""
    name = sha256(os.fsencode(folder)).hexdigest()[:16]
    base = str(data_folder(environ) / "agent" / "lines")
    if len(os.fsencode(base)) + len(name) + 6 > _LONGEST_SOCKET:
        short = sha256(os.fsencode(base)).hexdigest()[:8]
        base = f"/tmp/steersman-{os.getuid()}-{short}"
    make_private_folder(Path(base))
    found = os.lstat(base)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise SteersmanError(f"{base} can be entered by others.", "The agent is not started there.")
    return f"{base}/{name}.sock"


async def stay(folder: str, environ: Mapping[str, str]) -> None:
    """Be the agent of a folder until nobody has needed it for a while; only one can be."""
    workplace = Workplace(folder, environ)
    path = socket_of(workplace.workspace.root, environ)
    held = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    if not await _alone(held, path):
        os.close(held)
        return
    with suppress(FileNotFoundError):
        os.unlink(path)
    lines = Lines(workplace.agent.begin)
    connected = set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connected.add(task)
        try:
            await lines.serve(StreamWire(reader, writer))
        finally:
            connected.discard(task)

    before = os.umask(0o177)
    try:
        server = await asyncio.start_unix_server(serve, path, limit=LARGEST + 4)
    finally:
        os.umask(before)
    try:
        await unneeded(lines, connected, workplace)
    finally:
        server.close()
        with suppress(FileNotFoundError):
            os.unlink(path)
        for task in connected:
            task.cancel()
        await workplace.close()
        os.close(held)


async def _alone(held: int, path: str) -> bool:
    """Whether this is the folder's only agent; one that is ending is waited for."""
    until = time.monotonic() + _BEGINS
    while True:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if (other := _connected(path)) is not None:
                other.close()
                return False
            if time.monotonic() > until:
                raise SteersmanError("Another workspace agent neither answers nor ends.") from None
        await asyncio.sleep(0.02)


async def unneeded(lines: Lines, connected: set[asyncio.Task[None]], workplace: Workplace) -> str:
    """Say why an agent ends, when nobody was connected for long: a cut line is given up before.

    Where the folder is gone, there is nothing to wait for.
    """
    alone = 0.0
    while alone < STAYS or lines.open:
        await asyncio.sleep(5)
        lines.give_up()
        await workplace.agent.leave_gone()
        alone = 0.0 if connected else alone + 5
        if alone and not await asyncio.to_thread(os.path.isdir, workplace.workspace.root):
            return "The folder of the workspace is gone."
    return "Nobody used this line for a long time."


def attach(folder: str, environ: Mapping[str, str]) -> None:
    """Be a line between standard input and output and a folder's agent, which is started first
    where none runs."""
    try:
        root = Workspace.open(folder).root
    except UsageProblem as problem:
        raise UsageProblem(problem.what, "The agent looked for it on its machine.") from None
    path = socket_of(root, environ)
    line = _connected(path)
    if line is None:
        _start(root, environ)
        until = time.monotonic() + _BEGINS
        while (line := _connected(path)) is None:
            if time.monotonic() > until:
                raise SteersmanError("The workspace agent does not start.")
            time.sleep(0.02)
    _pass_on(line)


def _connected(path: str) -> socket.socket | None:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.connect(path)
    except OSError:
        line.close()
        return None
    return line


def _start(folder: str, environ: Mapping[str, str]) -> None:
    """Start an agent that stays; what goes wrong with it is in its file."""
    told = Path(data_folder(environ), "agent", "agent.log")
    make_private_folder(told.parent)
    make_private(told)
    with open(told, "ab") as errors:
        subprocess.Popen(
            [sys.executable, "-m", "steersman", "workspace", "agent", "--stay", "--", folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=dict(environ),
            start_new_session=True,
            cwd="/",
        )


def _pass_on(line: socket.socket) -> None:
    """Copy bytes both ways until either end is closed."""

    def outwards() -> None:
        with suppress(OSError):
            while data := line.recv(65_536):
                view = memoryview(data)
                while view:
                    view = view[os.write(1, view) :]
        os._exit(0)  # standard input may never end

    threading.Thread(target=outwards, daemon=True).start()
    with suppress(OSError):
        while data := os.read(0, 65_536):
            line.sendall(data)
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
