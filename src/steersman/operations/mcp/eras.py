"""Which era of the protocol a server speaks, remembered, so that it is found out only once.

A server of the era of the handshake may not answer a question of the newer era at all, and a host
that asks first waits in vain. What is remembered is a hint: whoever uses it falls back.
"""

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from steersman.records.mcp_server import Server

Era = Literal["legacy", "modern"]
FILE = "eras.json"
MOST = 500  # servers; the oldest are forgotten
LARGEST = 256 * 1024


class Eras:
    """The eras of servers, in a file of the state folder. A damaged file is as good as none."""

    def __init__(self, folder: str | Path | None) -> None:
        self._path = Path(folder) / FILE if folder is not None else None
        self._known: dict[str, Era] = {}

    def of(self, server: Server) -> Era | None:
        """What a server spoke last time."""
        self._known = {**self._known, **self._read()}
        return self._known.get(key(server))

    def remember(self, server: Server, era: Era) -> None:
        """Keep what a server speaks; a folder that cannot be written costs only time."""
        self._known = {**self._known, **self._read()}
        if self._known.get(key(server)) == era:
            return
        self._known.pop(key(server), None)
        self._known[key(server)] = era
        self._known = dict(list(self._known.items())[-MOST:])
        self._write()

    def forget(self, server: Server) -> None:
        """What was remembered turned out wrong."""
        self._known = {**self._known, **self._read()}
        if self._known.pop(key(server), None) is not None:
            self._write()

    def _read(self) -> dict[str, Era]:
        if self._path is None:
            return {}
        try:
            with self._path.open("rb") as file:
                return msgspec.json.decode(file.read(LARGEST), type=dict[str, Era])
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return {}

    def _write(self) -> None:
        if self._path is None:
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{FILE}.")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(msgspec.json.encode(self._known))
                os.replace(name, self._path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(name)
                raise


def key(server: Server) -> str:
    """A digest of the name and of what is started or asked; it gives nothing away."""
    parts = (server.name, server.transport, server.command, *server.arguments, server.url)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]
