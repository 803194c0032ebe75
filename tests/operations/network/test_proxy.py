"""The proxy, spoken to byte by byte: what passes, what is refused, and that nothing is left."""

import asyncio
import os
import socket
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from steersman.operations.running import dialling
from steersman.operations.running import proxy as module
from steersman.operations.running.proxy import Proxy
from tests.operations.network.kit import HELLO, HERE, Handler, World, saying, server
from tests.operations.processes.kit import run

TOKEN = "secret"
RIGHT = "Proxy-Authorization: Basic " + b64encode(f"steer:{TOKEN}".encode()).decode()
WORLD = {"ok.test": HERE}


@asynccontextmanager
async def proxy(world: World, **options: Any) -> AsyncIterator[int]:
    """A proxy on this machine's own loopback; the answer is its port."""
    listener = socket.create_server((HERE, 0))
    serving = Proxy(
        TOKEN, options.pop("ask", world.ask), lambda *what: world.denied.append(what),
        **{"local": world.local, "resolve": world.resolve, **options},
    )  # fmt: skip
    await serving.serve(listener)
    port = listener.getsockname()[1]
    try:
        yield port
    finally:
        await serving.close()


@asynccontextmanager
async def between(handler: Handler) -> AsyncIterator[tuple[int, int]]:
    """A server and a proxy by which it may be reached; the answer is the ports of both."""
    async with (
        server(handler) as port,
        proxy(World(f"ok.test:{port}", names=WORLD)) as way,
    ):
        yield port, way


async def say(port: int, request: str | bytes, *, end: bool = False) -> str:
    """All that is answered to a request."""
    reader, writer = await asyncio.open_connection(HERE, port)
    try:
        writer.write(request if isinstance(request, bytes) else request.encode())
        if end:
            writer.write_eof()
        return (await reader.read()).decode()
    finally:
        writer.close()


def lines(*words: str) -> str:
    """A head."""
    return "\r\n".join([*words, "", ""])


def get(port: int, *fields: str, host: str = "ok.test", method: str = "GET") -> str:
    """A head of a request through the proxy."""
    return lines(f"{method} http://{host}:{port}/page?q#part HTTP/1.1", RIGHT, *fields)


async def told(*fields: str, answer: bytes = HELLO, body: str = "", method: str = "GET") -> Any:
    """What the server heard and the client was answered."""
    heard: list[bytes] = []
    async with between(saying(answer, heard)) as (port, way):
        answered = await say(way, get(port, *fields, method=method) + body)
        return [head.decode().replace(str(port), "PORT") for head in heard], answered


def test_a_request_reaches_the_host_it_names_and_nothing_of_the_hop_does():
    fields = (
        "Host: evil.test", "Connection: close, X-Hop", "X-Hop: 1", "Keep-Alive: 5",
        "Proxy-Connection: keep-alive", "TE: trailers", "Upgrade: h2c", "X-Kept: ä",
    )  # fmt: skip
    heard, answered = run(told(*fields))
    assert heard == [
        "GET /page?q HTTP/1.1\r\nHost: ok.test:PORT\r\nX-Kept: ä\r\nConnection: close\r\n\r\n"
    ]
    assert answered == "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n"


@pytest.mark.parametrize(
    ("method", "answer", "passed"),
    [
        ("GET", "200 OK|Transfer-Encoding: chunked||3;x=y|abc|0|Trailer: dropped||",
         "200 OK|Transfer-Encoding: chunked|Connection: close||3|abc|0||"),
        ("GET", "200 OK||until the end", "200 OK|Connection: close||until the end"),
        ("GET", "204 No Content||", "204 No Content|Connection: close||"),
        ("GET", "100 Continue||HTTP/1.1 200 OK|Content-Length: 1||x",
         "100 Continue||HTTP/1.1 200 OK|Content-Length: 1|Connection: close||x"),
        ("HEAD", "200 OK|Content-Length: 99||", "200 OK|Content-Length: 99|Connection: close||"),
        ("GET", "304 Not Modified|Content-Length: 99||",
         "304 Not Modified|Content-Length: 99|Connection: close||"),
        ("GET", "200 OK|Content-Length: 2||xyz and another response",
         "200 OK|Content-Length: 2|Connection: close||xy"),
        ("GET", "200 OK|Transfer-Encoding: chunked|Content-Length: 1||1|x|0||",
         "200 OK|Transfer-Encoding: chunked|Connection: close||1|x|0||"),
    ],
)  # fmt: skip
def test_responses_pass_whole_and_no_longer_than_they_are(method, answer, passed):
    _, answered = run(
        told(answer=f"HTTP/1.1 {answer}".replace("|", "\r\n").encode(), method=method)
    )
    assert answered == f"HTTP/1.1 {passed}".replace("|", "\r\n")


