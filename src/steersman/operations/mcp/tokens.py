"""What a sign-in at a server gave, kept on disk for its owner alone: tokens, and who we are there.

One file for each server, by its name and address, so that another server of the same name, or the
same one elsewhere, never gets what this one gave. Nothing here knows the protocol.
"""

import asyncio
import fcntl
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from steersman.records.errors import StorageProblem
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import ServerProblem

LARGEST = 1 << 20
PATIENCE = 20.0  # seconds for another process that renews the same token
AGAIN = 0.05


class SignInWanted(ServerProblem):
    """A server that wants a person to sign in; trying again is of no use before that."""


class SignIn(Struct, frozen=True, omit_defaults=True):
    """A sign-in at one server.

    `tokens` and `client` are as the server of the sign-in gave them, `metadata` and `resource` as
    it and the MCP server describe themselves. `expires` is in seconds since 1970, 0 when
    unknown. `wanted` are scopes that the server asked for later, and `ended` is why the tokens are
    of no more use.
    """

    tokens: dict[str, Any] = {}
    expires: float = 0.0
    client: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    resource: dict[str, Any] = {}
    wanted: str = ""
    ended: str = ""

    def __repr__(self) -> str:
        """Without values: it may land in a traceback or a log."""
        return f"SignIn({'ended' if self.ended or not self.tokens else 'valid'})"

    @property
    def secrets(self) -> list[str]:
        """What nobody should see."""
        kept = (
            self.tokens.get("access_token"),
            self.tokens.get("refresh_token"),
            self.client.get("client_secret"),
        )
        return [value for value in kept if isinstance(value, str) and value]


class SignIns:
    """The sign-ins of one person, in a folder; without a folder they last as long as this does."""

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = Path(folder) / "sign-ins" if folder is not None else None
        self._held: dict[str, SignIn] = {}

    def of(self, server: Server) -> SignIn | None:
        """What is kept for a server. What cannot be read is as good as none."""
        if self.folder is None:
            return self._held.get(key(server))
        return _read(self._path(server))

    def keep(self, server: Server, sign_in: SignIn) -> None:
        """Keep a sign-in, all of it or none; only its owner can read it."""
        if self.folder is None:
            self._held[key(server)] = sign_in
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".new-")  # made for us alone
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(msgspec.json.encode(sign_in))
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(name, self._path(server))
            except BaseException:
                with suppress(OSError):
                    os.unlink(name)
                raise
        except OSError as error:
            raise StorageProblem(
                "The sign-in cannot be kept.",
                f"{self.folder}: {error.strerror or type(error).__name__}.",
            ) from None

    def forget(self, server: Server) -> bool:
        """Forget a sign-in; False when there was none."""
        if self.folder is None:
            return self._held.pop(key(server), None) is not None
        try:
            os.unlink(self._path(server))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StorageProblem(
                "The sign-in cannot be forgotten.",
                f"{self.folder}: {error.strerror or type(error).__name__}.",
            ) from None
        return True

    def secrets(self) -> set[str]:
        """All that nobody should see, of every server, for whoever masks it elsewhere."""
        files = self.folder.glob("*.json") if self.folder is not None else ()
        kept = [*self._held.values(), *filter(None, map(_read, files))]
        return {secret for one in kept for secret in one.secrets}

    @asynccontextmanager
    async def alone(self, server: Server) -> AsyncIterator[None]:
        """While one process renews a token no other does: a token to renew with works once.

        Who waits too long continues regardless.
        """
        descriptor = self._lock(server)
        try:
            for _ in range(round(PATIENCE / AGAIN)):
                if descriptor is None:
                    break
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    await asyncio.sleep(AGAIN)
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _lock(self, server: Server) -> int | None:
        if self.folder is None:
            return None
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(self._path(server).with_suffix(".lock"), flags, 0o600)
        except OSError:  # then nothing can be kept there either, and that fails visibly
            return None

    def _path(self, server: Server) -> Path:
        assert self.folder is not None
        return self.folder / f"{key(server)}.json"


_DECODER = msgspec.json.Decoder(SignIn)


def _read(path: Path) -> SignIn | None:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            return _DECODER.decode(file.read(LARGEST))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def key(server: Server) -> str:
    """A digest of the name and the address; it gives nothing away."""
    told = f"{server.name}\0{server.url}".encode("utf-8", "backslashreplace")
    return sha256(told).hexdigest()[:32]


def signs_in(server: Server) -> bool:
    """True when a sign-in is how to be let in: nothing else is configured for it."""
    shown = any(name.lower() == "authorization" for name in server.headers)
    if shown or server.transport == "stdio":
        return False
    try:
        return urlsplit(server.url).username is None
    except ValueError:
        return False


def summary(sign_in: SignIn | None) -> str:
    """Its state with a sign-in, in two or three words; empty when there never was one."""
    if sign_in is None:
        return ""
    return "signed in" if sign_in.tokens and not sign_in.wanted else "needs a sign-in"
