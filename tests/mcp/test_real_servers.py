"""The reference servers of the protocol at work in threads, as people set them up."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import provision
from tests.cli.kit import DONE, StrictSteer
from tests.mcp.kit import results, verdicts
from tests.world import call

pytestmark = pytest.mark.real


@pytest.fixture
def steer(environ: dict[str, str], workspace: Path) -> StrictSteer:
    """The command line in the workspace, with both servers set up."""
    entries = {
        name: {"command": argv[0], "args": argv[1:]}
        for name, argv in {
            "everything": provision.everything(),
            "files": provision.filesystem(workspace),
        }.items()
    }
    file = workspace.parent / "mcp.json"
    file.write_text(json.dumps({"mcpServers": entries}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
    return StrictSteer(environ, workspace)


def run(steer: StrictSteer, tmp_path: Path, *calls: dict[str, Any], yes: bool = False):
    script = tmp_path / "script.json"
    turns = [{"tool_calls": [one]} for one in calls]
    script.write_text(json.dumps({"turns": [*turns, DONE]}))
    return steer.messages(
        "run", "x", "--model", f"scripted:{script}", *(["--yes"] if yes else [])
    )  # fmt: skip


def test_the_server_with_one_of_everything(steer, tmp_path, workspace):
    messages = run(
        steer, tmp_path,
        call("mcp_list_tools", server="everything"),
        call("mcp_list_tools", select=["everything__echo", "everything__get-sum"]),
        call("everything__echo", message="hello"),
        call("everything__get-sum", a=2, b=3),
        call("everything__get-tiny-image"),
        call("everything__get-annotated-message", messageType="error", includeImage=True),
        call("mcp_call_tool", server="everything", tool="get-structured-content",
             arguments={"location": "New York"}),
        call("mcp_call_tool", server="everything", tool="get-roots-list"),
        yes=True,
    )  # fmt: skip
    listed, chosen, echo, total, image, annotated, structured, roots = results(messages)
    assert "everything__echo" in listed["output"]["tools"]
    assert "message" in str(chosen["output"])
    assert "hello" in echo["output"]["content"]
    assert "5" in total["output"]["content"]
    assert "image/png" in str(image["output"]["attachments"])
    assert annotated["status"] == "ok"
    assert structured["output"]["content"]["temperature"]
    assert workspace.as_uri() in str(roots["output"])
    assert ("roots/list", "reads", "allow") in verdicts(messages)


def test_the_filesystem_server_reads_freely_and_writes_with_leave(steer, tmp_path, workspace):
    (workspace / "a.txt").write_text("alpha\n")
    (workspace / ".env").write_text("KEY=very-secret-value\n")
    reading = call("files__read_text_file", path=str(workspace / "a.txt"))
    secret = call("files__read_text_file", path=str(workspace / ".env"))
    writing = call("files__write_file", path=str(workspace / "b.txt"), content="beta\n")
    read, hidden, written = results(run(steer, tmp_path, reading, secret, writing))
    assert "alpha" in str(read["output"])
    assert hidden["status"] == "denied"
    assert "contains secrets" in hidden["message"]
    assert written["status"] == "denied"
    assert not (workspace / "b.txt").exists()
    assert results(run(steer, tmp_path, writing, yes=True))[0]["status"] == "ok"
    assert (workspace / "b.txt").read_text() == "beta\n"


def test_steer_mcp_test_tells_what_each_tool_may_do(steer):
    done = steer("mcp", "test", "files")
    assert done.returncode == 0, done.stderr
    assert "read_text_file" in done.stdout
    assert "write_file" in done.stdout
