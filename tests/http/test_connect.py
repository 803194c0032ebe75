"""`--connect URL` and `URL#ID`: the command line over the threads of another machine.

Whoever connects has a home of their own; all they know of the server is its address and a token.
"""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import IPv4Address
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from steersman.client import Client
from steersman.host import ThreadHandle
from steersman.host.remote import Remote
from steersman.records.errors import UsageProblem
from steersman.records.message import ConfirmResponse, TurnEnd
from tests.cli.terminal import CTRL_C, Terminal
from tests.http.relay import Relay
from tests.http.watched import PATIENCE, Serving
from tests.world import Steer, call

WRITE = {"tool_calls": [call("workspace_write_file", path="new.txt", content="new\n")]}
ASKS = {
    "tool_calls": [
        call("workspace_run_command", command="echo hello > told.txt", outside_sandbox=True)
    ]
}
LONG = {"tool_calls": [call("workspace_run_command", command="sleep 600")]}
DONE = {"text": "Done."}


@pytest.fixture
def server(environ: dict[str, str], tmp_path: Path) -> Iterator[Serving]:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    made = Serving(environ, folder, "--public", "127.0.0.2")
    yield made
    made.stop()


@pytest.fixture
def client(server: Serving) -> Iterator[Client]:
    with Client(server.url, server.token) as made:
        yield made


