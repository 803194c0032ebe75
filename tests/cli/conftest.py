"""The `steer` of these tests is strict, and a gate holds commands until a test lets them go on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.kit import Gate, StrictSteer


@pytest.fixture
def steer(environ: dict[str, str], workspace: Path) -> StrictSteer:
    """The command line, in the workspace; a traceback on any output fails the test."""
    return StrictSteer(environ, workspace)


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A command that waits until the test lets it go on."""
    gate = Gate()
    yield gate
    gate.release()


@pytest.fixture
def home(environ: dict[str, str]) -> Path:
    """The data folder."""
    return Path(environ["STEERSMAN_HOME"])
