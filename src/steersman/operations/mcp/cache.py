"""What servers said of their tools, kept on disk, so that looking for a tool starts no program.

A server is known by its definition without the values of its environment and headers. Nothing here
is needed: what cannot be read or written is as if it had never been kept.
"""

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256

import msgspec
from msgspec import Struct

from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import RemoteTool

LARGEST = 16 << 20


class Listing(Struct, frozen=True, omit_defaults=True):
    """The tools of a server as it listed them at some time (seconds since 1970)."""

    tools: tuple[RemoteTool, ...]
    time: float = 0.0
    version: str = ""
    instructions: str = ""


class Failure(Struct, frozen=True):
    """Why a server could not be used, and when."""

    reason: str
    time: float


class Kept(Struct, frozen=True, omit_defaults=True):
    """All that is kept of one server."""

    listing: Listing | None = None
    failure: Failure | None = None


class Cache:
    """Lists and failures of servers in a folder; without a folder nothing lasts."""

    def __init__(self, folder: str | None, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self.clock = clock

    def kept(self, server: Server) -> Kept:
        """What is known of a server."""
        if self._folder is None:
            return Kept()
        try:
            with open(self._path(self._folder, server), "rb") as file:
                return _DECODER.decode(file.read(LARGEST))
        except (OSError, msgspec.MsgspecError, RecursionError):
            return Kept()

    def listed(self, server: Server, listing: Listing) -> None:
        """Keep a list; that the server works now is all that is left of an earlier failure."""
        self._write(server, Kept(listing))

    def failed(self, server: Server, reason: str) -> Failure:
        """Keep a failure beside the list, which may still be right."""
        failure = Failure(reason, self.clock())
        self._write(server, Kept(self.kept(server).listing, failure))
        return failure

    def forget(self, server: Server) -> None:
        """Its list is no longer valid."""
        if self._folder is not None:
            with suppress(OSError):
                os.unlink(self._path(self._folder, server))

    def age(self, listing: Listing) -> float:
        """How old a list is, in seconds."""
        return max(0.0, self.clock() - listing.time)

    def _path(self, folder: str, server: Server) -> str:
        return os.path.join(folder, f"{digest(server)}.json")

    def _write(self, server: Server, kept: Kept) -> None:
        if self._folder is None:
            return
        with suppress(OSError):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self._folder, prefix=".new-")
            try:
                with open(descriptor, "wb") as file:
                    file.write(msgspec.json.encode(kept))
                os.replace(temporary, self._path(self._folder, server))
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary)
                raise


_DECODER = msgspec.json.Decoder(Kept)


def digest(server: Server) -> str:
    """A name for a server's definition; which values its variables have does not change it."""
    told = (
        server.name,
        server.transport,
        server.command,
        server.arguments,
        server.cwd,
        server.url,
        server.source,  # a folder's server does not speak for one that the user set up
        sorted(server.environ),
        sorted(server.headers),
    )
    return sha256(msgspec.json.encode(told)).hexdigest()[:32]