@pytest.fixture
def far(environ: dict[str, str], tmp_path: Path) -> Steer:
    """The command line of someone who has neither the server's home nor its folders."""
    home = tmp_path / "far"
    home.mkdir()
    own = {"HOME": str(home), "STEERSMAN_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home)}
    return Steer({**environ, **own}, home)


@pytest.fixture
def connected(far: Steer, server: Serving) -> Steer:
    """The same with the server's address and a token for it."""
    told = {"STEERSMAN_CONNECT": server.url, "STEERSMAN_TOKEN": server.token}
    return Steer({**far.environ, **told}, far.folder)


def good(done: "CompletedProcess[str]") -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_threads_are_listed_and_shown(
    server: Serving, client: Client, connected: Steer, environ: dict[str, str], workspace: Path
) -> None:
    asks = client.start(str(workspace), "Ask.", model=server.model(ASKS, DONE)).id
    client.wait(asks)
    done = client.start(str(workspace), "Write it.", model=server.model(WRITE, DONE)).id
    client.wait(done)

    there = Steer(environ, workspace)
    assert good(connected("threads", "list", "--json")) == good(there("threads", "list", "--json"))
    rows = good(connected("threads", "list", "--workspace", str(workspace))).splitlines()
    assert [row.split()[0] for row in rows] == [done, asks]
    assert "asks: run `echo hello > told.txt` outside the sandbox" in rows[1]
    assert good(connected("threads", "list", "--workspace", "/nowhere")).startswith("No threads")

    shown = good(connected("threads", "show", done[:6]))
    assert "› Write it.\n● write_file new.txt" in shown
    assert shown.endswith(f"Done.\n✓ done · 2 steps · thread {done}\n")
    again = ("threads", "show", done, "--json")
    assert good(connected(*again)) == good(there(*again))
    assert not (connected.folder / "data").exists()  # nothing was asked of this machine's store


def test_a_task_is_started_there_and_waited_for(
    server: Serving, connected: Steer, workspace: Path
) -> None:
    model = server.model(WRITE, DONE)
    begun = connected("run", "--detach", "-w", str(workspace), "-m", model, "Write it.")
    (thread,) = good(begun).splitlines()

    assert good(connected("wait", thread)) == "Done.\n"
    assert (workspace / "new.txt").read_text() == "new\n"


def test_a_task_is_started_there_and_shown_to_its_end(
    server: Serving, connected: Steer, workspace: Path
) -> None:
    model = server.model(WRITE, DONE)
    shown = good(connected("run", "-w", str(workspace), "-m", model, "Write it."))

    assert "+new" in shown
    assert "Done.\n✓ done · 2 steps" in shown
    assert (workspace / "new.txt").read_text() == "new\n"


@pytest.mark.parametrize(
    ("flags", "what"),
    [
        ((), "The folder to work in is needed"),
        (("-w", "project"), "is not a whole path"),
        (("-w", "/tmp", "--max-cost", "1"), "--max-cost cannot be used with --connect"),
        (("-w", "/tmp", "--deny", "Bash(rm *)"), "--deny cannot be used with --connect"),
        (("-w", "/tmp", "--yes"), "--yes cannot be used with --connect"),
    ],
)
def test_what_a_server_does_not_take_is_refused_and_not_forgotten(
    connected: Steer, flags: tuple[str, ...], what: str
) -> None:
    done = connected("run", "--detach", *flags, "Write it.")
    assert (done.returncode, done.stdout) == (2, "")
    assert what in done.stderr


def test_what_a_thread_asks_is_answered(
    server: Serving, client: Client, connected: Steer, workspace: Path
) -> None:
    thread = client.start(str(workspace), "Ask.", model=server.model(ASKS, DONE)).id
    asked = client.wait(thread).waiting_for
    named = f"{server.url}#{thread}"

    timed = connected("wait", "--timeout", "0.1", named)
    assert (timed.returncode, "It waits for an answer" in timed.stderr) == (4, True)
    shown = connected("answer", named)
    assert shown.returncode == 2
    assert "echo hello > told.txt" in shown.stdout
    assert f"steer answer {named} {asked.corr} allow" in shown.stderr

    given = connected("answer", thread, asked.corr, "allow")
    assert given.returncode == 0
    assert given.stderr.startswith("Allowed: run `echo hello > told.txt`")
    assert good(connected("wait", thread)) == "Done.\n"
    assert (workspace / "told.txt").read_text() == "hello\n"
    late = connected("answer", thread, asked.corr, "deny")
    assert (late.returncode, "was already answered" in late.stderr) == (2, True)


def test_words_go_to_a_thread_and_a_turn_is_stopped(
    server: Serving, client: Client, connected: Steer, workspace: Path
) -> None:
    thread = client.start(str(workspace), "Begin.", model=server.model(DONE, LONG, DONE)).id
    client.wait(thread)

    told = connected("tell", thread, "Take", "long.")
    assert told.stderr == f"Thread {thread} gets it in its next turn.\n"
    assert good(told).strip()
    next(one for one in client.events(thread) if one.kind == "tool_call")
    assert good(connected("tell", "--queue", thread, "Later."))
    cancelled = connected("cancel", thread)
    assert (cancelled.returncode, cancelled.stderr) == (0, f"Stopped thread {thread}.\n")
    waited = connected("wait", thread)
    assert (waited.returncode, waited.stdout) == (130, "")
    said = client.messages(thread, kinds=["user"]).messages
    assert [one.body.text for one in said] == ["Begin.", "Take long."]


def test_what_is_said_over_a_line_that_breaks_is_said_once(
    server: Serving, client: Client, connected: Steer, workspace: Path
) -> None:
    thread = client.start(str(workspace), "Begin.", model=server.model(DONE, DONE)).id
    client.wait(thread)
    # Enough for what is looked up, which comes before the words on the same connection.
    listed = len(http_answer(server, f"/threads?q={thread}&calls=true&skip=0&limit=500"))
    with Relay(server.at, breaks_after=listed + 50) as line:
        assert good(connected("tell", f"{line.url}#{thread}", "Go on."))
        assert line.connections > 2  # one to look it up, one that broke, one more
    client.wait(thread)
    said = client.messages(thread, kinds=["user"]).messages
    assert [one.body.text for one in said] == ["Begin.", "Go on."]


def http_answer(server: Serving, path: str) -> bytes:
    """All bytes of an answer."""
    host, _, port = server.at.rpartition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as line:
        head = f"GET /api/v0{path} HTTP/1.1\r\nHost: {server.at}\r\nConnection: close\r\n"
        line.sendall(f"{head}Authorization: Bearer {server.token}\r\n\r\n".encode())
        return b"".join(iter(lambda: line.recv(65536), b""))


def test_a_thread_is_followed_to_its_end_over_the_death_of_its_server(
    server: Serving, client: Client, connected: Steer, workspace: Path
) -> None:
    thread = client.start(str(workspace), "Ask.", model=server.model(ASKS, WRITE, DONE)).id
    asked = client.wait(thread).waiting_for

    attached = connected.start("attach", f"{server.url}#{thread}", "--json")
    seen = _until(attached, "confirm_request")
    server.kill()
    server.start()
    good(connected("answer", thread, asked.corr, "allow"))
    rest, errors = attached.communicate(timeout=PATIENCE)

    assert (attached.returncode, errors) == (0, "")
    seen += [json.loads(line) for line in rest.splitlines()]
    stored = [one["seq"] for one in seen if one["seq"]]
    ended = next(one["seq"] for one in seen if one["kind"] == "turn_end")
    began = next(one["seq"] for one in seen if one["kind"] == "turn_start")
    assert stored[: ended - began + 1] == list(range(began, ended + 1))


def test_someone_at_a_terminal_answers_and_leaves_while_the_thread_works_on(
    server: Serving, client: Client, connected: Steer, workspace: Path
) -> None:
    thread = client.start(str(workspace), "Ask.", model=server.model(ASKS, LONG, DONE)).id
    client.wait(thread)
    with Terminal(connected, "attach", thread) as terminal:
        terminal.until("or say what to do instead:")
        terminal.press("y\n")
        terminal.until("sleep 600")
        terminal.press(CTRL_C)
        assert terminal.end() == 130
    assert (workspace / "told.txt").read_text() == "hello\n"
    assert client.thread(thread).state == "running"
    client.cancel(thread)


def test_the_newest_thread_is_attached_to_by_the_address_alone(
    server: Serving, client: Client, connected: Steer, workspace: Path
) -> None:
    thread = client.start(str(workspace), "Write it.", model=server.model(WRITE, DONE)).id
    client.wait(thread)
    assert good(connected("attach", server.url, "--quiet")) == "Done.\n"


def test_what_ended_long_ago_is_shown_to_its_last_word(
    server: Serving, client: Client, connected: Steer, environ: dict[str, str], workspace: Path
) -> None:
    long = [
        call("workspace_write_file", path=f"{one}.txt", content="new\n" * 20_000) for one in "abcd"
    ]
    model = server.model({"tool_calls": long}, DONE)
    thread = client.start(str(workspace), "Write much.", model=model).id
    client.wait(thread)
    last = client.messages(thread, kinds=["turn_end"]).messages[-1].seq
    for steer in (Steer(environ, workspace), connected):
        seen = steer.messages("attach", thread)
        assert last in [one["seq"] for one in seen]


def test_who_waits_learns_that_a_turn_was_cut_off(
    server: Serving, client: Client, connected: Steer, workspace: Path
) -> None:
    thread = client.start(str(workspace), "Take long.", model=server.model(LONG, DONE)).id
    attached = connected.start("attach", thread, "--json")
    _until(attached, "tool_call")
    server.kill()
    server.start()
    attached.communicate(timeout=PATIENCE)
    assert attached.returncode == 130


def _until(process: "Popen[str]", kind: str) -> list[dict[str, Any]]:
    """The messages that a process prints, up to the first of a kind."""
    seen: list[dict[str, Any]] = []
    assert process.stdout is not None
    while not seen or seen[-1]["kind"] != kind:
        seen.append(json.loads(process.stdout.readline()))
    return seen


def test_a_handle_over_http_does_what_one_on_this_machine_does(
    server: Serving, client: Client, workspace: Path
) -> None:
    thread = client.start(str(workspace), "Ask.", model=server.model(ASKS, DONE, DONE)).id
    corr = client.wait(thread).waiting_for.corr

    async def work() -> tuple[TurnEnd | None, str]:
        async with Remote(server.url, server.token) as there:
            handle: ThreadHandle = await there.attach(thread)
            await handle.withdraw(await handle.queue("Forget it."))
            await handle.hasten(await handle.queue("Now."))
            await handle.set(title="Another", mode="plan")
            await handle.answer(corr, ConfirmResponse("deny", "Not like that."))
            end = await handle.wait()
            assert not await handle.compact()
            with pytest.raises(UsageProblem, match="Cannot change trust"):
                await handle.set(trust="untrusted")
            with pytest.raises(UsageProblem, match="Cannot undo over a connection"):
                await handle.plan_undo()
            return end, await handle.last_words()

    assert asyncio.run(work()) == (TurnEnd("done", 2), "Done.")
    said = client.messages(thread, kinds=["user"]).messages
    assert [one.body.text for one in said] == ["Ask.", "Now."]
    assert client.thread(thread).title == "Another"


# Coming in


def test_the_token_comes_from_a_file_that_nobody_else_can_read(server: Serving, far: Steer) -> None:
    kept = far.folder / "token"
    kept.write_text(f"{server.token}\n")
    kept.chmod(0o644)
    listed = ("threads", "list", "--connect", server.url, "--token-file", str(kept))
    done = far(*listed)
    assert (done.returncode, f"Others can read the token in {kept}" in done.stderr) == (2, True)
    kept.chmod(0o600)
    assert good(far(*listed)).startswith("No threads")


@pytest.mark.parametrize("token", ["wrong-token-wrong-token", ""])
def test_a_token_is_needed(server: Serving, far: Steer, token: str) -> None:
    steer = Steer({**far.environ, "STEERSMAN_TOKEN": token}, far.folder)
    done = steer("threads", "list", "--connect", server.url)
    assert (done.returncode, done.stdout) == (2, "")
    assert ("does not accept this token" if token else "A token is needed") in done.stderr


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("http://me:s3cret@127.0.0.1:8920", "An address has no name, password or token in it"),
        ("http://127.0.0.1:8920/?token=s3cret", "An address has no name, password or token in it"),
        ("http://example.org", "Pass --plain-http"),
        ("ftp://127.0.0.1", "is not the address of a server"),
        ("http://[::1", "is not the address of a server"),
        ("http://127.0.0.1:abc", "is not the address of a server"),
        ("http://127.0.0.1:99999", "is not the address of a server"),
        ("https://example..org", "is not the address of a server"),
    ],
)
def test_an_address_is_refused_before_anything_is_sent(far: Steer, url: str, what: str) -> None:
    steer = Steer({**far.environ, "STEERSMAN_TOKEN": "x" * 20}, far.folder)
    done = steer("threads", "list", "--connect", url)
    assert (done.returncode, done.stdout) == (2, "")
    assert what in done.stderr
    assert "s3cret" not in done.stderr


