"""The light HTTP client: what servers send, whole, in pieces, packed, wrong or not at all."""

import asyncio
import shutil
import ssl
import subprocess
import zlib
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from steersman.intelligence.drivers.line import Cut, Garbled, Late, Line, LineError, Unreached

T = TypeVar("T")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
COUNTED = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
BODY = b"5\r\nhello\r\n7;x=1\r\n, world\r\n0\r\nTrailer: t\r\n\r\n"


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, which must come."""
    return asyncio.run(asyncio.wait_for(work, 60))


class Server:
    """Answers each request with the next of some replies, a byte at a time if need be."""

    def __init__(self, *replies: bytes, slowly: bool = False, stays: bool = True) -> None:
        self.replies = list(replies)
        self.slowly = slowly
        self.stays = stays
        self.connections = 0
        self.heads: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.replies:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r")[0]))
                self.heads.append(head)
                reply = self.replies.pop(0)
                for piece in [bytes([one]) for one in reply] if self.slowly else [reply]:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                if not self.stays:
                    break
            await reader.read() if self.stays else None
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def asked(self, times: int = 1, tls: ssl.SSLContext | None = None) -> list[bytes]:
        """The bodies of its answers to as many requests on one line."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=tls)
        port = server.sockets[0].getsockname()[1]
        line, bodies = Line(), []
        async with server:
            for _ in range(times):
                name = "localhost" if tls else "127.0.0.1"
                url = f"{'https' if tls else 'http'}://{name}:{port}/v1/a b?x=ü"
                reply = await line.post(url, {"accept": "*/*"}, b"ask", 30)
                try:
                    bodies.append(b"".join([piece async for piece in reply.pieces()]))
                finally:
                    await reply.aclose()
            await line.aclose()
        return bodies


@pytest.mark.parametrize("slowly", [False, True], ids=["at once", "byte by byte"])
@pytest.mark.parametrize(
    ("reply", "body"),
    [
        (CHUNKED + BODY, b"hello, world"),
        (COUNTED + b"done", b"done"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + COUNTED + b"done", b"done"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (COUNTED.replace(b"\r\n", b"\n") + b"done", b"done"),
    ],
)
def test_an_answer_is_read_whole_and_its_connection_kept(reply, body, slowly) -> None:
    server = Server(reply, reply, slowly=slowly)
    assert run(server.asked(2)) == [body, body]
    assert server.connections == 1


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    server = Server(b"HTTP/1.0 200 OK\r\n\r\ntext", stays=False)
    assert run(server.asked()) == [b"text"]


def test_what_a_server_packed_is_unpacked() -> None:
    packed = zlib.compress(b"text" * 1000)
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: deflate\r\ncontent-length: {len(packed)}\r\n\r\n"
    assert run(Server(head.encode() + packed).asked()) == [b"text" * 1000]


def test_a_request_says_who_is_asked_and_hides_no_letter() -> None:
    server = Server(COUNTED + b"done")
    run(server.asked())
    first, second, *_ = server.heads[0].split(b"\r\n")
    assert first == b"POST /v1/a%20b?x=%C3%BC HTTP/1.1"
    assert second.startswith(b"host: 127.0.0.1:")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (b"", Cut),
        (b"HTTP/1.1 200 OK\r\n", Cut),
        (COUNTED + b"do", Cut),
        (CHUNKED + b"5\r\nhel", Cut),
        (CHUNKED + b"5\r\nhello\r\n", Cut),
        (CHUNKED + b"many\r\nhello\r\n", Garbled),
        (b"SSH-2.0-OpenSSH_9.6\r\n", Garbled),
        (b"HTTP/1.1 OK\r\n\r\n", Garbled),
        (b"HTTP/1.1 200 OK\r\nno header\r\n\r\n", Garbled),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", Garbled),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000 + b"\r\n\r\n", Garbled),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 1000 + b"\r\n", Garbled),
    ],
)
def test_what_is_not_an_answer_is_told_from_one_that_was_cut(reply, error) -> None:
    with pytest.raises(LineError) as caught:
        run(Server(reply, stays=False).asked())
    assert type(caught.value) is error


def test_an_answer_that_is_left_ends_its_connection() -> None:
    async def left() -> int:
        server = Server(COUNTED + b"done", COUNTED + b"done")
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        line = Line()
        async with listening:
            for _ in range(2):
                reply = await line.post(f"http://127.0.0.1:{port}", {}, b"", 30)
                await reply.aclose()
            await line.aclose()
        return server.connections

    assert run(left()) == 2


def test_nobody_there_and_no_such_host() -> None:
    for url in ("http://127.0.0.1:1/", "http://localhost:1/", "http://no-such-host.invalid/"):
        with pytest.raises(Unreached) as caught:
            run(Line().post(url, {}, b"", 30))
        refused = isinstance(caught.value.__cause__, ConnectionRefusedError)
        assert refused is not url.endswith("invalid/")


def test_a_connection_that_takes_too_long() -> None:
    with pytest.raises(Late):
        run(Line().post("http://127.0.0.1:1/", {}, b"", -1))


@pytest.fixture
def certified(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's side of TLS for `localhost`, and its certificate."""
    openssl = shutil.which("openssl")
    assert openssl, "these tests need openssl"
    key, made = tmp_path / "key.pem", tmp_path / "made.pem"
    words = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(made)]
    subprocess.run([openssl, *words], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(made, key)
    return tls, made


def test_a_certificate_that_was_named_is_trusted_and_no_other(certified, monkeypatch) -> None:
    tls, made = certified
    with pytest.raises(Unreached) as caught:
        run(Server(COUNTED + b"done").asked(tls=tls))
    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)
    monkeypatch.setenv("SSL_CERT_FILE", str(made))
    assert run(Server(COUNTED + b"done").asked(tls=tls)) == [b"done"]


def test_the_certificates_are_those_that_other_clients_trust() -> None:
    from httpcore2 import default_ssl_context

    from steersman.intelligence.drivers.trust import context

    made, other = context(), default_ssl_context()
    assert made.cert_store_stats() == other.cert_store_stats()
    assert made.check_hostname
    assert made.verify_mode is ssl.CERT_REQUIRED
