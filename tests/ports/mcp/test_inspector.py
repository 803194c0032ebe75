"""The MCP Inspector's command line lists and calls our tools."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import provision
from tests.ports.mcp.conftest import TOKEN, Serving

pytestmark = pytest.mark.real

CALL = ("--tool-name", "workspace_read_file", "--tool-arg", "path=README.md")


def inspect(*arguments: str, home: Path) -> Any:
    """What the Inspector prints, as JSON."""
    done = subprocess.run(
        [*provision.inspector(), *arguments],
        cwd=home,
        env={"PATH": str(Path(provision.node()).parent), "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_over_stdio(serving: Serving, tmp_path: Path) -> None:
    command, *arguments = serving.argv()
    entry = {"command": command, "args": arguments, "env": serving.steer.environ}
    config = tmp_path / "inspected.json"
    config.write_text(json.dumps({"mcpServers": {"steer": entry}}))
    where = ("--config", str(config), "--server", "steer")
    listed = inspect(*where, "--method", "tools/list", "--strict", home=tmp_path)
    assert "workspace_read_file" in [tool["name"] for tool in listed["tools"]]
    called = inspect(*where, "--method", "tools/call", *CALL, home=tmp_path)
    assert called["structuredContent"]["content"] == "1\t# Calc"


def test_over_http(serving: Serving, tmp_path: Path) -> None:
    with serving.http() as served:
        where = (served.url, "--header", f"Authorization: Bearer {TOKEN}")
        for era in ("legacy", "modern"):
            how = (*where, "--protocol-era", era)
            listed = inspect(*how, "--method", "tools/list", home=tmp_path)
            assert "workspace_read_file" in [tool["name"] for tool in listed["tools"]]
            called = inspect(*how, "--method", "tools/call", *CALL, home=tmp_path)
            assert called["structuredContent"]["content"] == "1\t# Calc"
