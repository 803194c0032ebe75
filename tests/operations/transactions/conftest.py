"""A yard for each test."""

from pathlib import Path

import pytest

from tests.operations.transactions.tree import Yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    """A workspace with a journal."""
    return Yard(tmp_path)
