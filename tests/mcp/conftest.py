"""A workspace with a secret in it, and servers that mean no good."""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.kit import StrictSteer
from tests.mcp.kit import entry

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
        made = {"command": sys.executable, "args": [str(HOSTILE), str(path)], **more}
        file = Path(environ.get("STEERSMAN_MCP_CONFIG_FILES", tmp_path / "mcp.json"))
        known = json.loads(file.read_text())["mcpServers"] if file.exists() else {}
        file.write_text(json.dumps({"mcpServers": {**known, name: made}}))
        environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
        return made

    return configure


@pytest.fixture
def notes() -> Iterator[Path]:
    """Where the server keeps its notes: not beside the workspace, where it may not write."""
    with tempfile.TemporaryDirectory(prefix="notes-") as folder:
        yield Path(folder)


@pytest.fixture
def configured(environ: dict[str, str], notes: Path, tmp_path: Path) -> None:
    """The person has set the server up."""
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"notes": entry(notes)}}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
