"""Every test of a tool is done by ripgrep and without it."""

from pathlib import Path

import pytest

from steersman.operations.finding import program
from tests.operations.finding.kit import ENGINES, Finder, environ_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty workspace."""
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture(params=ENGINES)
def finder(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Finder:
    """The tools, with one of the engines."""
    if request.param == "python":
        monkeypatch.setattr(program, "_of_the_wheel", list)
    return Finder(folder, environ_of(request.param))
