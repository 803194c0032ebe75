"""A line between a workspace here and a host elsewhere, over a socket.

    GET /api/v0/workspace/line?workspace=/srv/app

Frames of bytes are what `steer --workspace https://HOST/srv/app` and this machine say to one
another (docs/remote.md). The token must be for the folder, and may work there.
"""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.ports.http.asgi import Disconnected, Socket
from steersman.ports.http.layer import problem, status_of
from steersman.records.errors import SteersmanError
from steersman.records.problem import Problem

if TYPE_CHECKING:
    from steersman.host.token_workplaces import TokenWorkplaces

NORMAL = 1000  # closes a socket that has nothing more to say


class WorkspaceLines:
    """All lines of one server; what they need is imported for the first one."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._places: TokenWorkplaces | None = None

    @property
    def places(self) -> "TokenWorkplaces":
        """The agents of the folders."""
        if self._places is None:
            from steersman.host.token_workplaces import TokenWorkplaces

            self._places = TokenWorkplaces(self._desk)
        return self._places

    async def socket(self, socket: Socket) -> None:
        """Work in the caller's folder for a host elsewhere."""
        caller: Holder = socket.scope["state"]["holder"]
        asked = parse_qs(socket.scope["query_string"].decode("latin-1"))
        try:
            place = await self.places.enter(caller, asked.get("workspace", [""])[0])
        except SteersmanError as error:
            await socket.refuse(problem(status_of(error), Problem.of(error)))
            return
        await socket.accept()

        async def receive() -> bytes:
            with suppress(Disconnected):
                while not (data := (await socket.receive()).get("bytes")):
                    pass
                return bytes(data)
            return b""

        async def send(data: bytes) -> None:
            try:
                await socket.send_bytes(data)
            except (RuntimeError, Disconnected) as error:
                raise ConnectionResetError("the connection has ended") from error

        await self.places.serve(place, receive, send, partial(socket.close, NORMAL))

    async def close(self) -> None:
        """End the agents."""
        if self._places is not None:
            await self._places.close()
