"""A server that is none: it answers what a test says, whatever that is."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ESCAPE = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202e"
FACTS: dict[str, Any] = {
    "id": "abcdefgh",
    "title": "Work",
    "workspace": "/work",
    "origin": "",
    "created": "2026-01-01T00:00:00Z",
    "updated": "2026-01-01T00:00:00Z",
    "parent": None,
    "parent_seq": None,
    "messages": 2,
    "state": "idle",
    "result": "done",
}


def message(seq: int, kind: str, **body: Any) -> dict[str, Any]:
    """A message of its thread."""
    return {
        "thread": FACTS["id"], "seq": seq, "time": "2026-01-01T00:00:00Z", "turn": 1,
        "kind": kind, "path": "", "corr": "c1", "body": body,
    }  # fmt: skip


def event(told: Any) -> bytes:
    """A message as a server-sent event."""
    return b"id: 9\nevent: message\ndata: " + json.dumps(told).encode() + b"\n\n"


@contextmanager
def answering(answers: dict[str, Any]) -> Iterator[str]:
    """The address of a server; answers are found by the end of a path. Bytes go as they are."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            found = next((one for end, one in answers.items() if path.endswith(end)), None)
            self.send_response(404 if found is None else 200)
            self.end_headers()
            with suppress(OSError):  # nobody listens any more
                self.wfile.write(found if isinstance(found, bytes) else json.dumps(found).encode())

        do_POST = do_PATCH = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{made.server_port}"
    finally:
        made.shutdown()
        made.server_close()
        thread.join()
