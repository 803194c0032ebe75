"""The socket of a server."""

import json
import socket
import subprocess
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

from steersman.ports.listening import listen


def test_an_answer_does_not_wait_for_the_reader_to_confirm_its_beginning() -> None:
    with listen("127.0.0.1", 0) as listening:
        near = socket.create_connection(listening.getsockname()[:2])
        accepted, _ = listening.accept()
        with near, accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_server_imports_what_is_used(steer) -> None:
    """Nobody has opened a socket, watched a repository or asked for the description of the API."""
    command = ["-X", "importtime", "-m", "steersman", "serve", "--port", "0", "--json"]
    with subprocess.Popen(
        [sys.executable, *command],
        cwd=steer.folder,
        env=steer.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as serving:
        try:
            assert serving.stdout is not None
            told = json.loads(serving.stdout.readline())
            line = HTTPConnection(urlsplit(told["url"]).netloc, timeout=60)
            line.request("GET", "/healthz")
            assert line.getresponse().status == 200
            line.close()
        finally:
            serving.terminate()
            errors = serving.communicate(timeout=60)[1]
    found = {one.rpartition("|")[2].strip() for one in errors.splitlines()}
    assert "uvicorn.server" in found
    assert not found & {
        "anyio",
        "importlib.metadata",
        "starlette",
        "steersman.host.git_watch",
        "steersman.host.ledger",
        "steersman.host.mcp",
        "steersman.identity.skills",
        "steersman.ports.http.openapi",
        "steersman.records.protection",
        "steersman.store.redactor",
        "steersman.views.plans",
        "websockets",
    }
