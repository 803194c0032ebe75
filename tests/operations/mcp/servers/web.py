"""An MCP server over HTTP that is written by hand; the path says how it behaves.

Runs in a thread of the test: `with serving() as (address, seen)`; `seen` are the requests.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GREETING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "web", "version": "1"},
}


class Handler(BaseHTTPRequestHandler):
    """Answers each POST with one piece of JSON."""

    server: "Web"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        seen = {"path": self.path, "headers": dict(self.headers), **message}
        self.server.seen.append(seen)
        manner = self.path.partition("?")[0].strip("/")
        if status := self.server.status.get(manner):
            self.say(status, b"no", "text/plain")
        elif message.get("method") == "server/discover":
            self.error(message, -32601, "Method not found")
        elif "id" not in message:
            self.say(202, b"")
        elif message["method"] == "initialize":
            self.server.sessions += 1
            session = (
                {"mcp-session-id": f"s{self.server.sessions}"} if manner == "forgetful" else {}
            )
            self.result(message, GREETING, **session)
        elif message["method"] == "tools/list":
            self.result(message, {"tools": [{"name": "echo"}]})
        else:
            self.call(message, manner)

    def call(self, message: dict[str, Any], manner: str) -> None:
        if manner == "forgetful" and self.headers["mcp-session-id"] == "s1":
            self.say(404, b"")
        elif manner == "garbage":
            self.say(200, b"<html>Bad gateway</html>", "application/json")
        elif manner == "page":
            self.say(200, b"<html>Sign in</html>", "text/html")
        elif manner == "huge":
            self.say(200, b"[" + b" " * (17 * 2**20) + b"]", "application/json")
        elif manner == "broken":
            self.say(500, b"Traceback with token-in-header-1", "text/plain")
        elif manner == "hangs":
            time.sleep(60)
        else:
            words = str(message["params"]["arguments"].get("text", ""))
            self.result(message, {"content": [{"type": "text", "text": words}]})

    def do_GET(self) -> None:
        self.say(405, b"")

    def do_DELETE(self) -> None:
        self.say(200, b"")

    def result(self, message: dict[str, Any], result: Any, **headers: str) -> None:
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        self.say(200, json.dumps(reply).encode(), "application/json", **headers)

    def error(self, message: dict[str, Any], code: int, text: str) -> None:
        reply = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}}
        self.say(200, json.dumps(reply).encode(), "application/json")

    def say(self, status: int, body: bytes, kind: str = "text/plain", **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):  # who asked has heard enough
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


class Web(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[dict[str, Any]] = []
        self.sessions = 0
        self.status = {"401": 401, "403": 403, "404": 404, "500": 500}


@contextmanager
def serving() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server, as long as the block is open."""
    web = Web()
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{web.server_port}", web.seen
    finally:
        web.shutdown()
        web.server_close()
