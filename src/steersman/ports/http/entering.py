"""Who you are, and tickets for what cannot send a header."""

from typing import Annotated

from msgspec import Meta, Struct

from steersman import __version__
from steersman.host.desk import Desk
from steersman.host.tokens import Holder, Right
from steersman.ports.http.layer import PREFIX, Nothing, operation
from steersman.records.errors import UsageProblem


class Me(Struct, frozen=True):
    """Whose token it is, what it may do, in which folder alone, and what answers."""

    name: str
    rights: list[Right]
    workspace: str
    version: str


@operation("GET", "/me", needs="read")
async def who_am_i(desk: Desk, caller: Holder, params: Nothing) -> Me:
    """Show what your token may do."""
    return Me(caller.name, list(caller.rights), caller.workspace, __version__)


class ForPath(Struct, frozen=True, forbid_unknown_fields=True):
    """The path that is to be opened, without the server."""

    path: Annotated[str, Meta(min_length=1, max_length=2000, pattern=f"^{PREFIX}/")]


class Ticket(Struct, frozen=True):
    """Worth one request to its path, for half a minute."""

    ticket: str


@operation("POST", "/tickets", needs="read")
async def make_ticket(desk: Desk, caller: Holder, body: ForPath, params: Nothing) -> Ticket:
    """Get a ticket for a socket or a download, which cannot send your token: `?ticket=…`."""
    if not body.path.startswith(f"{PREFIX}/") or "?" in body.path:
        raise UsageProblem("A ticket is for a path of this API, without a query.")
    return Ticket(desk.tickets.make(body.path, caller))
