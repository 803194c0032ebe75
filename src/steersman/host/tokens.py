"""Tokens for programs, pages and other machines: what each may do. The store keeps their hashes."""

import asyncio
import hashlib
import hmac
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from secrets import token_hex, token_urlsafe
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from steersman.host.application import Host
from steersman.records.clock import now
from steersman.records.errors import SteersmanError, UsageProblem

Right = Literal["read", "answer", "work"]
RIGHTS: tuple[Right, ...] = get_args(Right)
_SCOPE, _NAME = "host", "tokens"
_PREFIX = "steer"
TICKET = 30.0  # seconds
LOOK = 0.5  # seconds between two looks at the tokens of streams that are open


class Holder(Struct, frozen=True):
    """Whoever showed a token: its name, what they may do, and the only folder, if there is one.

    `token` is its id; that of the server itself has none.
    """

    name: str
    rights: tuple[Right, ...] = RIGHTS
    workspace: str = ""
    token: str = ""

    def may(self, right: Right) -> bool:
        """Whether they may do this; whoever has a token may read."""
        return right == "read" or right in self.rights

    def sees(self, workspace: str) -> bool:
        """Whether threads of a folder are any business of theirs."""
        return not self.workspace or workspace == self.workspace


class Token(Struct, frozen=True):
    """A token as it is kept: all but its secret."""

    id: str
    name: str
    digest: str
    rights: tuple[Right, ...]
    made: datetime
    workspace: str = ""
    expires: datetime | None = None

    @property
    def valid(self) -> bool:
        """Whether its time is not over."""
        return self.expires is None or now() < self.expires

    @property
    def holder(self) -> Holder:
        """Whoever shows it."""
        return Holder(self.name, self.rights, self.workspace, self.id)


class Tokens:
    """The tokens of one store."""

    def __init__(self, host: Host) -> None:
        self._store = host.store

    def all(self) -> list[Token]:
        """Every token, the oldest first."""
        said = self._store.setting(_SCOPE, _NAME)
        return msgspec.json.decode(said, type=list[Token]) if said else []

    def make(
        self,
        name: str,
        rights: Sequence[Right] = RIGHTS,
        workspace: str = "",
        lasts: timedelta | None = None,
    ) -> tuple[Token, str]:
        """A new token, and its text, which is shown this once and kept nowhere."""
        if not name.strip() or not name.isprintable() or len(name) > 80:
            raise UsageProblem(f"“{name}” is no name for a token.", try_this="Use a short one.")
        secret = token_urlsafe(32)
        moment = now()
        expires = moment + lasts if lasts else None
        made = Token(token_hex(4), name, _digest(secret), tuple(rights), moment, workspace, expires)
        self._change(lambda kept: [*(one for one in kept if one.valid), made])
        return made, f"{_PREFIX}_{made.id}_{secret}"

    def revoke(self, wanted: str) -> Token:
        """Revoke a token, by its id or its name."""
        found = [one for one in self.all() if wanted in (one.id, one.name)]
        if len(found) != 1:
            said = "several tokens have that name" if found else "there is none"
            raise UsageProblem(
                f"Cannot revoke “{wanted}”: {said}.", try_this="`steer token list` shows their ids."
            )
        self._change(lambda kept: [one for one in kept if one.id != found[0].id])
        return found[0]

    def shown(self, text: str) -> Holder | None:
        """Who shows this token; None for one that is not valid."""
        prefix, _, rest = text.partition("_")
        name, _, secret = rest.partition("_")
        digest = _digest(secret)
        for one in self.all():
            if prefix == _PREFIX and one.id == name and hmac.compare_digest(one.digest, digest):
                return one.holder if one.valid else None
        return None

    def _change(self, change: Callable[[list[Token]], list[Token]]) -> None:
        lease = self._store.lease("http-tokens")
        try:
            kept = msgspec.json.encode(change(self.all())).decode()
            self._store.remember(_SCOPE, _NAME, kept)
        finally:
            self._store.release(lease)


class Guard:
    """Notices that tokens are not valid any more; other processes revoke them, and say nothing."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._waiting: dict[asyncio.Future[None], str] = {}
        self._looking: asyncio.Task[None] | None = None

    async def ended(self, holder: Holder) -> None:
        """Wait until a holder's token is not valid; that of the server itself always is."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not holder.token:
            await over
        self._waiting[over] = holder.token
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            await over
        finally:
            del self._waiting[over]
            if not self._waiting and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            waiting = list(self._waiting.items())  # tokens may be made while these are read
            try:
                found = await asyncio.to_thread(self._tokens.all)
            except SteersmanError:
                continue  # at the next look
            except msgspec.DecodeError:
                found = []  # whether one was revoked cannot be known
            valid = {one.id for one in found if one.valid}
            for over, token in waiting:
                if token not in valid and not over.done():
                    over.set_result(None)


class Tickets:
    """Permission to open one path once, for what cannot send a header: sockets, downloads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._made: OrderedDict[str, tuple[str, Holder, float]] = OrderedDict()

    def make(self, path: str, holder: Holder) -> str:
        """A ticket for a path."""
        while self._made and next(iter(self._made.values()))[2] < self._clock():
            self._made.popitem(last=False)
        ticket = token_urlsafe(24)
        self._made[ticket] = (path, holder, self._clock() + TICKET)
        return ticket

    def use(self, ticket: str, path: str) -> Holder | None:
        """Who may open the path with a ticket, which is worth nothing after that."""
        made = self._made.pop(ticket, None)
        if made is None or made[0] != path or made[2] < self._clock():
            return None
        return made[1]


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