def test_a_server_that_nobody_vouches_for_gets_no_token(
    environ: dict[str, str], tmp_path: Path, far: Steer
) -> None:
    certificate, key = self_signed(tmp_path)
    server = Serving(environ, tmp_path, "--tls-cert", certificate, "--tls-key", key)
    steer = Steer({**far.environ, "STEERSMAN_TOKEN": server.token}, far.folder)
    done = steer("threads", "list", "--connect", server.url)
    server.stop()
    assert (done.returncode, done.stdout) == (1, "")
    assert "certificate verify failed" in done.stderr


def self_signed(folder: Path) -> tuple[str, str]:
    """A certificate for this machine, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    own = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(own, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(pem))
    (folder / "key.pem").write_bytes(private)
    return str(folder / "cert.pem"), str(folder / "key.pem")


def test_nobody_is_there(far: Steer) -> None:
    steer = Steer({**far.environ, "STEERSMAN_TOKEN": "x" * 20}, far.folder)
    done = steer("tell", "http://127.0.0.1:1#abc", "Hello.")
    assert (done.returncode, done.stdout) == (1, "")
    assert "The server does not answer" in done.stderr


@pytest.fixture
def someone() -> Iterator[Callable[[int, bytes], str]]:
    """Another server, which answers everything alike."""
    running: list[HTTPServer] = []

    def answering(status: int, body: bytes) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        made = HTTPServer(("127.0.0.1", 0), Handler)
        running.append(made)
        threading.Thread(target=made.serve_forever).start()
        return f"http://127.0.0.1:{made.server_port}"

    yield answering
    for one in running:
        one.shutdown()
        one.server_close()


@pytest.mark.parametrize(
    ("status", "body", "what"),
    [
        (404, b'{"what": "There is nothing at this address."}', "does not know this request"),
        (404, b"<h1>Not found</h1>", "does not know this request"),
        (200, b"<h1>Welcome</h1>", "cannot be understood"),
        (302, b"", "The server answered with status 302"),
    ],
)
def test_a_server_that_is_older_or_something_else(
    far: Steer, someone: Callable[[int, bytes], str], status: int, body: bytes, what: str
) -> None:
    steer = Steer({**far.environ, "STEERSMAN_TOKEN": "x" * 20}, far.folder)
    done = steer("threads", "list", "--connect", someone(status, body))
    assert (done.returncode, done.stdout) in ((1, ""), (2, ""))
    assert what in done.stderr
