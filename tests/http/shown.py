"""Someone who sits at a terminal of a server: sees what it shows, types, and makes it larger."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.http.kit import PATIENCE, Served


class Seat:
    """A socket that is attached to a terminal, and all it has shown so far."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.seen = b""
        self.missed = 0
        self._idle = 0
        self.told: list[dict[str, Any]] = []

    @property
    def closed(self) -> int | None:
        """With which code the server closed it."""
        return self._socket.close_code

    def hear(self) -> None:
        """Take the next frame."""
        frame = self._socket.recv(timeout=PATIENCE)
        if isinstance(frame, bytes):
            self.seen += frame
            self._idle = 0
            return
        told = json.loads(frame)
        self._idle = self._idle + 1 if told["type"] == "heartbeat" else 0
        assert self._idle < 4, f"nothing happens any more: {self.seen[-1000:]!r}"
        if not self._idle:
            self.told.append(told)
            self.missed += told.get("left_out", 0)

    def until(self, words: str) -> None:
        """Wait until it has shown certain words."""
        while words.encode() not in self.seen:
            self.hear()

    def until_told(self, kind: str) -> dict[str, Any]:
        """Wait for a frame about the terminal."""
        while not self.told or self.told[-1]["type"] != kind:
            self.hear()
        return self.told[-1]

    def to_the_end(self) -> dict[str, Any]:
        """How the program ended; the server closes the socket then."""
        told = self.until_told("exit")
        try:
            self.hear()
        except ConnectionClosed:
            return told
        raise AssertionError("something comes after the end")

    def type(self, keys: str) -> None:
        """Type something."""
        self._socket.send(keys.encode())

    def say(self, told: object) -> None:
        """Say something about the terminal."""
        self._socket.send(json.dumps(told))

    def resize(self, columns: int, rows: int) -> None:
        """Have room for so much."""
        self.say({"type": "resize", "columns": columns, "rows": rows})


def opened(server: Served, *argv: str, **more: Any) -> str:
    """A program in a terminal; the terminal's name."""
    told = {"workspace": str(server.workspace), "argv": argv}
    return str(server.post("/terminals", told | more)["id"])


@contextmanager
def attached(server: Served, terminal: str, **more: Any) -> Iterator[Seat]:
    """Someone who sits at a terminal."""
    with dialled(server, terminal, **more) as socket:
        yield Seat(socket)


def dialled(
    server: Served,
    terminal: str,
    token: str = "",
    query: str = "",
    room: int = 0,
    **headers: str,
) -> Any:
    """The same, raw; the system keeps no more than `room` bytes that were not read."""
    sent = {} if query else {"Authorization": f"Bearer {token or server.token}"}
    host, _, port = server.at.rpartition(":")
    line = socket.socket()
    if room:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    line.connect((host, int(port)))
    return connect(
        f"ws://{server.at}/api/v0/terminals/{terminal}/attach{query}",
        additional_headers=sent | headers,
        max_size=None,
        compression=None,
        proxy=None,
        sock=line,
    )
