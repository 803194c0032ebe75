"""Rounds on Postgres: a server that can be restarted and crashed, behind a line that can be cut."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.faults.plan import Fault, Plan
from tests.faults.playing import Arena
from tests.faults.round import Ground, folder_for
from tests.postgres import Server, a_server, database

_CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'steersman'"


class Line:
    """A way to a server by TCP that can be cut and stalled."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._port = port
        self._flowing = threading.Event()
        self._flowing.set()
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._door = socket.create_server((host, 0))
        self.port = int(self._door.getsockname()[1])
        threading.Thread(target=self._welcome, daemon=True).start()

    def cut(self) -> None:
        """Break every connection that there is."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            _hang_up(pair)

    def stall(self, seconds: float) -> None:
        """Let nothing through for a while."""
        self._flowing.clear()
        time.sleep(seconds)
        self._flowing.set()

    def close(self) -> None:
        """End it."""
        self._flowing.set()
        self._door.close()
        self.cut()

    def _welcome(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._port))
                except OSError:
                    client.close()
                    continue
                with self._lock:
                    self._pairs.append((client, server))
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                sink.sendall(data)
        _hang_up((source, sink))


def _hang_up(pair: tuple[socket.socket, socket.socket]) -> None:
    for end in pair:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def postgres_arena(server: Server | None = None) -> Iterator[Arena]:
    """Grounds on one server, each with a database and a line of its own."""
    if server is not None:
        yield lambda plan: _ground(plan, server)
        return
    with a_server() as own:
        yield lambda plan: _ground(plan, own)


@contextmanager
def _ground(plan: Plan, server: Server) -> Iterator[Ground]:
    with database(server.url) as direct:
        parts = urlsplit(direct)
        line = Line(parts.port or 5432)
        through = parts._replace(netloc=f"{parts.username}@127.0.0.1:{line.port}")
        strike = _Strike(server, line, direct, Random(plan.seed))
        try:
            with folder_for(plan) as folder:
                yield Ground(folder, urlunsplit(through), direct, strike)
        finally:
            line.close()


class _Strike:
    """The blows that hit the database or the way to it."""

    def __init__(self, server: Server, line: Line, direct: str, dice: Random) -> None:
        self._server = server
        self._line = line
        self._direct = direct
        self._dice = dice

    def __call__(self, fault: Fault) -> None:
        match fault.blow:
            case "restart":
                self._server.restart()
            case "crash":
                self._server.kill()
                self._server.start()
            case "stall":
                self._line.stall(fault.seconds)
            case _ if self._dice.random() < 0.5:
                self._line.cut()
            case _:
                with psycopg.connect(self._direct) as connection:
                    connection.execute(_CUT)