@pytest.mark.parametrize(
    "answer",
    [
        "", "nonsense\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nbad field\r\n\r\n", "HTTP/1.1 200 OK\r\nX: " + "x" * 70_000,
        "HTTP/1.1 200 OK\r\nContent-Le",
    ],
)  # fmt: skip
def test_a_server_that_is_not_understood_is_a_502(answer):
    _, answered = run(told(answer=answer.encode()))
    assert answered.startswith("HTTP/1.1 502 Bad Gateway (ok.test:")


@pytest.mark.parametrize(
    "answer",
    ["Content-Length: 9\r\n\r\npart", "Transfer-Encoding: chunked\r\n\r\n9\r\npart"],
)
def test_a_part_is_not_taken_for_the_whole(answer):
    with pytest.raises(ConnectionError):
        run(told(answer=f"HTTP/1.1 200 OK\r\n{answer}".encode()))


@pytest.mark.parametrize(
    ("head", "status", "why"),
    [
        ("GET / HTTP/1.1", 400, "This is a proxy"),
        ("GET https://ok.test/ HTTP/1.1", 400, "Use CONNECT"),
        ("GET ftp://ok.test/ HTTP/1.1", 400, "Use CONNECT"),
        ("GET http://user@ok.test/ HTTP/1.1", 400, "names no host"),
        ("GET http://ok.test\\@evil.test/ HTTP/1.1", 400, "names no host"),
        ("GET http://1.2.3.4.5/ HTTP/1.1", 400, "names no host"),
        ("GET http://ok.test:0/ HTTP/1.1", 400, "names no host"),
        ("GET http://ok.test:99999/ HTTP/1.1", 400, "names no host"),
        ("CONNECT ok.test HTTP/1.1", 400, "names no host"),
        ("CONNECT http://ok.test:443/ HTTP/1.1", 400, "names no host"),
        ("CONNECT ok.test:443 HTTP/1.1\r\nContent-Length: 1", 400, "no body"),
        ("GET http://ok.test/ HTTP/2.0", 400, "first line"),
        ("GET  http://ok.test/ HTTP/1.1", 400, "first line"),
        ("GET http://ök.test/ HTTP/1.1", 400, "first line"),
        ("\x16\x03\x01", 400, "first line"),
        ("GET http://ok.test/ HTTP/1.1\r\nA : b", 400, "field"),
        ("GET http://ok.test/ HTTP/1.1\r\nA: b\r\n c", 400, "field"),
        ("GET http://ok.test/ HTTP/1.1\r\nA: b\nB: c", 400, "field"),
        ("GET http://ok.test/ HTTP/1.1\r\nA: b\0", 400, "field"),
        ("GET http://ok.test/ HTTP/1.1\r\nA:" + " " * 60_000 + "\x01", 400, "field"),
        ("GET http://ok.test/ HTTP/1.1" + "\r\nA: b" * 300, 431, "more than 200"),
        ("GET http://ok.test/ HTTP/1.1\r\nA: " + "x" * 70_000, 431, "65536 bytes"),
        ("POST http://ok.test/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
         400, "given twice"),
        ("POST http://ok.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
         400, "given twice"),
        ("POST http://ok.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1",
         400, "given twice"),
        ("POST http://ok.test/ HTTP/1.1\r\nContent-Length: 1, 1", 400, "not a number"),
        ("POST http://ok.test/ HTTP/1.1\r\nContent-Length: +1", 400, "not a number"),
        ("POST http://ok.test/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", 501, "only transfer"),
        ("POST http://ok.test/ HTTP/1.0\r\nTransfer-Encoding: chunked", 400, "no chunks"),
        ("GET http://ok.test/ HTTP/1.1\r\nUpgrade: WebSocket", 501, "CONNECT"),
    ],
)  # fmt: skip
def test_what_could_be_read_in_two_ways_is_refused_and_nobody_is_asked(head, status, why):
    async def work():
        world = World("ok.test", names=WORLD)
        async with proxy(world) as way:
            first, *rest = head.split("\r\n")
            answered = await say(way, "\r\n".join([first, *rest, RIGHT, "", ""]))
        return answered, world.asked

    answered, asked = run(work())
    assert answered.startswith(f"HTTP/1.1 {status} ")
    assert why in answered
    assert asked == []


