"""A machine that is reached by ssh: a real `sshd` with keys and settings of its own.

It listens on loopback, or in a network namespace at the end of a cable to the host's.
"""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import pytest

from tests.cli.kit import eventually
from tests.remote.conftest import Box
from tests.world import PATIENCE, STEER

_PLACES = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"  # sshd is not on everybody's PATH
_SERVER = """
ListenAddress {address}:{port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/own_key.pub
PidFile none
AuthenticationMethods publickey
StrictModes no
UsePAM no
SetEnv HOME={home} STEERSMAN_HOME={home}/data PATH={path} LANG=C.UTF-8 TZ=UTC
"""
_CLIENT = """
Host box
  HostName {address}
  Port {port}
  HostKeyAlias box
  User {user}
  IdentityFile {folder}/own_key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  StrictHostKeyChecking yes
"""


class Reached:
    """A host, the machine it reaches by ssh, and the ways to cut what is between them."""

    def __init__(self, box: Box, config: Path, folder: Path, environ: dict[str, str]) -> None:
        self.box = box
        self.cable: Cable | None = None
        self._config = config
        self._folder = folder
        self._environ = environ
        self._server: subprocess.Popen[bytes] | None = None

    # The host

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Run `steer` on the host and go on."""
        return subprocess.Popen(
            [*self._in("host"), *STEER, *arguments],
            cwd=self._folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def steer(self, *arguments: str) -> str:
        """What `steer` prints on the host when it has done as it was told."""
        running = self.start(*arguments)
        said, errors = running.communicate(timeout=PATIENCE)
        assert running.returncode == 0, errors
        return said

    def _in(self, machine: str) -> list[str]:
        return ["ip", "netns", "exec", self.cable.spaces[machine]] if self.cable else []

    # The server

    def listen(self, sshd: str, settings: Path) -> None:
        """Let the other machine be reached."""
        self._server = subprocess.Popen([*self._in("box"), sshd, "-D", "-e", "-f", str(settings)])
        reached = ["ssh", "-F", str(self._config), "-o", "BatchMode=yes", "box", "true"]
        eventually(lambda: not subprocess.run([*self._in("host"), *reached]).returncode)

    def close(self) -> None:
        """End what runs there."""
        self.box.end()
        if self._server is not None:
            for session in self.sessions():
                _kill(session)
            self._server.kill()
            self._server.wait()

    # What is between them

    def clients(self) -> list[int]:
        """The `ssh` programs that the host has."""
        return processes(lambda _, words: words[:1] == ["ssh"] and str(self._config) in words)

    def sessions(self) -> list[int]:
        """The connections that the server has."""
        assert self._server is not None
        parent = self._server.pid
        return processes(lambda process, words: any(words) and _parent(process) == parent)

    def cut(self, ends: Callable[[], list[int]]) -> None:
        """Kill one end of the connection, as soon as there is one."""
        for process in eventually(ends):
            _kill(process)


class Cable:
    """Two machines with networks of their own, and the cable between them."""

    HOST, BOX = "198.18.0.1", "198.18.0.2"

    def __init__(self) -> None:
        token = token_hex(3)
        self.spaces = {"host": f"steer-host-{token}", "box": f"steer-box-{token}"}

    def unplug(self) -> None:
        """Nothing comes through any more, and neither side gets an error."""
        _ip("-n", self.spaces["box"], "link", "set", "cable", "down")

    def plug_in(self) -> None:
        """All is as before."""
        _ip("-n", self.spaces["box"], "link", "set", "cable", "up")


@contextmanager
def cable() -> Iterator[Cable]:
    """A cable between two machines; both are gone afterwards."""
    if os.geteuid() or not shutil.which("ip"):
        pytest.skip("machines of their own need root and iproute2; it needs root")
    made = Cable()
    host, box = made.spaces.values()
    if subprocess.run(["ip", "netns", "add", host], capture_output=True).returncode:
        pytest.skip("namespaces may not be made here: it needs root with that right")
    try:
        _ip("netns", "add", box)
        try:
            _ip("-n", host, "link", "add", "cable", "type", "veth", "peer", "cable", "netns", box)
            for space, address in ((host, made.HOST), (box, made.BOX)):
                _ip("-n", space, "address", "add", f"{address}/24", "dev", "cable")
                _ip("-n", space, "link", "set", "lo", "up")
                _ip("-n", space, "link", "set", "cable", "up")
            yield made
        finally:
            _ip("netns", "delete", box)
    finally:
        _ip("netns", "delete", host)


@contextmanager
def reached(
    tmp_path: Path, workspace: Path, environ: dict[str, str], between: Cable | None = None
) -> Iterator[Reached]:
    """A machine that has the project and is reached by ssh; the host's own folder is empty."""
    sshd = shutil.which("sshd", path=_PLACES)
    if sshd is None:
        pytest.skip("openssh-server is not installed")
    if not os.geteuid():
        Path("/run/sshd").mkdir(exist_ok=True)  # a server of root's does not start without it
    home = tmp_path / "box"
    home.mkdir()
    workspace.rename(home / "project")
    workspace.mkdir()
    for key in ("host_key", "own_key"):
        made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / key)]
        subprocess.run(made, check=True)
    (tmp_path / "known_hosts").write_text(f"box {(tmp_path / 'host_key.pub').read_text()}")
    address, port = (between.BOX, 22) if between else ("127.0.0.1", _free_port())
    facts = {"address": address, "port": port, "folder": tmp_path, "home": home}
    facts |= {"user": getpass.getuser(), "path": environ["PATH"]}
    settings, config = tmp_path / "sshd_config", tmp_path / "ssh_config"
    settings.write_text(_SERVER.format(**facts))
    config.write_text(_CLIENT.format(**facts))
    environ["STEERSMAN_SSH_COMMAND"] = f"ssh -F {config}"
    environ["STEERSMAN_REMOTE_COMMAND"] = f"{sys.executable} -m steersman"
    there = Reached(Box(home, home / "project"), config, workspace, environ)
    there.cable = between
    try:
        there.listen(sshd, settings)
        yield there
    finally:
        there.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def processes(wanted: Callable[[int, list[str]], bool]) -> list[int]:
    """The processes that are wanted, by their number and their words."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                words = (entry / "cmdline").read_text(errors="replace").split("\0")
                if wanted(int(entry.name), words):
                    found.append(int(entry.name))
    return found


def _parent(process: int) -> int:
    """Who started a process; its name may have brackets in it."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"
