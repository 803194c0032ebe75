"""One question for a push to a host: who approves the push has approved the way there."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from steersman.records.message import ToolResult
from tests.cli.kit import DONE
from tests.host.test_pushing import play
from tests.world import call

SETTING = """set -e
git init -q --bare ../origin.git -b main; git -C ../origin.git config http.receivepack true
git checkout -q -B main
git -c user.name=x -c user.email=x@y commit -q --allow-empty -m Begin
"""


class Backend(BaseHTTPRequestHandler):
    """Git's own server, for each request."""

    def _serve(self) -> None:
        path, _, query = self.path.partition("?")
        environ = os.environ | {
            "GIT_PROJECT_ROOT": str(self.server.folder),  # type: ignore[attr-defined]
            "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command, "PATH_INFO": path,
            "QUERY_STRING": query, "REMOTE_USER": "me",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
        }  # fmt: skip
        if "Content-Encoding" in self.headers:
            environ["HTTP_CONTENT_ENCODING"] = self.headers["Content-Encoding"]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        line = ["git", "http-backend"]
        said = subprocess.run(line, input=body, capture_output=True, env=environ, check=True).stdout
        head, _, content = said.partition(b"\r\n\r\n")
        fields = dict(one.split(": ", 1) for one in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _serve

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def git_server(folder: Path) -> Iterator[int]:
    """The repositories of a folder, served over HTTP on this machine; the answer is the port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Backend) as serving:
        serving.folder = folder  # type: ignore[attr-defined]
        Thread(target=serving.serve_forever, daemon=True).start()
        try:
            yield serving.server_port
        finally:
            serving.shutdown()


@pytest.mark.parametrize(
    ("command", "exit_code", "questions"),
    [
        ("git push origin main", 0, 1),
        ("git tag t && git push origin main t", 0, 1),
        ("git fetch origin", 0, 1),
        ("git push origin main && git fetch http://127.0.0.1:{other}/origin.git", 128, 1),
        ("git push origin main && make", 128, 2),
    ],
)
def test_a_push_is_asked_about_once(environ, workspace, script, command, exit_code, questions):
    """The answer holds for this push and the host that it names: no other, and no other program."""
    subprocess.run(SETTING, shell=True, cwd=workspace, check=True, env=environ)
    with git_server(workspace.parent) as port, git_server(workspace.parent) as other:
        url = f"http://127.0.0.1:{port}/origin.git"
        subprocess.run(["git", "remote", "add", "origin", url], cwd=workspace, check=True)
        line = command.format(other=other)
        turn = {"tool_calls": [call("workspace_run_command", command=line)]}
        seen: list[object] = []
        asked = play(environ, workspace, script(turn, DONE), ["allow", "deny", "deny"], seen)
    (result,) = [one for one in seen if isinstance(one, ToolResult)]
    assert (result.output["exit_code"], len(asked)) == (exit_code, questions), (result, asked)
