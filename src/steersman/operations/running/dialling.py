"""From the name of a host to a connection: looked up once, checked, and exactly that is dialled."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

from steersman.records.addresses import forbidden_address, literal, out_of_bounds

LOOKUP = 20.0  # seconds for a name to be found
REACH = 10.0  # seconds for one of its addresses to answer
TRIED = 4  # addresses

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class NoWay(Exception):
    """A host that is not reached; `status` as an HTTP proxy says it, 403 when it may not be."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


async def look_up(host: str, port: int) -> list[str]:
    """The addresses of a host, as this machine finds them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def refuse_out_of_bounds(host: str) -> None:
    """Refuse a host that is this machine or an address out of bounds, before anyone is asked."""
    if why := out_of_bounds(host):
        raise NoWay(403, f"{host} is {why}, which may not be reached.")


async def dial(host: str, port: int, resolve: Resolve, *, local: bool, limit: int) -> Streams:
    """A connection to a host that may be asked for; `local` lifts the bounds on its addresses."""
    why = ""
    for address in (await addresses(host, port, resolve, local=local))[:TRIED]:
        try:
            async with asyncio.timeout(REACH):
                return await asyncio.open_connection(address, port, limit=limit)
        except TimeoutError:
            why = why or f"{address} did not answer within {REACH:g} seconds"
        except OSError as error:
            why = why or f"{address}: {error.strerror or error}"
    raise NoWay(504 if "answer" in why else 502, f"{host}, port {port}, cannot be reached: {why}.")


async def addresses(host: str, port: int, resolve: Resolve, *, local: bool) -> list[str]:
    """The addresses of a host that may be dialled."""
    if literal(host):
        found: Sequence[str] = [host]
    else:
        try:
            async with asyncio.timeout(LOOKUP):
                found = await resolve(host, port)
        except TimeoutError:
            raise NoWay(504, f"{host} was not found within {LOOKUP:g} seconds.") from None
        except (OSError, UnicodeError) as error:
            raise NoWay(502, f"{host} was not found: {error}.") from error
    reasons = {address: "" if local else _out_of_bounds(address, port) for address in found}
    allowed = [address for address, reason in reasons.items() if not reason]
    if not allowed:
        told = "; ".join(f"{address} is {reason}" for address, reason in reasons.items())
        raise NoWay(
            403, f"{host} resolves to addresses that may not be reached: {told or 'nowhere'}."
        )
    return allowed


def _out_of_bounds(address: str, port: int) -> str:
    return forbidden_address(address) or ("this machine" if is_own(address, port) else "")


def is_own(address: str, port: int) -> bool:
    """Whether an address is this machine's own; nothing is sent to find out."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, port))
            return bool(literal(probe.getsockname()[0]) == literal(address))
    except OSError:
        return False