@pytest.mark.parametrize(
    ("fields", "body", "bodies"),
    [
        (["Content-Length: 4"], "body", "Content-Length: 4||body"),
        (["Content-Length: 0"], "", "Content-Length: 0||"),
        (["Content-Length: 4"], "bodyGET http://ok.test/admin HTTP/1.1\r\n\r\n",
         "Content-Length: 4||body"),
        (["Transfer-Encoding: chunked"],
         "2;a=b\r\nbo\r\n02\r\ndy\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.1",
         "Transfer-Encoding: chunked||2|bo|2|dy|0||"),
    ],
)  # fmt: skip
def test_a_body_passes_exactly_and_what_follows_it_reaches_nobody(fields, body, bodies):
    heard = []

    async def work():
        async def listen(reader, writer):
            _, _, rest = (await reader.readuntil(b"\r\n\r\n")).partition(b"Content-Type: x\r\n")
            wanted = bodies.partition("||")[2].replace("|", "\r\n").encode()
            heard.append(rest + await reader.readexactly(len(wanted)))
            writer.write(HELLO)
            await writer.drain()
            heard.append(await reader.read())

        async with between(listen) as (port, way):
            head = get(port, "Content-Type: x", *fields, method="POST")
            return await say(way, head + body)

    assert run(work()).endswith("hello\n")
    assert heard == [
        bodies.replace("||", "|Connection: close||", 1).replace("|", "\r\n").encode(),
        b"",
    ]


@pytest.mark.parametrize(
    "body", ["zz\r\nx", "5\r\nabcdefgh\r\n0\r\n\r\n", "1" * 70_000, "-1\r\n", "1\nx"]
)
def test_chunks_that_are_not_understood_end_the_request(body):
    async def work():
        async def listen(reader, writer):
            await reader.read()

        async with between(listen) as (port, way):
            head = get(port, "Transfer-Encoding: chunked", method="POST")
            return await say(way, head + body, end=True)

    assert run(work()).startswith("HTTP/1.1 400 ")


def test_pipelined_requests_get_one_answer_and_a_closed_connection():
    async def work():
        heard: list[bytes] = []
        async with between(saying(HELLO, heard)) as (port, way):
            return len(heard), await say(way, get(port) * 3)

    _, answered = run(work())
    assert answered.count("HTTP/1.1 200") == 1
    assert "Connection: close" in answered


@pytest.mark.parametrize(
    "said", ["", "Proxy-Authorization: Basic c3RlZXI6d3Jvbmc=", f"{RIGHT}\r\n{RIGHT}", f"{RIGHT}x"]
)
def test_whoever_does_not_hold_the_token_gets_nowhere(said):
    async def work():
        world = World("ok.test", names=WORLD)
        async with proxy(world) as way:
            fields = [said] if said else []
            return await say(way, lines("CONNECT ok.test:443 HTTP/1.1", *fields)), world

    answered, world = run(work())
    assert answered.startswith("HTTP/1.1 407 ")
    assert "Proxy-Authenticate: Basic" in answered
    assert world.asked == world.looked_up == []
    refused = [(host, port) for host, port, _ in world.denied]
    assert refused == ([("ok.test", 443)] if said else [])  # who says nothing may yet say it


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "0x7f.1",
        "[::1]",
        "[fe80::1%25lo]",
        "169.254.169.254",
        "10.1.2.3",
        "localhost",
        "a.localhost",
        "[::ffff:10.0.0.1]",
    ],
)
def test_what_is_out_of_bounds_is_refused_before_anybody_is_asked(host):
    async def work():
        world = World("example.org")
        async with proxy(world) as way:
            return await say(way, lines(f"CONNECT {host}:443 HTTP/1.1", RIGHT)), world

    answered, world = run(work())
    assert answered.startswith("HTTP/1.1 403 ")
    assert "may not be reached" in answered
    assert world.asked == world.looked_up == []
    assert len(world.denied) == 1


