"""A model server that the tests of threads share, and each format in turn."""

from collections.abc import Iterator

import pytest

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
