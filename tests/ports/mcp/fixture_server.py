"""Our HTTP server with the suite's tools: `python -m tests.ports.mcp.fixture_server`.

Prints its address. The suite has no token to show, so a doorkeeper in front of it shows ours.
"""

import asyncio
from typing import Any

from steersman.ports import listening as ports
from steersman.ports.mcp import http
from steersman.ports.mcp.http import App, Receive, Scope, Send
from steersman.ports.mcp.serving import Serving
from tests.ports.mcp.fixture_tools import Fixtures

TOKEN = "a-token-of-the-conformance-tests"


class Doorkeeper:
    """Shows the token for whoever comes."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            shown = (b"authorization", f"Bearer {TOKEN}".encode())
            scope = {**scope, "headers": [*scope["headers"], shown]}
        await self._app(scope, receive, send)


async def serve(offer: Any) -> None:
    serving = Serving(offer)
    with ports.listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        names = ports.names_of("127.0.0.1", ())
        app = http.application(serving.server, TOKEN, names, port=port)
        print(f"http://127.0.0.1:{port}{http.PATH}", flush=True)
        try:
            await ports.serve(Doorkeeper(app), listening)
        finally:
            await serving.close()


if __name__ == "__main__":
    asyncio.run(serve(Fixtures()))