@pytest.mark.parametrize(
    ("addresses", "status", "why"),
    [
        ("169.254.169.254", 403, "metadata"),
        ("127.0.0.1 ::1", 403, "a loopback address"),
        ("192.0.2.1", 403, "documentation"),
        ("64:ff9b::a00:1", 403, "a private address in another form"),
        ("", 502, "not found: no such name"),
    ],
)  # fmt: skip
def test_a_name_that_leads_inside_is_refused(addresses, status, why):
    async def work():
        world = World("ok.test", names={"ok.test": addresses} if addresses else {})
        async with proxy(world, local=lambda host, port: False) as way:
            return await say(way, lines("CONNECT ok.test:443 HTTP/1.1", RIGHT)), world

    answered, world = run(work())
    assert answered.startswith(f"HTTP/1.1 {status} ")
    assert why in answered
    assert world.looked_up == ["ok.test"]
    assert len(world.denied) == (status == 403)


def test_a_name_that_is_not_allowed_is_never_looked_up():
    async def work():
        world = World("ok.test", names=WORLD)
        async with proxy(world) as way:
            answered = await say(way, lines("CONNECT data.evil.test:443 HTTP/1.1", RIGHT))
        return answered, world

    answered, world = run(work())
    assert answered.startswith("HTTP/1.1 403 Forbidden (data.evil.test:443 is not allowed")
    assert "It is on no list." in answered
    assert "tell the user which host is needed" in answered
    assert world.looked_up == []
    assert world.denied == [("data.evil.test", 443, "It is on no list.")]


def test_a_server_that_refuses_is_a_502():
    async def work():
        with socket.create_server((HERE, 0)) as taken:
            port = taken.getsockname()[1]
        async with proxy(World(f"ok.test:{port}", names=WORLD)) as way:
            return await say(way, lines(f"CONNECT ok.test:{port} HTTP/1.1", RIGHT))

    answered = run(work())
    assert answered.startswith("HTTP/1.1 502 ")
    assert "cannot be reached: 127.0.0.1" in answered


def test_one_question_for_many_connections_and_another_when_it_is_answered():
    async def work():
        world = World()
        answer = asyncio.Event()

        async def ask(host: str, port: int) -> str:
            world.asked.append((host, port))
            await answer.wait()
            return "No."

        async with proxy(world, ask=ask) as way:
            head = lines("CONNECT a.test:443 HTTP/1.1", RIGHT)
            clients = [asyncio.create_task(say(way, head)) for _ in range(20)]
            await world.gathered(20)
            answer.set()
            answers = await asyncio.gather(*clients)
            assert len(world.asked) == 1
            answers.append(await say(way, head))
        return {text[:12] for text in answers}, world

    answered, world = run(work())
    assert answered == {"HTTP/1.1 403"}
    assert world.asked == [("a.test", 443)] * 2
    assert len(world.denied) == 21


@pytest.mark.parametrize("gone", [False, True])
def test_who_has_said_its_last_is_served_and_who_has_gone_is_not(gone):
    """Many requests end the client's side of a connection: it waits for its answer all the same."""

    async def work():
        heard: list[bytes] = []
        asked, answer = asyncio.Event(), asyncio.Event()

        async def ask(host: str, port: int) -> str:
            asked.set()
            await answer.wait()
            return ""

        async with server(saying(HELLO, heard)) as port:
            world = World(f"ok.test:{port}", names=WORLD)
            listener = socket.create_server((HERE, 0))
            way = Proxy(TOKEN, ask, lambda *_: None, local=world.local, resolve=world.resolve)
            await way.serve(listener)
            before = asyncio.all_tasks()
            reader, writer = await asyncio.open_connection(HERE, listener.getsockname()[1])
            writer.write(get(port).encode())
            writer.write_eof()
            await asked.wait()
            if gone:
                writer.close()
                await writer.wait_closed()
            answer.set()
            answered = b"" if gone else await reader.read()
            while asyncio.all_tasks() - before:
                await asyncio.sleep(0)
            missed, reached = await way.missed(), way.reached
            writer.close()
            if gone:
                assert missed == [f"ok.test:{port}"]
                await say(listener.getsockname()[1], get(port))
                assert await way.missed() == []  # it has come back, and was served
            await way.close()
        return answered.decode(), len(heard), missed, reached

    answered, heard, missed, reached = run(work())
    assert (heard, bool(missed), reached) == (1, gone, not gone)
    assert gone or answered.endswith(HELLO.partition(b"\r\n\r\n")[2].decode())


