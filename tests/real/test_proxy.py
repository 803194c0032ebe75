"""`steer serve` behind nginx, as it comes: what streams streams, and names are still compared."""

import copy
import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.cli.kit import DONE, eventually, outside
from tests.http.kit import Answer, Events, Served

pytestmark = pytest.mark.real
NAME = "steer.example"
# What the manual of nginx says about sockets, and nothing about buffers.
CONFIG = """
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  map $http_upgrade $connection_upgrade {{ default upgrade; '' close; }}
  server {{
    listen {port};
    location / {{
      proxy_pass http://{at};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
    }}
  }}
}}
"""


class Proxied:
    """A server as clients see it who know only the proxy."""

    def __init__(self, server: Served, port: int) -> None:
        self.behind = server
        self.server = copy.copy(server)
        self.port = port
        self.server.at = f"127.0.0.1:{port}"

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request to the public name, unless `Host` is another."""
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.server.request(method, f"/api/v0{path}", body, headers={"Host": NAME} | said)

    def events(self, thread: str, after: int) -> Events:
        """Follow a thread."""
        path = f"/api/v0/threads/{thread}/events?after={after}"
        return Events(self.server, path, called=NAME)


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Proxied]:
    """A server and its proxy."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if nginx is None:
        pytest.skip("nginx is not installed")
    server = Served(tmp_path / "home", tmp_path / "work", "--public", NAME)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = tmp_path / "nginx.conf"
    config.write_text(CONFIG.format(folder=tmp_path, port=f"127.0.0.1:{port}", at=server.at))
    proxy = subprocess.Popen([nginx, "-c", str(config), "-p", str(tmp_path)])
    made = Proxied(server, port)
    try:
        eventually(lambda: _answers(made), 30)
        yield made
    finally:
        proxy.terminate()
        proxy.wait(30)
        errors = server.stop()
    assert "Traceback" not in errors, errors


def _answers(proxied: Proxied) -> bool:
    try:
        return proxied.request("GET", "/me").status == 200
    except OSError:
        return False


def asking(server: Served) -> str:
    """A thread that waits for permission."""
    return server.begin({"tool_calls": [outside(str(server.home / "away.txt"))]}, DONE)


def test_events_come_one_by_one(proxied: Proxied) -> None:
    """A short message comes at once: no buffer keeps it until heartbeats have filled it.

    A machine that stands still for ten seconds sends one too, hence three times.
    """
    thread = asking(proxied.behind)
    proxied.behind.asked(thread)
    first = [_first_after_queueing(proxied, thread) for _ in range(3)]
    assert "message" in first


def _first_after_queueing(proxied: Proxied, thread: str) -> str:
    head = proxied.behind.get(f"/threads/{thread}")["messages"]
    with proxied.events(thread, head) as frames:
        assert proxied.request("POST", f"/threads/{thread}/queue", {"text": "x"}).status == 200
        return next(iter(frames)).event


def test_a_socket_is_opened_with_a_ticket(proxied: Proxied) -> None:
    """Also from a page of the proxy's name, whichever scheme it has."""
    thread = asking(proxied.behind)
    for origin in (f"https://{NAME}", f"http://{NAME}"):
        path = "/api/v0/socket"
        ticket = proxied.request("POST", "/tickets", {"path": path}).json["ticket"]
        with connect(
            f"ws://{NAME}{path}?ticket={ticket}",
            sock=socket.create_connection(("127.0.0.1", proxied.port)),
            origin=origin,  # type: ignore[arg-type]
        ) as page:
            page.send(json.dumps({"type": "follow", "thread": thread, "after": 0}))
            first = json.loads(page.recv(60))
            assert (first["thread"], first["event"], first["id"]) == (thread, "message", 1)


def test_names_and_origins_are_compared_behind_a_proxy_too(proxied: Proxied) -> None:
    """And what the proxy says about its clients is not believed."""
    for status, headers in (
        (200, {}),
        (200, {"Origin": f"https://{NAME}"}),
        (421, {"Host": "evil.example"}),
        (421, {"Host": f"evil.{NAME}"}),
        (403, {"Origin": "https://evil.example"}),
        (403, {"Origin": f"https://{NAME}.evil.example"}),
        (403, {"Sec_Fetch_Site": "cross-site"}),
    ):
        assert proxied.request("GET", "/me", **headers).status == status, headers
