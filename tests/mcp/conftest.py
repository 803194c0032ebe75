"""A workspace with a secret in it, and servers that mean no good."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.kit import StrictSteer

HOSTILE = Path(__file__).with_name("hostile.py")
SECRET = "swordfish-8812"
READS = {"annotations": {"readOnlyHint": True, "openWorldHint": False}}

Configure = Callable[..., dict[str, Any]]


@pytest.fixture
def steer(environ: dict[str, str], workspace: Path) -> StrictSteer:
    """The command line in a workspace with a secret."""
    (workspace / ".env").write_text(f"PASSWORD={SECRET}\n")
    return StrictSteer(environ, workspace)


@pytest.fixture
def server(environ: dict[str, str], tmp_path: Path) -> Configure:
    """A server the person has set up, by its plot."""

    def configure(name: str, plot: dict[str, Any], **more: Any) -> dict[str, Any]:
        path = tmp_path / f"{name}.plot.json"
        path.write_text(json.dumps(plot))
        entry = {"command": sys.executable, "args": [str(HOSTILE), str(path)], **more}
        file = Path(environ.get("STEERSMAN_MCP_CONFIG_FILES", tmp_path / "mcp.json"))
        known = json.loads(file.read_text())["mcpServers"] if file.exists() else {}
        file.write_text(json.dumps({"mcpServers": {**known, name: entry}}))
        environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
        return entry

    return configure
