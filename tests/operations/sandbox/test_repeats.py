"""No command runs twice by itself when its first run may have been noticed outside."""

import encodings.idna  # noqa: F401  # an ordinary user may be unable to read it later
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from steersman.operations.running import overlay
from steersman.operations.tools import run_command
from tests.operations.sandbox.kit import EVERYBODY, World, a_folder, as_somebody
from tests.operations.workshop import Workshop

RENAME = 'mkdir -p new; python3 -c \'import os; os.rename("sub", "new/sub")\''
PAY = r"exec 3<>/dev/tcp/127.0.0.1/$1; printf 'GET /%s HTTP/1.0\r\n\r\n' $2 >&3; cat <&3"
MANY = "for i in `seq 60`; do sleep 20 & done; wait"


@pytest.fixture(scope="module", autouse=True)
def everything_is_imported() -> None:
    """An ordinary user may be unable to read the interpreter's modules later."""
    with a_folder() as folder:
        (folder / "work/sub").mkdir(parents=True)
        Workshop(folder / "work", domains=("localhost:9",)).do(*called(9, RENAME))


class Shop:
    """A server that counts what was paid, and how."""

    def __init__(self) -> None:
        paid = self.paid = list[str]()

        class Pay(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                paid.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *words: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Pay)
        self.port = self.server.server_address[1]
        self.thread = Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> "Shop":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def called(port: int, *endings: str) -> list[tuple[str, dict[str, Any]]]:
    """Commands that pay first, by a script that the guard does not read, and end in some way."""
    found = []
    for ending in endings:
        line = f"bash pay.sh {port} {ending.split()[0]}; {ending}"
        limits = {"wait_timeout": 2 if "trap" in ending else 60, "kill_on_timeout": True}
        found.append(("workspace_run_command", {"command": line, **limits}))
    return found


@pytest.mark.parametrize("who", EVERYBODY)
def test_what_was_paid_is_paid_once(who: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ignores TERM, has too many processes, or says that a folder cannot be renamed.

    The model may try that again: then it works on a copy.
    """
    monkeypatch.setattr(run_command, "GRACE", 0.2)

    def attempt(world: World) -> None:
        (world.root / "sub/key.pem").unlink()
        (world.root / "pay.sh").write_text(PAY)
        with Shop() as shop:
            workshop = Workshop(world.root, domains=(f"localhost:{shop.port}",), max_processes=16)
            ends = ("trap '' TERM; echo x > half; sleep 60", MANY, RENAME, RENAME)
            slow, many, failed, again = (r.output for r in workshop.do(*called(shop.port, *ends)))
        assert shop.paid == ["/trap", "/for", "/mkdir", "/mkdir"]
        assert (slow["exit_code"], many["exit_code"]) == (137, 137)
        assert slow["note"] == "ended after 2 seconds, its time limit"
        assert "more than max_processes allows" in many["output"]
        assert failed["exit_code"] == 1
        assert "not run a second time" in failed["note"]
        assert again["exit_code"] == 0, again
        assert (world.root / "new/sub").is_dir()
        assert not overlay._unseen  # views can still be mounted here

    as_somebody(who, attempt)


def test_what_nobody_noticed_is_run_again_and_what_was_killed_is_not() -> None:
    with a_folder() as folder:
        root = folder / "work"
        (root / "sub").mkdir(parents=True)
        marked = "exec 3>/dev/null; kill -9 $PPID $$; sleep 60"
        lines = (RENAME, marked)
        calls = [("workspace_run_command", {"command": line}) for line in lines]
        renamed, killed = (result.output for result in Workshop(root).do(*calls))
        assert "ran a second time, on a copy" in renamed["note"]
        assert killed["exit_code"] == 137
        assert "second time" not in killed.get("note", "")
        assert os.listdir(Path(root, "new")) == ["sub"]
