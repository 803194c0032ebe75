"""A bad line: connections through it break after so many bytes of answers."""

import socket
import threading
from typing import Self


class Relay:
    """Listens at another address of this machine, at the same port; the `first` ones break.

    With a `status` those get that answer instead, as from a proxy whose server is away.
    """

    def __init__(
        self, at: str, breaks_after: int | None, first: int | None = None, status: int = 0
    ) -> None:
        host, _, port = at.rpartition(":")
        self._target = (host, int(port))
        self._breaks_after = breaks_after
        self._first = first
        self._status = status
        self.connections = 0
        self.followed = threading.Event()  # someone asked for events
        self._listening = socket.create_server(("127.0.0.2", int(port)))
        self.url = f"http://127.0.0.2:{port}"
        self._thread = threading.Thread(target=self._accept)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            if self._status and self.connections <= (self._first or 0):
                near.recv(65536)
                near.sendall(
                    f"HTTP/1.1 {self._status} Away\r\nContent-Length: 0\r\n"
                    "Connection: close\r\n\r\n".encode()
                )
                near.close()
                continue
            try:
                far = socket.create_connection(self._target)
            except OSError:  # nobody is there
                near.close()
                continue
            breaks = self._first is None or self.connections <= self._first
            most = self._breaks_after if breaks else None
            up = threading.Thread(target=self._pass, args=(near, far, None))
            down = threading.Thread(target=self._pass, args=(far, near, most))
            up.start(), down.start()

    def _pass(self, source: socket.socket, target: socket.socket, most: int | None) -> None:
        """Pass bytes on until there are no more, or there were too many."""
        passed = 0
        try:
            while data := source.recv(512):
                target.sendall(data if most is None else data[: most - passed])
                passed += len(data)
                if b"/events" in data:
                    self.followed.set()
                if most is not None and passed >= most:
                    break
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                one.close()
