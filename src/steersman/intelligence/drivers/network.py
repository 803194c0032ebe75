"""What a failed connection means: no network, no such host, nobody there, a bad certificate."""

import errno
import socket
import ssl

from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.intelligence.drivers.line import (
    Garbled,
    Late,
    LineError,
    Refused,
    Unfit,
    Unreached,
)
from steersman.intelligence.drivers.problems import (
    Where,
    dropped,
    not_an_api,
    proxy_refuses,
)
from steersman.records.errors import DriverProblem


def proxy_of(endpoint: Endpoint) -> str:
    """The proxy in front of an endpoint; never before this machine."""
    if endpoint.local:
        return ""
    from urllib.request import getproxies, proxy_bypass

    if proxy_bypass(endpoint.host):
        return ""
    known = getproxies()
    url = known.get(endpoint.base_url.partition(":")[0]) or known.get("all") or ""
    return url if "://" in url or not url else f"http://{url}"


def masked(url: str) -> str:
    """An address without its password."""
    scheme, found, rest = url.rpartition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}"


def of_transport(where: Where, error: LineError, *, place: str, answered: bool) -> DriverProblem:
    """An error of the connection as a sentence."""
    cause = _cause(error)
    if isinstance(error, Refused):
        return proxy_refuses(where, f"It says: {error}.")
    if isinstance(error, Late):
        return _unreachable(where, "It did not answer in time.", retryable=True, kind="timeout")
    if isinstance(error, Unreached):
        return _no_connection(where, error, cause)
    if isinstance(error, Unfit):
        return proxy_refuses(where, str(error)) if where.proxy else not_an_api(where, str(error))
    strange = isinstance(error, Garbled)
    if strange and not answered:
        return not_an_api(where, f"What answers there does not speak HTTP: {error}.")
    hung_up = strange or not str(error)
    return dropped(where, place, "The server closed the connection." if hung_up else f"{error}.")


def _cause(error: BaseException) -> BaseException:
    """The error of the system at the bottom of a chain."""
    seen = error
    for _ in range(10):
        if isinstance(seen, BaseExceptionGroup):
            seen = seen.exceptions[0]
        elif isinstance(seen, socket.gaierror | ssl.SSLError | ConnectionRefusedError):
            break
        elif (below := seen.__cause__ or seen.__context__) is not None:
            seen = below
        else:
            break
    return seen


def _no_connection(where: Where, error: Exception, cause: BaseException) -> DriverProblem:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return DriverProblem(
            f"The certificate of {where.base_url} cannot be trusted.",
            f"{cause.verify_message or cause}.",
            "If a proxy inspects TLS traffic, set SSL_CERT_FILE to its certificate.",
            kind="network",
        )
    if isinstance(cause, ssl.SSLError):
        return not_an_api(where, f"There is no TLS: {cause.reason or cause}. Try http://.")
    if isinstance(cause, socket.gaierror):
        offline = cause.errno == socket.EAI_AGAIN
        why = "Names cannot be looked up." if offline else "There is no host with this name."
        return _unreachable(where, why, retryable=offline)
    if isinstance(cause, ConnectionRefusedError):
        local = _here(where.proxy or where.base_url)
        return _unreachable(where, "Nothing is listening there.", retryable=not local)
    number = getattr(cause, "errno", None)
    if number in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN):
        return _unreachable(where, "That network is unreachable.", retryable=True)
    return _unreachable(where, f"{error or cause}", retryable=True)


def _here(url: str) -> bool:
    """Whether an address is on this machine, where waiting does not help."""
    return "//127." in url or "//localhost" in url or "//[::1]" in url


def _unreachable(
    where: Where, why: str, *, retryable: bool, kind: str = "network"
) -> DriverProblem:
    if where.proxy:
        what = f"{where.base_url} cannot be reached through the proxy {where.proxy}."
        try_this = "Fix HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY."
    else:
        what = f"{where.base_url} cannot be reached."
        try_this = (
            "Start the model server, or log in with its right address: steer login --url URL."
            if _here(where.base_url)
            else "Check the network and the address; behind a proxy, set HTTPS_PROXY."
        )
    return DriverProblem(
        what, why, try_this, retryable=retryable, kind="timeout" if kind == "timeout" else "network"
    )
