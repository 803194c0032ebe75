"""`workspace_status`: where an agent is, and how it works."""

import json
from pathlib import Path

from tests.operations.workshop import Workshop


def test_status_tells_mode_engine_branch_and_the_state_of_servers(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/topic\n")
    servers = {"notes": {"command": "notes"}, "old": {"command": "old", "disabled": True}}
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    shop = Workshop(folder, mode="plan", environ={"STEERSMAN_MCP_CONFIG_FILES": str(config)})

    result = shop.one("workspace_status")

    assert result.output == {
        "workspace": str(folder),
        "entries": [".git/"],
        "branch": "topic",
        "mode": "plan",
        "engine": "native",
        "mcp": {"notes": "idle", "old": "disabled"},
    }


def test_without_servers_there_is_nothing_to_tell_of_them(tmp_path: Path) -> None:
    result = Workshop(tmp_path).one("workspace_status")

    assert result.output == {
        "workspace": str(tmp_path), "entries": [], "mode": "code", "engine": "native",
    }  # fmt: skip
