"""A world for every test of this folder."""

from pathlib import Path

import pytest

from tests.operations.mcp.gateway.kit import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A workspace with servers that can be started in it."""
    folder = tmp_path / "project"
    folder.mkdir()
    return World(folder)
