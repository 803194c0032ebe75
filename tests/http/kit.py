"""A real server in a process of its own, and a client that sends exactly what a test says."""

import http.client
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.world import STEER, run_steer

PATIENCE = 60


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Served:
    """A server on a home of its own; `token` is its owner's."""

    def __init__(self, home: Path, workspace: Path, *flags: str, **environ: str) -> None:
        self.home, self.workspace, self._flags = home, workspace, flags
        home.mkdir(exist_ok=True)
        workspace.mkdir(exist_ok=True)
        self.environ = {
            "HOME": str(home),
            "STEERSMAN_HOME": str(home / "data"),
            "STEERSMAN_COMMAND_WAIT": "600",
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            **environ,
        }
        self._port = "0"
        self.start()

    def start(self) -> None:
        """Start it, at the same address if it ran before."""
        self.process = subprocess.Popen(
            [*STEER, "serve", "--port", self._port, "--json", *self._flags],
            cwd=self.workspace,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        told = json.loads(line)
        self.url: str = told["url"]
        self.at = urlsplit(self.url).netloc
        self._port = self.at.rpartition(":")[2]
        self.token = Path(told["token_file"]).read_text().strip()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> str:
        """Ask it to stop; what it said on standard error."""
        self.process.terminate()
        return self.process.communicate(timeout=PATIENCE)[1]

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """A `steer` on the same home."""
        return run_steer(words, self.workspace, self.environ)

    def steer(self, *words: str) -> str:
        """What it prints."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = "",
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send a request; `token` None sends none."""
        sent = {} if token is None else {"Authorization": f"Bearer {token or self.token}"}
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        if method != "GET":
            sent["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection(self.at, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host="Host" in (headers or {}))
            if data is not None:
                sent["Content-Length"] = str(len(data))
            for name, value in (sent | (headers or {})).items():
                connection.putheader(name, value)
            connection.endheaders(data)
            got = connection.getresponse()
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            connection.close()

    def get(self, path: str, **more: Any) -> Any:
        """What reading answers."""
        return self._good(self.request("GET", f"/api/v0{path}", **more))

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        """What doing answers."""
        return self._good(self.request("POST", f"/api/v0{path}", body or {}, **more))

    def _good(self, answer: Answer) -> Any:
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json

    def begin(self, *turns: dict[str, Any], text: str = "Do it.", **more: Any) -> str:
        """A thread that works on a script; its id."""
        told = {"workspace": str(self.workspace), "text": text, "model": self.model(*turns)}
        return str(self.post("/threads", told | more)["id"])

    def model(self, *turns: dict[str, Any]) -> str:
        """A model that follows a script."""
        script = self.home / f"script-{len(list(self.home.glob('script-*')))}.json"
        script.write_text(json.dumps({"turns": list(turns)}))
        return f"scripted:{script}"

    def working(self, *turns: dict[str, Any]) -> "subprocess.Popen[str]":
        """Another process that works on a script, in the same store."""
        return subprocess.Popen(
            [*STEER, "run", "--model", self.model(*turns), "Do it."],
            cwd=self.workspace,
            env=self.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ended(self, thread: str, turns: int = 1) -> dict[str, Any]:
        """The facts of a thread once so many turns have ended; the log says when."""
        seen = 0
        with self.events(thread) as frames:
            for frame in frames:
                seen += frame.kind == "turn_end"
                if seen == turns:
                    break
        found: dict[str, Any] = self.get(f"/threads/{thread}")
        return found

    def asked(self, thread: str) -> dict[str, Any]:
        """What a thread asks, once it does."""
        with self.events(thread) as frames:
            for frame in frames:
                if frame.kind in ("confirm_request", "question"):
                    return frame.data
        raise AssertionError("nothing was asked")

    def events(self, thread: str, after: int = 0, **more: Any) -> "Events":
        """A reader of a thread's events."""
        return Events(self, f"/api/v0/threads/{thread}/events?after={after}", **more)

    def everything(self, after: int = 0, **more: Any) -> "Events":
        """A reader of the events of all threads."""
        return Events(self, f"/api/v0/events?after={after}", **more)


class Frame(NamedTuple):
    """One event."""

    event: str
    data: Any
    id: int

    @property
    def kind(self) -> str:
        """The kind of the message in it."""
        return str(self.data.get("kind", ""))


class Events:
    """A stream that is read to its end, or left before."""

    def __init__(
        self,
        server: Served,
        path: str,
        token: str = "",
        last: int | None = None,
        called: str = "",
    ) -> None:
        host, _, port = server.at.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), PATIENCE)
        resume = f"Last-Event-ID: {last}\r\n" if last is not None else ""
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {called or server.at}\r\n{resume}"
            f"Authorization: Bearer {token or server.token}\r\n\r\n".encode()
        )
        self._response = http.client.HTTPResponse(self._socket)
        self._response.begin()
        self.status = self._response.status
        self.headers = self._response.headers

    def __enter__(self) -> "Events":
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def cut(self) -> None:
        """Let go of the connection without a word."""
        self._response.close()
        self._socket.close()

    def __iter__(self) -> Iterator[Frame]:
        fields: dict[str, str] = {}
        idle = 0
        for line in self._response:
            text = line.decode().rstrip("\n")
            if text:
                name, _, value = text.partition(": ")
                fields[name] = value
            elif fields:
                data = json.loads(fields["data"])
                idle = idle + 1 if fields["event"] == "heartbeat" else 0
                assert idle < 7, "nothing happens any more"
                yield Frame(fields["event"], data, int(fields.get("id", 0)))
                fields = {}
