"""One server for the tests of a module; those that kill it make their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.kit import Served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server in a folder of its own."""
    folder: Path = tmp_path_factory.mktemp("http")
    made = Served(folder / "home", folder / "work")
    yield made
    errors = made.stop()
    assert "Traceback" not in errors, errors
