"""Another machine in the same one that offers a folder over HTTP, and a bad line to it."""

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.http.kit import Served
from tests.remote.conftest import SECRET


class Webbox(Served):
    """Its `steer serve`, its project, a token that may work there and nowhere else."""

    def __init__(self, home: Path, project: Path, *flags: str, scheme: str = "http") -> None:
        self.project = project
        super().__init__(home, project, *flags, BOX_API_TOKEN=SECRET)
        self.address = f"{scheme}://{self.at}{project}"
        self.for_project = self.make_token("laptop")

    def make_token(self, name: str, *rights: str, folder: Path | None = None) -> str:
        """A new token for a folder, the project where none is named."""
        may = [word for right in rights or ("work",) for word in ("--may", right)]
        place = os.path.realpath(folder or self.project)
        return self.steer("token", "make", name, *may, "--workspace", place).strip()


class Cuttable:
    """Listens at another address of this machine, at the same port, until all lines are cut."""

    def __init__(self, at: str) -> None:
        host, _, port = at.rpartition(":")
        self._target = (host, int(port))
        self._listening = socket.create_server(("127.0.0.2", int(port)))
        self.at = f"127.0.0.2:{port}"
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._known = threading.Condition()
        self.connections = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._end()

    def cut(self) -> None:
        """Cut the line, as soon as there is one."""
        with self._known:
            self._known.wait_for(lambda: self._pairs, 60)
        self._end()

    def _end(self) -> None:
        with self._known:
            pairs, self._pairs = self._pairs, []
        for one in (end for pair in pairs for end in pair):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
                far = socket.create_connection(self._target)
            except OSError:
                return
            with self._known:
                self.connections += 1
                self._pairs.append((near, far))
                self._known.notify_all()
            for ends in ((near, far), (far, near)):
                threading.Thread(target=_pass, args=ends, daemon=True).start()


def _pass(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for one in (source, target):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