def test_a_tunnel_passes_bytes_both_ways_and_either_side_may_say_its_last():
    async def work():
        async def echo_after_the_end(reader, writer):
            writer.write(b"first ")
            writer.write((await reader.read()).upper())
            await writer.drain()

        async with between(echo_after_the_end) as (port, way):
            early = lines(f"CONNECT ok.test:{port} HTTP/1.1", RIGHT) + "x" * 300_000
            return await say(way, early, end=True)

    answered = run(work())
    head, _, body = answered.partition("\r\n\r\n")
    assert head == "HTTP/1.1 200 Connection established"
    assert body == "first " + "X" * 300_000


def test_a_client_that_went_away_ends_its_tunnel():
    async def work():
        gone = asyncio.Event()

        async def listen(reader, writer):
            writer.write(b"on")
            with suppress(ConnectionError):
                await reader.read()
            gone.set()

        async with between(listen) as (port, way):
            reader, writer = await asyncio.open_connection(HERE, way)
            writer.write(lines(f"CONNECT ok.test:{port} HTTP/1.1", RIGHT).encode())
            await reader.readuntil(b"\r\n\r\non")
            writer.transport.abort()
            await gone.wait()

    run(work())


def test_a_slow_request_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(module, "SLOW", 0.01)

    async def work():
        async with proxy(World()) as way:
            return await say(way, "GET http://ok.test/ HT")

    assert run(work()).startswith("HTTP/1.1 408 ")


def test_connections_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)

    async def work():
        async with proxy(World()) as way:
            waiting = [await asyncio.open_connection(HERE, way) for _ in range(2)]
            answered = await say(way, "")
            for reader, writer in waiting:
                writer.write(b"\r\n\r\n")
                assert (await reader.read()).startswith(b"HTTP/1.1 400")
                writer.close()
            return answered

    assert run(work()).startswith("HTTP/1.1 503 ")


@pytest.mark.parametrize(
    "when", ["a question waits", "a tunnel is open", "a head is half said", "a name is looked up"]
)
def test_closing_ends_everything_and_leaves_nothing(when):
    async def work():
        reached = asyncio.Event()
        ended = []

        async def forever(*_: object) -> Any:
            reached.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append(when)
                raise

        async def listen(reader, writer):
            reached.set()
            await reader.read()

        options = {
            "a question waits": {"ask": forever},
            "a name is looked up": {"resolve": forever},
        }
        async with server(listen) as port:
            before = set(os.listdir("/proc/self/fd")), asyncio.all_tasks()
            async with proxy(World(f"ok.test:{port}", names=WORLD), **options.get(when, {})) as way:
                reader, writer = await asyncio.open_connection(HERE, way)
                whole = lines(f"CONNECT ok.test:{port} HTTP/1.1", RIGHT)
                writer.write(whole[: 9 if "half" in when else None].encode())
                if "half" not in when:
                    await reached.wait()
            answered = b""
            with suppress(ConnectionError):
                answered = await reader.read()
            writer.close()
            for _ in range(20):
                await asyncio.sleep(0)
            return answered, ended, before, (set(os.listdir("/proc/self/fd")), asyncio.all_tasks())

    answered, ended, before, after = run(work())
    assert b"HTTP/1.1 4" not in answered
    assert ended == ([when] if when in ("a question waits", "a name is looked up") else [])
    assert len(after[0]) <= len(before[0])
    assert after[1] <= before[1]


def test_a_name_that_is_never_found_is_a_504(monkeypatch):
    monkeypatch.setattr(dialling, "LOOKUP", 0.01)

    async def work():
        async def resolve(host: str, port: int) -> list[str]:
            await asyncio.Event().wait()
            return []

        async with proxy(World("ok.test"), resolve=resolve) as way:
            return await say(way, lines("CONNECT ok.test:443 HTTP/1.1", RIGHT))

    answered = run(work())
    assert answered.startswith("HTTP/1.1 504 Gateway Timeout (ok.test:443)")
    assert "was not found within" in answered


@pytest.mark.parametrize(("address", "own"), [("127.0.0.1", True), ("192.0.2.1", False)])
def test_this_machine_is_known_under_any_of_its_addresses(address, own):
    assert dialling.is_own(address, 80) is own
