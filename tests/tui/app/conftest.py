"""A gate holds commands until a test lets them go on."""

from collections.abc import Iterator

import pytest

from tests.cli.kit import Gate


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A command that waits until the test lets it go on."""
    gate = Gate()
    yield gate
    gate.release()
