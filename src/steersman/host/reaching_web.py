"""How a workspace on another machine is reached over HTTPS: its `steer serve` is the agent."""

import ssl
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec

from steersman.host.server_token import VARIABLE, token_for
from steersman.records.addresses import is_here
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.far import Far
from steersman.records.problem import Problem
from steersman.records.thread_facts import API
from steersman.threads.remote.calling import Hopeless
from steersman.threads.remote.frames import Frame
from steersman.threads.remote.wires import SILENCE, Dial, MessageWire

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.exceptions import ProxyError

UNAUTHORIZED = 4401  # closes a socket whose token is not valid
LARGEST = 1 << 20  # bytes of a message
_NO_TOKEN = (
    "The server does not accept this token.",
    "It is wrong or has expired, or it was revoked.",
    "Make one there: steer token make NAME --may work --workspace DIR",
)


class WebWire(MessageWire):
    """A connection to a server; that it refuses the token, it says by ending it."""

    def __init__(self, socket: "ClientConnection") -> None:
        from websockets.exceptions import ConnectionClosed

        async def receive() -> bytes:
            try:
                while not isinstance(data := await socket.recv(), bytes) or not data:
                    pass
            except ConnectionClosed:
                return b""
            return data

        async def send(data: bytes) -> None:
            try:
                await socket.send(data)
            except ConnectionClosed as error:
                self._check()
                raise ConnectionResetError("the connection has ended") from error

        super().__init__(receive, send, socket.close)
        self._socket = socket

    async def read(self) -> Frame | None:
        """The next frame, or None where the connection has ended."""
        frame = await super().read()
        if frame is None:
            self._check()
        return frame

    def _check(self) -> None:
        if self._socket.close_code == UNAUTHORIZED:
            raise Hopeless(*_NO_TOKEN)


def dialing(place: Far, environ: Mapping[str, str]) -> Dial:
    """What connects to a server; raises what can be known to be wrong before."""
    try:
        from websockets.asyncio.client import connect
        from websockets.exceptions import (
            InvalidHandshake,
            InvalidMessage,
            InvalidProxy,
            InvalidStatus,
            ProxyError,
        )
    except ModuleNotFoundError as error:
        raise UsageProblem(
            "What reaches workspaces over HTTPS is not installed.",
            str(error),
            "Install it: pip install 'steersman[serve]'",
        ) from error
    if not environ.get(VARIABLE, "").strip():
        raise UsageProblem(
            f"A token is needed for a workspace on {place.host}.",
            try_this=f"Make one there: steer token make NAME --may work --workspace {place.path}\n"
            f"Then set {VARIABLE} to it here.",
        )
    token = token_for(None, environ)
    scheme = "wss" if place.scheme == "https" else "ws"
    query = urlencode({"workspace": place.path})
    url = f"{scheme}://{place.server}{API}/workspace/line?{query}"

    class Connect(connect):
        def process_redirect(self, exc: Exception) -> Exception | str:
            """A server that sends its callers elsewhere is none of ours."""
            return exc

    more: dict[str, Any] = {"proxy": None} if is_here(place.host) else {}

    async def dial() -> WebWire:
        try:
            socket = await Connect(
                url,
                additional_headers={"Authorization": f"Bearer {token}"},
                compression=None,
                open_timeout=SILENCE,
                max_size=LARGEST,
                **more,
            )
        except InvalidStatus as error:
            raise _refused(place, error.response.status_code, error.response.body) from error
        except ssl.SSLCertVerificationError as error:
            raise SteersmanError(
                f"The certificate of {place.host} cannot be verified.",
                error.verify_message,
                "Set SSL_CERT_FILE to the certificate of its authority, if it is your own.",
            ) from error
        except InvalidMessage as error:  # it may have been cut in the middle
            raise ConnectionResetError("it did not answer as a web server does") from error
        except ProxyError as error:
            raise _not_connected(place, error) from error
        except (InvalidProxy, ImportError, ValueError) as error:
            raise _no_proxy(place, error) from error
        except InvalidHandshake as error:
            raise _other(place) from error
        return WebWire(socket)

    return dial


def _refused(place: Far, status: int, body: bytes | bytearray | None) -> SteersmanError:
    """What a server says to a connection that it does not take."""
    try:
        told = msgspec.json.decode(body or b"", type=Problem)
    except (msgspec.MsgspecError, ValueError):
        told = None
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:  # it may pass
        return SteersmanError(f"{place.host} answered with status {status}.")
    if status == HTTPStatus.UNAUTHORIZED:
        return Hopeless(*_NO_TOKEN)
    if told is None:
        return _other(place)
    return Hopeless(told.what, told.why, told.try_this)


def _not_connected(place: Far, error: "ProxyError") -> SteersmanError:
    """What a proxy says that does not connect to a server; only a refusal does not pass."""
    what = f"The proxy does not connect to {place.host}"
    response = getattr(error, "response", None)
    if response is None:
        return SteersmanError(f"{what}.")
    refuses = response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR
    return (Hopeless if refuses else SteersmanError)(f"{what}: status {response.status_code}.")


def _no_proxy(place: Far, error: Exception) -> Hopeless:
    """What is wrong with the address of a proxy, which may have a password in it."""
    why = str(error) if isinstance(error, ImportError) else getattr(error, "msg", "")
    return Hopeless(
        "The proxy that is set in the environment cannot be used.",
        why or "Its address is not one.",
        f"Correct https_proxy, or add {place.host} to no_proxy.",
    )


def _other(place: Far) -> Hopeless:
    return Hopeless(
        f"{place.host} does not offer workspaces over HTTPS.",
        "It has an older version of Steersman, or another program is at this address.",
        "Install the same version there and run `steer serve`, or use ssh://HOST/PATH.",
    )
