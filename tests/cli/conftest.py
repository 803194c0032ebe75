"""The `steer` of these tests is strict: no traceback is ever shown."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.kit import StrictSteer


@pytest.fixture
def steer(environ: dict[str, str], workspace: Path) -> StrictSteer:
    """The command line, in the workspace; a traceback on any output fails the test."""
    return StrictSteer(environ, workspace)


@pytest.fixture
def home(environ: dict[str, str]) -> Path:
    """The data folder."""
    return Path(environ["STEERSMAN_HOME"])


@pytest.fixture
def git(workspace: Path) -> Callable[..., str]:
    """Git in the workspace, as somebody."""

    def run(*words: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        return subprocess.run(
            ["git", *who, *words], cwd=workspace, capture_output=True, text=True, check=True
        ).stdout

    return run
