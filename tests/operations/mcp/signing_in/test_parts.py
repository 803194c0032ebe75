"""The parts of a sign-in: what is kept, where a browser comes back to, whom secrets may go to."""

import asyncio
import json
import os
import socket
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError

from steersman.governance.secrets import secret_values
from steersman.identity.mcp_servers import parse, private_values
from steersman.operations.mcp.callback import Answer, Callback
from steersman.operations.mcp.discretion import Discretion
from steersman.operations.mcp.sign_in_auth import private, why
from steersman.operations.mcp.tokens import SignIn, SignIns, key, signs_in, summary
from steersman.records.errors import StorageProblem, UsageProblem
from steersman.records.mcp_server import OAuth, Server
from tests.operations.mcp.signing_in.house import visit

HERE = Server("web", "http", url="https://web.example/mcp")
TOKENS = {"access_token": "access-token-1", "refresh_token": "refresh/token+1"}
MADE = SignIn(tokens=TOKENS, client={"client_id": "me", "client_secret": "client-secret-1"})
SECRETS = ["access-token-1", "refresh/token+1", "client-secret-1"]


def test_a_sign_in_is_kept_for_its_owner_and_forgotten(tmp_path: Path) -> None:
    sign_ins = SignIns(tmp_path)
    assert sign_ins.of(HERE) is None
    os.umask(umask := os.umask(0))
    try:
        os.umask(0)
        sign_ins.keep(HERE, MADE)
    finally:
        os.umask(umask)
    assert SignIns(tmp_path).of(HERE) == MADE
    (file,) = (tmp_path / "sign-ins").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert "web" not in file.name
    assert sign_ins.secrets() == set(SECRETS)
    assert sign_ins.forget(HERE)
    assert not sign_ins.forget(HERE)
    assert sign_ins.of(HERE) is None


@given(st.text(), st.text(), st.text(), st.text())
def test_another_name_or_address_is_another_server(a: str, b: str, c: str, d: str) -> None:
    same = (a, b) == (c, d)
    assert (key(Server(a, "http", url=b)) == key(Server(c, "http", url=d))) == same or "\0" in a + c


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b'{"tokens": 3}', b"[" * 100_000])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damage: bytes) -> None:
    sign_ins = SignIns(tmp_path)
    sign_ins.keep(HERE, MADE)
    (file,) = (tmp_path / "sign-ins").iterdir()
    file.write_bytes(damage)
    assert sign_ins.of(HERE) is None
    sign_ins.keep(HERE, MADE)
    assert sign_ins.of(HERE) == MADE


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "sign-ins").write_text("in the way")
    with pytest.raises(StorageProblem, match="cannot be kept"):
        SignIns(tmp_path).keep(HERE, MADE)


def test_nothing_shows_what_is_secret() -> None:
    shown = f"{MADE!r} {HERE!r} {OAuth(client_secret='client-secret-1')!r} {Answer('a-code')!r}"
    assert not any(secret in shown for secret in [*SECRETS, "a-code"])
    assert sorted(MADE.secrets) == sorted(SECRETS)
    discretion = Discretion(HERE)
    discretion.learn(MADE.secrets)
    said = {"text": f"I heard {' and '.join(SECRETS)}."}
    assert discretion.result(said) == {"text": "I heard [redacted] and [redacted] and [redacted]."}
    assert discretion.sentence("refresh%2Ftoken%2B1") == "[redacted]"


@pytest.mark.parametrize(
    ("server", "does"),
    [
        (HERE, True),
        (Server("x", "sse", url="https://web.example/sse", headers={"X-Team": "core"}), True),
        (Server("x", "http", url="https://web.example/", headers={"authorization": "t"}), False),
        (Server("x", "http", url="https://me:password@web.example/"), False),
        (Server("x", "stdio", command="true"), False),
    ],
)
def test_a_sign_in_is_for_servers_that_are_shown_nothing_else(server: Server, does: bool) -> None:
    assert signs_in(server) is does


def test_how_it_stands_is_told_in_few_words() -> None:
    assert [summary(one) for one in (None, MADE, SignIn(wanted="more", tokens=TOKENS))] == [
        "",
        "signed in",
        "needs a sign-in",
    ]
    assert summary(SignIn(ended="It is over.")) == "needs a sign-in"


