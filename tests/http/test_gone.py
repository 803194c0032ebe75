"""Whoever opens a socket may be gone before it is open."""

import asyncio
from typing import Any

from steersman.ports.http.asgi import Socket, with_socket


def test_a_caller_that_is_gone_before_its_socket_is_open_is_no_defect() -> None:
    """The server would print a traceback of what its application raises."""
    tried = []

    async def served(socket: Socket) -> None:
        tried.append(socket)
        await socket.accept()
        raise AssertionError("it was opened")

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(_: Any) -> None:
        raise OSError("gone")

    asyncio.run(with_socket(served)({"type": "websocket"}, receive, send))  # type: ignore[arg-type]
    assert tried
