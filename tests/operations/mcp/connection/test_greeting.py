"""How a connection finds out what a server speaks: once, and without a long wait."""

import json
from pathlib import Path

import pytest

from steersman.operations.mcp.session import PROBE
from tests.operations.mcp.connection.kit import World, rough


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def methods(heard: Path) -> list[str]:
    """What the server was asked, its calls left out."""
    said = [json.loads(line).get("method") for line in heard.read_text().splitlines()]
    heard.unlink()
    return [method for method in said if method != "tools/call"]


MODERN, LEGACY, INITIALIZED = "server/discover", "initialize", "notifications/initialized"


@pytest.mark.parametrize(
    ("manners", "remembered", "first", "second"),
    [
        # An old server says that it does not know the newer question; next time it is not asked.
        ([], None, [MODERN, LEGACY, INITIALIZED], [LEGACY, INITIALIZED]),
        # One that says nothing costs a moment, once.
        (["deaf"], None, [MODERN, LEGACY, INITIALIZED], [LEGACY, INITIALIZED]),
        # A new one is asked in its own way.
        (["modern"], None, [MODERN], [MODERN]),
        # What is remembered wrongly is put right.
        (["modern"], "legacy", [LEGACY, MODERN], [MODERN]),
        ([], "modern", [MODERN, LEGACY, INITIALIZED], [LEGACY, INITIALIZED]),
        # One that ends at a word it does not know is started again and spoken to in the old way.
        (["nervous"], None, [LEGACY, INITIALIZED], [LEGACY, INITIALIZED]),
        # One that speaks both is asked in the newer way.
        (["modern", "legacy"], None, [MODERN], [MODERN]),
    ],
)
def test_a_server_is_asked_as_it_was_last_time(world, tmp_path, manners, remembered, first, second):
    heard = tmp_path / "heard"
    server = rough(*manners, environ={"HEARD": str(heard)})
    if remembered:
        world.eras.remember(server, remembered)

    async def use(world: World) -> None:
        for expected in (first, second):
            connection = world.connection(server)
            assert (await connection.call("echo", {"text": "a"})).text == "a"
            await connection.stop()
            assert methods(heard) == expected

    world.run(use)


def test_the_wait_for_a_server_that_says_nothing_is_short():
    assert PROBE < 3
