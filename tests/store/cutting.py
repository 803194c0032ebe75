"""A wire between a store and its server that cuts itself at the worst moment."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from urllib.parse import urlsplit


class Wire:
    """Passes everything on, until it carries a certain word while it is armed.

    `before` cuts before the server gets the word, so nothing of it happens; otherwise the server
    gets it and does it, and its answer is lost.
    """

    def __init__(self, url: str) -> None:
        self._server = (urlsplit(url).hostname, urlsplit(url).port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._word = b""
        self._before = False
        self._open: list[socket.socket] = []
        self.cuts = 0
        port = self._listener.getsockname()[1]
        self.url = url.replace(f":{self._server[1]}/", f":{port}/")
        self._passing = Thread(target=self._accept, daemon=True)
        self._passing.start()

    def arm(self, word: bytes, *, before: bool) -> None:
        """Cut when a client says this next."""
        self._word, self._before = word, before

    def close(self) -> None:
        """Cut everything."""
        for end in [self._listener, *self._open]:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._open += [client, server]
                answers = Event()
                for work in (self._questions, self._answers):
                    Thread(target=work, args=(client, server, answers), daemon=True).start()

    def _questions(self, client: socket.socket, server: socket.socket, cut: Event) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if not self._word or self._word not in data:
                    server.sendall(data)
                    continue
                self._word = b""
                self.cuts += 1
                cut.set()
                if self._before:
                    break
                server.sendall(data)
                return  # the answer ends it
        _hang_up(client, server)

    def _answers(self, client: socket.socket, server: socket.socket, cut: Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if cut.is_set():
                    break
                client.sendall(data)
        _hang_up(client, server)


def _hang_up(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def a_wire(url: str) -> Iterator[Wire]:
    """A wire to a server."""
    wire = Wire(url)
    try:
        yield wire
    finally:
        wire.close()
