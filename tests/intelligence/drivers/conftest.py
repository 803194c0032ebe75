"""Each driver in turn, pointed at a real model server on a free loopback port."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.intelligence.drivers.talking import WIRES, Talk
from tests.intelligence.model_server.conftest import Stage


@pytest.fixture(scope="session")
def one_stage() -> Iterator[Stage]:
    """The server all tests of a run share."""
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture
def stage(one_stage: Stage) -> Stage:
    """The server, for one test."""
    return one_stage


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """Each format."""
    return str(request.param)


@pytest.fixture
def talk(stage: Stage, wire: str) -> Talk:
    """A conversation in that format."""
    return Talk(stage.url, wire)


@pytest.fixture
def impatient(stage: Stage, wire: str) -> Callable[..., Talk]:
    """The same with timeouts of one's own."""

    def make(**timeouts: Any) -> Talk:
        return Talk(stage.url, wire, {"timeouts": timeouts})

    return make
