"""Who comes in: each attack on a server of this machine, as it would be sent."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.http.kit import Served

ME = "/api/v0/me"
NO = (401, 429)  # the second after many others


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "",
        "0.0.0.0:{port}",
    ],
)
def test_a_name_that_is_not_the_servers_is_refused(server: Served, host: str) -> None:
    """DNS rebinding: a page calls this machine by a name of its own."""
    port = server.at.rpartition(":")[2]
    got = server.request("GET", ME, headers={"Host": host.format(port=port)})
    assert got.status in (400, 421)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_the_names_of_this_machine_are_the_servers(server: Served, name: str) -> None:
    """Also with other letters, and always with its port."""
    port = server.at.rpartition(":")[2]
    assert server.request("GET", ME, headers={"Host": f"{name}:{port}"}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost"},
        {"Origin": "https://{at}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_other_origins_are_refused(server: Served, headers: dict[str, str]) -> None:
    """Even with the right token: they should not have it."""
    sent = {name: value.format(at=server.at) for name, value in headers.items()}
    assert server.request("GET", ME, headers=sent).status == 403
    assert server.request("POST", "/api/v0/threads", {}, headers=sent).status == 403


def test_the_servers_own_page_comes_in(server: Served) -> None:
    """Its origin has the port."""
    own = {"Origin": f"http://{server.at}", "Sec-Fetch-Site": "same-origin"}
    got = server.request("GET", ME, headers=own)
    assert got.status == 200
    assert "access-control-allow-origin" not in got.headers


@pytest.mark.parametrize("token", [None, "wrong", "steer_00000000_x", "steer__", "Ω"])
def test_without_a_valid_token_nothing_is_told(server: Served, token: str | None) -> None:
    """Neither whether a thread is there, nor what there is."""
    given: dict[str, str] = {} if token != "Ω" else {"Authorization": "Bearer \xce\xa9"}
    for path in (ME, "/api/v0/threads/abc", "/api/v0/nothing"):
        got = server.request("GET", path, token=None if given else token, headers=given)
        assert got.status in NO
        assert "token" in got.json["what"]


def test_a_token_in_the_address_is_none(server: Served) -> None:
    """Addresses are kept in histories and logs."""
    for name in ("token", "access_token", "ticket"):
        got = server.request("GET", f"{ME}?{name}={server.token}", token=None)
        assert got.status in NO


def test_two_tokens_are_none(server: Served) -> None:
    """Whoever reads the other one would disagree."""
    raw = f"GET {ME} HTTP/1.1\r\nHost: {server.at}\r\nConnection: close\r\n" + (
        f"Authorization: Bearer {server.token}\r\n" * 2
    )
    assert _sent(server, raw + "\r\n").startswith((b"HTTP/1.1 401", b"HTTP/1.1 429"))


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
)
def test_a_form_cannot_change_anything(server: Served, kind: str) -> None:
    """A page sends these without asking anyone."""
    got = server.request(
        "POST", "/api/v0/threads", raw=b'{"workspace": "/"}', headers={"Content-Type": kind}
    )
    assert got.status == 415


def test_reading_changes_nothing(server: Served) -> None:
    """What acts cannot be asked for with GET."""
    for path in ("send", "cancel", "answer", "fork", "undo", "rewind"):
        assert server.request("GET", f"/api/v0/threads/abc/{path}").status == 405


def test_guessing_is_slowed_down_and_keeps_nobody_out(server: Served) -> None:
    """The right token works all the while."""
    answers = [server.request("GET", ME, token=f"guess{n}").status for n in range(30)]
    assert answers[-1] == 429
    assert server.request("GET", ME).status == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json"])
def test_a_few_things_need_no_token(server: Served, path: str) -> None:
    """They tell nothing about threads; the name must be right all the same."""
    assert server.request("GET", path, token=None).status == 200
    assert server.request("GET", path, token=None, headers={"Host": "evil"}).status == 421


def test_answers_are_safe_to_look_at(server: Served) -> None:
    """A browser neither guesses, keeps, frames nor runs them."""
    for path in (ME, "/api/v0/nothing", "/healthz"):
        headers = server.request("GET", path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "server" not in headers


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--host", "0.0.0.0"], "Other machines can reach 0.0.0.0."),
        (["--host", "::"], "Other machines can reach ::."),
        (["--tls-cert", "x"], "A certificate and its key are both needed."),
        (["--tls-cert", "x", "--tls-key", "y"], "The certificate or its key cannot be used."),
        (["--host", "0.0.0.0", "--plain-http"], "can be reached from other machines"),
    ],
)
def test_other_machines_connect_only_if_that_is_meant(
    server: Served, flags: list[str], said: str
) -> None:
    """Without TLS, or a name to be called by, it does not start."""
    done = server.run("serve", "--port", "0", *flags)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_without_a_token_that_is_secret_it_does_not_start(
    server: Served, tmp_path: Path, mode: int
) -> None:
    """One that others can read is none, nor is an empty one."""
    file = tmp_path / "token"
    file.write_text("" if mode == 0o600 else "x" * 40)
    file.chmod(mode)
    done = server.run("serve", "--port", "0", "--token-file", str(file))
    assert done.returncode == 2
    assert "token" in done.stderr


def test_a_server_behind_a_proxy_is_called_by_its_public_name(tmp_path: Path) -> None:
    """With no port, as browsers do; what the proxy says about its clients counts for nothing."""
    made = Served(tmp_path / "home", tmp_path / "work", "--public", "steer.example")
    try:
        own = {"Host": "steer.example", "Origin": "https://steer.example"}
        assert made.request("GET", ME, headers=own).status == 200
        port = made.at.rpartition(":")[2]
        assert made.request("GET", ME, headers={"Host": f"steer.example:{port}"}).status == 200
        assert made.request("GET", ME, headers={"Host": "127.0.0.1"}).status == 421
        assert made.request("GET", ME, headers={**own, "Origin": "https://evil"}).status == 403
    finally:
        made.stop()


# Tokens of others


def _token(server: Served, *flags: str) -> tuple[str, dict[str, Any]]:
    made = json.loads(server.steer("token", "make", "robot", "--json", *flags))
    return made["token"], made


def test_a_token_does_what_it_may_and_nothing_else(server: Served) -> None:
    """Reading is always allowed; the others have to be."""
    reads, _ = _token(server, "--may", "read")
    answers, _ = _token(server, "--may", "answer")
    body = {"workspace": str(server.workspace)}
    assert server.request("GET", "/api/v0/threads", token=reads).status == 200
    assert server.request("POST", "/api/v0/threads", body, token=reads).status == 403
    assert server.request("POST", "/api/v0/threads", body, token=answers).status == 403
    thread = server.begin({"text": "Hello."})
    server.ended(thread)
    given = {"type": "question", "corr": "ask_1", "text": "yes"}
    path = f"/api/v0/threads/{thread}/answer"
    assert server.request("POST", path, given, token=reads).status == 403
    assert server.request("POST", path, given, token=answers).status in (400, 409)


def test_a_token_for_one_folder_knows_no_other(server: Served, tmp_path: Path) -> None:
    """Threads elsewhere are not there for it."""
    own, _ = _token(server, "--workspace", str(tmp_path))
    thread = server.begin({"text": "Hello."})
    assert server.get("/threads", token=own)["threads"] == []
    for path in ("", "/messages", "/events", "/export", "/cost", "/verify"):
        got = server.request("GET", f"/api/v0/threads/{thread}{path}", token=own)
        assert got.status == 404, path
    body = {"workspace": str(server.workspace)}
    assert server.request("POST", "/api/v0/threads", body, token=own).status == 403
    for action in ("send", "steer", "queue", "fork", "cancel"):
        path = f"/api/v0/threads/{thread}/{action}"
        assert server.request("POST", path, {"text": "hi"}, token=own).status in (400, 404)


def test_a_revoked_token_is_worth_nothing(server: Served) -> None:
    """Within a second, which is how long it is remembered."""
    text, made = _token(server)
    assert server.request("GET", ME, token=text).status == 200
    server.steer("token", "revoke", made["id"])
    while server.request("GET", ME, token=text).status == 200:
        pass
    assert made["id"] not in server.steer("token", "list")


def test_an_expired_token_is_worth_nothing(server: Served) -> None:
    """Its time is over almost as soon as it is made."""
    text, _ = _token(server, "--days", "0.0000001")
    while server.request("GET", ME, token=text).status == 200:
        pass


def test_secrets_of_tokens_are_kept_nowhere(server: Served) -> None:
    """The store has their hashes."""
    text, _ = _token(server)
    secret = text.rpartition("_")[2].encode()
    kept = [path for path in (server.home / "data").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if secret in path.read_bytes()]


# Tickets


def test_a_ticket_opens_its_path_once(server: Served) -> None:
    """And no other, though the path is right the second time."""
    thread = server.begin({"text": "Hello."})
    path = f"/api/v0/threads/{thread}/export"
    ticket = server.post("/tickets", {"path": path})["ticket"]
    assert server.request("GET", f"{path}?ticket={ticket}", token=None).status == 200
    assert server.request("GET", f"{path}?ticket={ticket}", token=None).status in NO
    other = server.post("/tickets", {"path": path})["ticket"]
    assert server.request("GET", f"{ME}?ticket={other}", token=None).status in NO
    assert server.request("GET", f"{path}?ticket={other}", token=None).status in NO


def test_a_ticket_only_reads(server: Served) -> None:
    """A page of someone else cannot act with one it found."""
    path = "/api/v0/threads"
    ticket = server.post("/tickets", {"path": path})["ticket"]
    body = {"workspace": str(server.workspace)}
    assert server.request("POST", f"{path}?ticket={ticket}", body, token=None).status in NO


# What is too much


def test_a_huge_body_is_refused_before_it_is_read(server: Served) -> None:
    """By its length, and without one as soon as it is too long."""
    head = (
        f"POST /api/v0/threads HTTP/1.1\r\nHost: {server.at}\r\n"
        f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
    )
    said = _sent(server, f"{head}Content-Length: {1 << 30}\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 413")
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    said = _sent(server, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * 40)
    assert said.startswith((b"HTTP/1.1 413", b""))
    assert server.request("GET", ME).status == 200


def test_many_headers_are_refused(server: Served) -> None:
    """They are never kept."""
    many = "".join(f"X-{n}: {'y' * 50}\r\n" for n in range(20_000))
    said = _sent(server, f"GET {ME} HTTP/1.1\r\nHost: {server.at}\r\n{many}\r\n")
    assert said == b"" or said.startswith(b"HTTP/1.1 4")
    assert server.request("GET", ME).status == 200


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: -1\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Content-Length : 5\r\n",
        " folded: x\r\n",
    ],
)
def test_a_request_that_can_be_read_in_two_ways_is_refused(server: Served, head: str) -> None:
    """Smuggling: what follows must not count as a request of its own."""
    inner = (
        f"GET {ME} HTTP/1.1\r\nHost: {server.at}\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    )
    said = _sent(
        server,
        f"POST /api/v0/threads HTTP/1.1\r\nHost: {server.at}\r\nContent-Type: application/json\r\n"
        f"{head}\r\n0\r\n\r\n{inner}",
    )
    assert b'"owner"' not in said
    assert said == b"" or said.startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize(
    "name",
    [
        "..", "../../etc/passwd", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "a%00b", "%252e%252e",
        "%5c..%5c", "abc/../../me", "'%20OR%201=1--", "%ff", "A" * 500, "%E2%80%AE",
    ],
)  # fmt: skip
def test_no_path_leads_anywhere_else(server: Served, name: str) -> None:
    """A thread has an id, and nothing else is one."""
    for path in ("", "/messages", "/events", "/export", "/cost"):
        got = server.request("GET", f"/api/v0/threads/{name}{path}")
        assert got.status in (400, 404), (path, got.body)
        assert b"root:" not in got.body


def _sent(server: Served, request: str | bytes) -> bytes:
    """What a server answers to bytes."""
    host, _, port = server.at.rpartition(":")
    with socket.create_connection((host, int(port)), 60) as line:
        try:
            line.sendall(request.encode() if isinstance(request, str) else request)
            line.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has heard enough
        said = b""
        try:
            while piece := line.recv(65536):
                said += piece
        except OSError:
            pass
        return said