@pytest.mark.parametrize(
    ("address", "right"),
    [
        ("https://door.example/token", True),
        ("http://127.0.0.1:3000/token", True),
        ("http://[::1]/token", True),
        ("http://localhost/token", True),
        ("http://door.example/token", False),
        ("http://localhost.door.example/token", False),
        ("http://169.254.169.254/latest", False),
        ("file:///etc/passwd", False),
    ],
)
def test_secrets_go_only_where_nobody_listens(address: str, right: bool) -> None:
    if right:
        private(address, HERE.url)
    else:
        with pytest.raises(OAuthFlowError, match="unencrypted"):
            private(address, HERE.url)
    private("http://nas.local/token", "http://nas.local/mcp")  # the person chose that line


def test_why_it_failed_holds_nothing_that_was_sent() -> None:
    body = '{"error": "invalid_grant", "error_description": "access-token-1 is unknown"}'
    assert why(OAuthTokenError(f"Token exchange failed (400): {body}")) == (
        "It gave no token (invalid_grant)."
    )
    assert "access" not in why(OAuthRegistrationError("Registration failed: 400 access-token-1"))
    assert "secret" not in why(OAuthFlowError("State parameter mismatch: secret1 != secret2"))
    assert (
        why(OAuthFlowError("No authorization code received")) == "No authorization code received."
    )


def test_a_browser_comes_back_to_this_machine_alone() -> None:
    async def back() -> None:
        async with Callback() as callback:
            assert callback.address.startswith("http://127.0.0.1:")
            port = callback.address.rpartition(":")[2].partition("/")[0]
            with pytest.raises(UsageProblem, match="Cannot listen"):
                async with Callback(int(port)):
                    pass
            assert await asyncio.to_thread(visit, f"{callback.address}?code=c&state=") == 400
            callback.expect("right")
            assert await asyncio.to_thread(visit, f"{callback.address}?code=c&state=wrong") == 400
            await asyncio.to_thread(babble, int(port))
            came = f"{callback.address}?code=c&state=right&iss=https://door.example"
            assert await asyncio.to_thread(visit, came) == 200
            assert await asyncio.to_thread(visit, came.replace("code=c", "code=d")) == 200
            assert await callback.answer() == Answer("c", "right", "https://door.example")

    asyncio.run(back())


def babble(port: int) -> None:
    """Somebody who does not speak HTTP."""
    for words in (b"", b"\xff\xfe\r\n\r\n", b"GET " + b"x" * 100_000):
        with socket.create_connection(("127.0.0.1", port)) as line:
            try:
                line.sendall(words)
                line.shutdown(socket.SHUT_WR)
                while line.recv(4096):
                    pass
            except ConnectionError:
                pass


def entry(**oauth: object) -> str:
    return json.dumps({"mcpServers": {"web": {"url": "https://web.example/mcp", "oauth": oauth}}})


def test_an_entry_says_how_to_sign_in(tmp_path: Path) -> None:
    text = entry(
        clientId="me", clientSecret="${SECRET}", scopes=["read"], grant="client_credentials",
        issuer="https://door.example", callbackPort=4000,
    )  # fmt: skip
    (server,), problems, _ = parse(text, "mcp.json", {"SECRET": "s3cret-of-web"})
    assert problems == []
    assert server.oauth == OAuth(
        client_id="me",
        client_secret="s3cret-of-web",
        scopes=("read",),
        grant="client_credentials",
        issuer="https://door.example",
        port=4000,
    )
    assert private_values((server,)) == {"s3cret-of-web"}
    assert Discretion(server).sentence("no s3cret-of-web here") == "no [redacted] here"
    (tmp_path / "mcp.json").write_text(entry(clientSecret="s3cret of web", privateKey="k" * 20))
    assert secret_values({}, [tmp_path / "mcp.json"]) == {"s3cret of web", "k" * 20}


@pytest.mark.parametrize(
    ("oauth", "wrong"),
    [
        ({"grant": "password"}, "`oauth.grant` should be"),
        ({"grant": "client_credentials", "clientId": "me"}, "needs `clientId` and `clientSecret`"),
        ({"privateKey": "s3cret-of-web"}, "`oauth.privateKey` is for the grant"),
        ({"issuer": "door.example"}, "`oauth.issuer` should start with"),
        ({"callbackPort": 70000}, "`oauth.callbackPort` should be a port"),
        ({"clientSecret": "${NOT_SET}"}, "needs the variable NOT_SET"),
        ({"clientSecret": ["s3cret-of-web"]}, "must be text"),
    ],
)
def test_an_entry_that_says_it_wrong_is_told_without_its_values(
    oauth: dict[str, object], wrong: str
) -> None:
    servers, (problem,), _ = parse(entry(**oauth), "mcp.json", {})
    assert servers == []
    assert wrong in problem
    assert "s3cret" not in problem
