"""Machines on one computer: each has a network, a process tree and a name of its own.

All of them reach one Postgres server over a link that can be cut, and nothing else.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import randbelow, token_hex
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.faults.postgres import Line
from tests.world import STEER

_TOOLS = ("ip", "unshare", "hostname")
_NAMED = 'hostname "$1" && shift && exec "$@"'
_ALONE = (
    "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts", "sh", "-c", _NAMED, "sh",
)  # fmt: skip


class Machine:
    """Where commands run; `link` is its end of the cable on our side."""

    def __init__(self, name: str, namespace: str, link: str, environ: dict[str, str]) -> None:
        self.name = name
        self.environ = environ
        self._namespace = namespace
        self._link = link
        self._started: list[subprocess.Popen[str]] = []

    def start(self, folder: Path, *arguments: str) -> "subprocess.Popen[str]":
        """Run `steer` there and go on; all it starts ends with it."""
        there = ["ip", "netns", "exec", self._namespace, *_ALONE, self.name]
        process = subprocess.Popen(
            [*there, *STEER, *arguments],
            cwd=folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def run(self, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run `steer` there to its end."""
        running = self.start(folder, *arguments)
        output, errors = running.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, running.returncode, output, errors)

    def switch_off(self) -> None:
        """End what runs there."""
        for process in self._started:
            process.kill()
            process.communicate()

    def unplug(self) -> None:
        """Cut it off."""
        _ip("link", "set", self._link, "down")

    def plug_in(self) -> None:
        """Let it reach the server again."""
        _ip("link", "set", self._link, "up")


@contextmanager
def machines(
    names: tuple[str, ...], url: str, environ: dict[str, str], folder: Path
) -> Iterator[list[Machine]]:
    """Machines that share a database; everything that was made for them is gone afterwards."""
    if os.geteuid() or not all(map(shutil.which, _TOOLS)):
        pytest.skip("machines of their own need root and iproute2; it needs root")
    with ExitStack() as stack:
        yield [stack.enter_context(_machine(name, url, environ, folder)) for name in names]


@contextmanager
def _machine(name: str, url: str, environ: dict[str, str], folder: Path) -> Iterator[Machine]:
    token = token_hex(3)
    namespace, ours, theirs = f"steer-{token}", f"so{token}", f"st{token}"
    network = f"198.18.{1 + randbelow(250)}"
    near, far = f"{network}.1", f"{network}.2"
    if subprocess.run(["ip", "netns", "add", namespace], capture_output=True).returncode:
        pytest.skip("namespaces may not be made here: it needs root with that right")
    try:
        _ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", namespace)
        _ip("address", "add", f"{near}/24", "dev", ours)
        _ip("link", "set", ours, "up")
        _ip("-n", namespace, "address", "add", f"{far}/24", "dev", theirs)
        for device in ("lo", theirs):
            _ip("-n", namespace, "link", "set", device, "up")
        parts = urlsplit(url)
        line = Line(parts.port or 5432, near)
        reached = parts._replace(netloc=f"{parts.username}@{near}:{line.port}")
        home = folder / name
        home.mkdir()
        own = {"STEERSMAN_HOME": str(home), "STEERSMAN_STORE": urlunsplit(reached)}
        own["STEERSMAN_COMMAND_WAIT"] = "600"
        machine = Machine(name, namespace, ours, {**environ, **own})
        try:
            yield machine
        finally:
            machine.switch_off()
            line.close()
    finally:
        _ip("netns", "delete", namespace)  # its end of the cable goes with it, and so does ours


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"
