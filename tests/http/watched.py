"""A server in a process of its own, a repository it works in, and a socket that watches it."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.world import STEER

PATIENCE = 60


def git(folder: Path, *words: str) -> str:
    """What git says in a folder."""
    own = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
    ran = subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)
    return ran.stdout.decode()


def repository(folder: Path, **files: str) -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for name, text in (files or {"calc": "one\n"}).items():
        (folder / f"{name}.txt").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Begin")
    return folder


class Serving:
    """A server; `token` is its owner's."""

    def __init__(self, environ: dict[str, str], folder: Path, *flags: str) -> None:
        self._environ, self._folder, self._flags = environ, folder, flags
        self._scripts = 0
        self._port = "0"
        self.start()

    def start(self) -> None:
        """Start it, at the same address if it ran before."""
        self._process = subprocess.Popen(
            [*STEER, "serve", "--port", self._port, "--json", *self._flags],
            cwd=self._folder,
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        told = json.loads(self._process.stdout.readline() or "null")
        assert told, self._process.communicate()[1]
        self.url = told["url"]
        self.at = told["url"].partition("://")[2]
        self._port = self.at.rpartition(":")[2]
        self.token_file = told["token_file"]
        self.token = Path(self.token_file).read_text().strip()

    def stop(self) -> None:
        """Ask it to stop; it has nothing to complain about."""
        self._process.terminate()
        _, errors = self._process.communicate(timeout=PATIENCE)
        assert "Traceback" not in errors, errors

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.communicate()

    def token_for(self, *words: str) -> str:
        """A token that `steer token make` makes."""
        line = [*STEER, "token", "make", *words]
        made = subprocess.run(
            line, cwd=self._folder, env=self._environ, check=True, capture_output=True, text=True
        )
        return made.stdout.split()[-1]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What the server answers."""
        connection = http.client.HTTPConnection(self.at, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, f"/api/v0{path}", json.dumps(body or {}), headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status == 200, text
        return json.loads(text)

    def model(self, *turns: dict[str, Any]) -> str:
        """A scripted model."""
        self._scripts += 1
        path = self._folder.parent / f"script-{self._scripts}.json"
        path.write_text(json.dumps({"turns": turns or ({"text": "Done."},)}))
        return f"scripted:{path}"

    def thread(self, workspace: Path, *turns: dict[str, Any], **more: Any) -> str:
        """A new thread; its script waits for words."""
        told = {"workspace": str(workspace), "model": self.model(*turns), "title": "Work"}
        return str(self.ask("POST", "/threads", told | more)["id"])

    def send(self, thread: str) -> None:
        """Begin a turn."""
        self.ask("POST", f"/threads/{thread}/send", {"text": "Do it."})

    @contextmanager
    def watch(self, thread: str, **more: Any) -> Iterator["Watch"]:
        """A socket that watches a thread's repositories."""
        with self.connect(thread, **more) as socket:
            yield Watch(socket)

    def connect(
        self, thread: str, token: str = "", query: str = "", **headers: str
    ) -> ClientConnection:
        """The same, raw."""
        sent = {} if query else {"Authorization": f"Bearer {token or self.token}"}
        return connect(
            f"ws://{self.at}/api/v0/threads/{thread}/git/watch{query}",
            additional_headers=sent | headers,
            max_size=None,
            proxy=None,
        )


class Watch:
    """What a socket shows, without heartbeats."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    def next(self) -> dict[str, Any]:
        """The next frame."""
        while True:
            frame: dict[str, Any] = json.loads(self._socket.recv(timeout=PATIENCE))
            if frame["type"] != "heartbeat":
                return frame

    def only(self) -> dict[str, Any]:
        """The one repository of the next frame, which shows changes."""
        frame = self.next()
        assert frame["type"] == "changes", frame
        (found,) = frame["repositories"]
        return dict(found)

    def until(self, words: str) -> dict[str, Any]:
        """The first state whose diff has certain words."""
        while words not in (found := self.only())["unified_diff"]:
            pass
        return found

    def refresh(self) -> None:
        """Ask for another look."""
        self.say({"type": "refresh"})

    def say(self, words: Any) -> None:
        """Say something."""
        self._socket.send(json.dumps(words))
