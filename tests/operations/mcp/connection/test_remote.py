"""Servers at an address: by streamable HTTP and by SSE, with headers that nobody sees."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Outcome, ServerProblem, Wishes
from tests.operations.mcp.connection.kit import SERVERS, World, read
from tests.operations.mcp.servers.web import serving

TOKEN = "token-in-header-1"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def at(url: str, transport: Any = "http", **more: Any) -> Server:
    """An entry with a secret in its header and one in its address."""
    return Server(
        name="web",
        transport=transport,
        url=f"{url}?key=query-secret-7",
        headers={"Authorization": f"Bearer {TOKEN}"},
        **{"timeout": 30.0, **more},
    )


@contextmanager
def polite(how: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The server by the official library, at an address."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    argv = [sys.executable, str(SERVERS / "polite.py"), how, str(port)]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            with socket.socket() as line:
                line.settimeout(0.1)
                if line.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/{'sse' if how == 'sse' else 'mcp'}", process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module", params=["http", "sse"])
def address(request) -> Iterator[tuple[str, str]]:
    with polite(request.param) as (url, _):
        yield request.param, url


async def choose(server: str, message: str, schema: Any) -> tuple[str, dict[str, Any]]:
    return "accept", {"branch": "main"}


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_server_of_the_library_does_all_it_can_in_both_eras(world, address, era):
    how, url = address
    server = Server(name="polite", transport=how, url=url, timeout=60.0)
    world.eras.remember(server, era)

    async def use(world: World) -> None:
        connection = world.connection(server, Wishes(elicit=choose))
        tools = {tool.name: tool for tool in await connection.tools()}
        assert connection.version == "polite 3.1"
        assert connection.protocol == ("2026-07-28" if era == "modern" else "2025-11-25")
        assert connection.instructions == "Say please."
        assert not any(tool.repaired for tool in tools.values())
        assert tools["add"].parameters["required"] == ["a", "b"]
        added = await connection.call("add", {"a": 1, "b": 2})
        assert added.structured == {"total": 3}
        picture = await connection.call("picture", {})
        assert read(picture) == Outcome("", attachments=("image/png, 12 kB",))
        told: list[str] = []
        assert (await connection.call("slow", {}, progress=told.append)).text == "done"
        assert told == ["1 of 3: step", "2 of 3: step", "3 of 3: step"]
        assert (await connection.call("choose", {})).text == "on main"
        with pytest.raises(ServerProblem, match="did not answer"):
            await connection.call("wait", {}, timeout=0.3)
        assert (await connection.call("echo", {"text": "usable"})).text == "usable"
        assert (await connection.call("large", {"size": 300_000})).cut == 200_000
        await connection.stop()
        assert not connection.alive

    world.run(use)


@pytest.mark.parametrize("how", ["http", "sse"])
def test_a_server_elsewhere_that_ends_in_a_call_is_noticed_at_once(world, how):
    async def use(world: World) -> None:
        with polite(how) as (url, _):
            server = Server(name="polite", transport=how, url=url, timeout=60.0)
            connection = world.connection(server)
            with pytest.raises(ServerProblem, match="was lost while it worked on “die”"):
                await connection.call("die", {})
            with pytest.raises(ServerProblem) as caught:
                await connection.call("echo", {"text": "a"})
            assert "cannot be reached" in str(caught.value)

    world.run(use)


def test_headers_go_with_every_request_and_the_environment_does_not(world):
    async def use(world: World) -> None:
        with serving() as (url, seen):
            connection = world.connection(at(f"{url}/plain"))
            assert [tool.name for tool in await connection.tools()] == ["echo"]
            assert (await connection.call("echo", {"text": "a"})).text == "a"
            assert {one["headers"]["Authorization"] for one in seen} == {f"Bearer {TOKEN}"}
            assert {one["path"] for one in seen} == {"/plain?key=query-secret-7"}

    world.run(use)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("401", "needs authentication"),
        ("403", "account"),
        ("404", "nothing at this address"),
        ("500", "500"),
    ],
)
def test_a_server_that_does_not_let_us_in_says_so(world, path, why):
    async def use(world: World) -> str:
        with serving() as (url, _):
            with pytest.raises(ServerProblem, match="could not be started") as caught:
                await world.connection(at(f"{url}/{path}")).start()
            return str(caught.value)

    said = world.run(use)
    assert why in said
    assert ("headers of its entry" in said) == (path in ("401", "403"))
    assert TOKEN not in said
    assert "query-secret" not in said


@pytest.mark.parametrize(
    ("manner", "why"),
    [
        ("garbage", "Failed to parse JSON response"),
        ("page", "Unexpected content type"),
        ("huge", "larger than 16 MB"),
        ("broken", "status 500"),
    ],
)
def test_an_answer_that_is_none_is_a_clear_sentence(world, manner, why):
    async def use(world: World) -> str:
        with serving() as (url, _):
            with pytest.raises(ServerProblem) as caught:
                await world.connection(at(f"{url}/{manner}")).call("echo", {})
            return str(caught.value)

    said = world.run(use)
    assert why in said
    assert TOKEN not in said


def test_a_server_that_forgot_the_session_is_greeted_again(world):
    async def use(world: World) -> None:
        with serving() as (url, seen):
            connection = world.connection(at(f"{url}/forgetful"))
            assert (await connection.call("echo", {"text": "a"})).text == "a"
            assert [one["method"] for one in seen].count("initialize") == 2

    world.run(use)


def test_a_server_that_hangs_can_be_stopped(world):
    async def use(world: World) -> None:
        with serving() as (url, _):
            connection = world.connection(at(f"{url}/hangs"))
            await connection.start()
            hanging = asyncio.create_task(connection.call("echo", {}))
            while not connection.busy:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            await connection.stop()
            with pytest.raises(ServerProblem, match="It was stopped"):
                await hanging

    world.run(use)


def test_an_address_where_nobody_is_says_so(world):
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{place.getsockname()[1]}"

    async def use(world: World) -> None:
        for transport in ("http", "sse"):
            with pytest.raises(ServerProblem, match="could not be started") as caught:
                await world.connection(at(f"{url}/mcp", transport)).start()
            assert "cannot be reached" in caught.value.why
            assert f"{url}/mcp" in caught.value.try_this
            assert "query-secret" not in str(caught.value)

    world.run(use)
