"""A model server that the tests of threads share, each format in turn, and commands."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.host.beside import Played, player
from tests.host.wires import WIRES, RecordingStage, reaching


@pytest.fixture(scope="session")
def one_stage() -> Iterator[RecordingStage]:
    """The server all tests of a run share."""
    stage = RecordingStage()
    yield stage
    stage.close()


@pytest.fixture
def stage(one_stage: RecordingStage) -> RecordingStage:
    """The server, for one test."""
    return one_stage


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """Each format."""
    return str(request.param)


@pytest.fixture
def online(environ: dict[str, str], stage: RecordingStage) -> dict[str, str]:
    """An environment in which every provider is the server."""
    return reaching(environ, stage.url)


@pytest.fixture
def beside(
    environ: dict[str, str], workspace: Path, script: Callable[..., str]
) -> Callable[..., Played]:
    """Start a command in the background, do something beside it, let it end, see its output."""
    return player(environ, workspace, script)
